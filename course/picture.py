"""A matplotlib figure that shows itself with alternative text, without pyplot and without state."""

import base64
import html
import io

from IPython import get_ipython
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from course.execution import is_grading

DRAWN_BY_PYPLOT = ("image/png", "image/svg+xml", "image/jpeg", "application/pdf")


class Picture(Figure):
    """A Figure with ``alt``, a description built from what it shows; a notebook shows both.

    While grading, the description stands alone: everybody has seen the picture in the lesson, and drawing it costs
    more than most answers take.
    """

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
        show_once()
        alt = html.escape(self.alt, quote=True)
        if is_grading():
            return {
                "text/html": f"<p><em>A picture of the lesson, not drawn while grading:</em> {alt}</p>",
                "text/plain": self.alt,
            }
        source = base64.b64encode(self.png()).decode()
        image = f'<img src="data:image/png;base64,{source}" alt="{alt}" style="max-width: 100%">'
        return {"text/html": f"<figure>{image}<figcaption>{alt}</figcaption></figure>", "text/plain": self.alt}


def show_once():
    """Keep pyplot's inline backend, which draws every Figure that a cell shows, from drawing a Picture again."""
    shell = get_ipython()
    for kind in DRAWN_BY_PYPLOT if shell else ():
        shell.display_formatter.formatters[kind].for_type(Picture, lambda picture: None)
