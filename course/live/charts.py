"""Charts from arrays: a labelled matrix, its colour scale, lines, bars. Pure functions that return panels."""

import math

import numpy as np

from course.live.picture import Box, Labels, Line, Panel, Text, Tile, shades

LABEL_STEP = 12  # pixels that one line of labels needs
AIRY_STEP = 18  # pixels from label to label where some are left out anyway
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
CHARACTER = 6.8  # pixels, about, that one character of size 11 takes


def matrix(values, title, alt, *, rows=(), columns=(), low=0.0, high=1.0, side=168, row_name="", column_name=""):
    """A panel of values (R, C) as coloured cells, with labels on both axes as far as they fit.

    ``side`` is a number of pixels, or (width, height) of the cells.
    """
    width, height = (side, side) if np.isscalar(side) else side
    left = 22 + label_room(rows)
    bottom = 22 + label_room(columns)
    top = 22
    marks = [Text(left, 14, title, 12), Tile(left, top, width, height, shades(values, low, high))]
    marks.append(Box(left, top, width, height, None, "ink", faint=True))
    marks += axis_labels(tuple(rows), tuple(columns), left, top, width, height)
    if row_name:
        marks.append(Text(11, top + height / 2, row_name, 11, "middle", upwards=True))
    if column_name:
        marks.append(Text(left + width / 2, top + height + bottom - 5, column_name, 11, "middle"))
    full_width = left + max(width, round(CHARACTER * len(title))) + 10
    return Panel(full_width, top + height + bottom, tuple(marks), alt)


def axis_labels(rows, columns, left, top, width, height):
    """Labels of rows to the left of cells that begin at (left, top), of columns below them, read upwards."""
    marks = []
    if rows:
        shown, step = labelled(len(rows), height), height / len(rows)
        marks.append(Labels(left - 4, top + step / 2 + 4, step * shown.step, rows[:: shown.step]))
    if columns:
        shown, step = labelled(len(columns), width), width / len(columns)
        marks.append(
            Labels(left + step / 2 + 4, top + height + 5, step * shown.step, columns[:: shown.step], upwards=True)
        )
    return marks


def label_room(labels):
    """Pixels that the longest of the labels takes."""
    return round(CHARACTER * max(map(len, labels), default=0))


def labelled(count, pixels):
    """Which of count equally spaced entries get a label: all where they fit, otherwise some, with air between them."""
    if LABEL_STEP * count <= pixels:
        return range(count)
    return range(0, count, math.ceil(AIRY_STEP * count / pixels))


def with_colour_scale(panel, low, high, title, x=10):
    """The panel with a strip below it that says which colour means which value; also in its alternative text."""
    top, width = panel.height + 22, 168
    scale = (
        Text(x, top - 8, title, 12),
        Tile(x, top, width, 12, shades(np.linspace(0, 1, 64)[None])),
        Text(x, top + 26, f"{low:.3g}"),
        Text(x + width, top + 26, f"{high:.3g}", anchor="end"),
    )
    alt = f"{panel.alt}; colours run from {low:.3g}, dark, to {high:.3g}, bright"
    return Panel(max(panel.width, x + width + 10), top + 34, panel.marks + scale, alt)


def nice_ticks(low, high, count=5, whole=False):
    """About count round numbers between low and high, which may stand in either order; whole ones if so wanted."""
    low, high = min(low, high), max(low, high)
    if high == low:
        return [low]
    raw = max((high - low) / count, 1 if whole else 0)
    unit = 10 ** math.floor(math.log10(raw))
    step = next(m * unit for m in (1, 2, 2.5, 5, 10) if m * unit >= raw and not (whole and m * unit % 1))
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step + 1e-9) + 1)]


class Axes:
    """The plain geometry of one chart: pixels of data points, and the frame with its ticks.

    ``whole`` names the axes, of "xy", on which only whole numbers mean something.
    """

    def __init__(self, x_range, y_range, size=(420, 240), log_x=False, whole=""):
        self.log_x, self.size, self.whole = log_x, size, whole
        self.x_range = tuple(map(math.log10, x_range)) if log_x else x_range
        self.y_range = y_range
        self.left, self.right, self.top, self.bottom = 52, size[0] - 12, 26, size[1] - 40

    def x(self, value):
        value = math.log10(value) if self.log_x else value
        low, high = self.x_range
        return self.left + (value - low) / ((high - low) or 1) * (self.right - self.left)

    def y(self, value):
        low, high = self.y_range
        return self.bottom - (value - low) / ((high - low) or 1) * (self.bottom - self.top)

    def line(self, xs, ys, colour, **style):
        return Line(tuple((self.x(x), self.y(y)) for x, y in zip(xs, ys, strict=True)), colour, **style)

    def bar(self, x, width, value, fill):
        """A bar from the bottom, ``width`` in data units about x."""
        left, right, top = self.x(x - width / 2), self.x(x + width / 2), self.y(value)
        return Box(left, top, right - left, self.bottom - top, fill)

    def upright(self, x, **style):
        return Line(((self.x(x), self.top), (self.x(x), self.bottom)), **style)

    def level(self, y, **style):
        return Line(((self.left, self.y(y)), (self.right, self.y(y))), **style)

    def frame(self, title, x_name, y_name):
        marks = [
            Text(self.left, 14, title, 12),
            Line(((self.left, self.top), (self.left, self.bottom), (self.right, self.bottom)), width=1, faint=True),
            Text((self.left + self.right) / 2, self.size[1] - 6, x_name, 11, "middle"),
            Text(11, (self.top + self.bottom) / 2, y_name, 11, "middle", upwards=True),
        ]
        if self.log_x:
            powers = range(math.ceil(self.x_range[0]), math.floor(self.x_range[1]) + 1)
            x_ticks = {10**p: "10" + str(p).translate(SUPERSCRIPTS) for p in powers}
        else:
            x_ticks = {t: f"{t:g}" for t in nice_ticks(*self.x_range, whole="x" in self.whole)}
        y_ticks = nice_ticks(*self.y_range, 4, whole="y" in self.whole)
        marks += [Text(self.x(t), self.bottom + 15, name, 11, "middle") for t, name in x_ticks.items()]
        marks += [Text(self.left - 5, self.y(t) + 4, f"{t:.3g}", 11, "end") for t in y_ticks]
        return marks

    def panel(self, marks, alt):
        return Panel(*self.size, tuple(marks), alt)


def legend(entries, x, y):
    """A line as in the chart and a name for each (colour, dashed, name), downwards from (x, y)."""
    marks = []
    for i, (colour, dashed, name) in enumerate(entries):
        marks.append(Line(((x, y + 14 * i), (x + 16, y + 14 * i)), colour, 3, dashed=dashed))
        marks.append(Text(x + 21, y + 14 * i + 4, name))
    return marks
