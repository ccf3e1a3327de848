"""A matplotlib figure that shows itself with alternative text, without pyplot and without state."""

import base64
import html
import io

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


class Picture(Figure):
    """A Figure with ``alt``, a description built from what it shows; a notebook shows both."""

    def __init__(self, *arguments, alt="", **keywords):
        super().__init__(*arguments, layout="constrained", **keywords)
        FigureCanvasAgg(self)
        self.alt = alt

    def png(self, dpi=110):
        """The picture as the bytes of a PNG file."""
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=dpi)
        return stream.getvalue()

    def _repr_mimebundle_(self, include=None, exclude=None):
        alt = html.escape(self.alt, quote=True)
        source = base64.b64encode(self.png()).decode()
        image = f'<img src="data:image/png;base64,{source}" alt="{alt}" style="max-width: 100%">'
        return {"text/html": f"<figure>{image}<figcaption>{alt}</figcaption></figure>", "text/plain": self.alt}
