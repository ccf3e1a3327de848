"""Pictures as data: marks on panels, panels in a frame. What is drawn is decided here and in
``charts``; how it becomes SVG or PNG is in ``svg`` and ``raster``.

Coordinates are in pixels from the top left. Colours are roles: ``ink`` follows the theme's text,
the others are from Okabe and Ito's palette, told apart by colour-blind eyes on white and on black.
"""

from typing import NamedTuple

import numpy as np

COLOURS = {"blue": "#0072B2", "orange": "#D55E00", "green": "#009E73", "pink": "#CC79A7", "sky": "#56B4E9"}
TEXT_SIZE = 11
DASHES = (4, 3)  # pixels of a dashed line that are drawn, and that are left out
TABLE_SIZE = 255  # shades; index 255 of a tile's colour table is transparent


class Text(NamedTuple):
    x: float
    y: float
    text: str
    size: int = TEXT_SIZE
    anchor: str = "start"
    upwards: bool = False  # turned to the left, to be read from the bottom up


class Labels(NamedTuple):
    """Texts of one axis, ``step`` pixels from one to the next, that end where the axis begins.

    The first stands at (x, y) like a Text anchored at its end, the others below it, or to the right of it if upwards.
    """

    x: float
    y: float
    step: float
    texts: tuple
    upwards: bool = False

    def apart(self):
        """The same as a Text for each."""
        for i, text in enumerate(self.texts):
            right, down = (i * self.step, 0) if self.upwards else (0, i * self.step)
            yield Text(self.x + right, self.y + down, text, anchor="end", upwards=self.upwards)


class Line(NamedTuple):
    points: tuple  # ((x, y), ...)
    colour: str = "ink"
    width: float = 1.5
    faint: bool = False
    dashed: bool = False


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    fill: str = None
    stroke: str = None
    faint: bool = False


class Disc(NamedTuple):
    x: float
    y: float
    radius: float
    colour: str = "ink"


class Tile(NamedTuple):
    """A matrix of cells drawn as one picture; cells (rows, columns) of uint8 index the colour table."""

    x: float
    y: float
    width: float
    height: float
    cells: np.ndarray


class Panel(NamedTuple):
    width: int
    height: int
    marks: tuple
    alt: str
    alone: bool = False  # on a line of its own


class Frame(NamedTuple):
    """All that an explorer shows at one moment.

    ``ledger`` holds (name, value) rows, ``summary`` one or two sentences, and ``problem`` the
    sentence that says what is wrong, or None.
    """

    panels: tuple = ()
    ledger: tuple = ()
    summary: str = ""
    problem: str = None


def shades(values, low=0.0, high=1.0):
    """Values of any shape as uint8 indices into the colour table; what is not finite becomes transparent."""
    values = np.asarray(values, dtype=np.float64)
    span = (high - low) or 1.0
    with np.errstate(invalid="ignore"):
        scaled = np.clip((values - low) / span, 0, 1) * (TABLE_SIZE - 1)
    return np.where(np.isfinite(values), scaled, TABLE_SIZE).astype(np.uint8)
