"""Panels as SVG text."""

from functools import singledispatch
from html import escape

from course.live.picture import COLOURS, DASHES, TEXT_SIZE, Box, Disc, Labels, Line, Text, Tile
from course.live.tiles import png_url, tile_image

BASELINE = 4  # pixels from the middle of a line of text to what its letters stand on
WIDEST = 1000  # pixels, more than any label takes


def to_svg(panel):
    """The panel as one ``<svg>`` element with its alternative text."""
    marks = "".join(map(mark_svg, panel.marks))
    return (
        f'<svg role="img" aria-label="{escape(panel.alt)}" width="{panel.width}" height="{panel.height}" '
        f'viewBox="0 0 {panel.width} {panel.height}" fill="currentColor" font-size="{TEXT_SIZE}" '
        f'style="max-width:100%;height:auto">{marks}</svg>'
    )


def paint(colour):
    return COLOURS.get(colour, "currentColor")


@singledispatch
def mark_svg(mark):
    raise TypeError(f"no SVG for {type(mark).__name__}")


@mark_svg.register
def _(mark: Text):
    size = f' font-size="{mark.size}"' if mark.size != TEXT_SIZE else ""
    anchor = f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
    (x, y), turn = turned(mark)
    return f'<text x="{x:g}" y="{y:g}"{size}{anchor}{turn}>{escape(mark.text)}</text>'


@mark_svg.register
def _(mark: Labels):
    # One block of lines: to lay out a <text> for each label takes most of the time that a browser needs for a picture.
    (x, y), turn = turned(mark)
    top, height = y - BASELINE - mark.step / 2, mark.step * len(mark.texts)
    lines = escape("\n".join(" ".join(text.split("\n")) for text in mark.texts))
    return (
        f'<foreignObject x="{x - WIDEST:g}" y="{top:g}" width="{WIDEST}" height="{height:g}"{turn}>'
        f'<div style="line-height:{mark.step:g}px;text-align:right;white-space:pre">{lines}</div></foreignObject>'
    )


def turned(mark):
    """Where the mark stands, (x, y), and the attribute that turns it there: upwards is a quarter to the left."""
    return ((-mark.y, mark.x), ' transform="rotate(-90)"') if mark.upwards else ((mark.x, mark.y), "")


@mark_svg.register
def _(mark: Line):
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
    dashes = f' stroke-dasharray="{DASHES[0]} {DASHES[1]}"' if mark.dashed else ""
    faint = ' stroke-opacity="0.4"' if mark.faint else ""
    return (
        f'<polyline points="{points}" fill="none" stroke="{paint(mark.colour)}" stroke-width="{mark.width:g}"'
        f"{dashes}{faint}/>"
    )


@mark_svg.register
def _(mark: Box):
    fill = paint(mark.fill) if mark.fill else "none"
    stroke = f' stroke="{paint(mark.stroke)}"' if mark.stroke else ""
    faint = ' opacity="0.4"' if mark.faint else ""
    return (
        f'<rect x="{mark.x:.1f}" y="{mark.y:.1f}" width="{mark.width:.1f}" height="{mark.height:.1f}" '
        f'fill="{fill}"{stroke}{faint}/>'
    )


@mark_svg.register
def _(mark: Disc):
    return f'<circle cx="{mark.x:.1f}" cy="{mark.y:.1f}" r="{mark.radius:g}" fill="{paint(mark.colour)}"/>'


@mark_svg.register
def _(mark: Tile):
    # decoding="sync": the old picture stays until the new one is decoded, so no frame is blank
    return (
        f'<image x="{mark.x:g}" y="{mark.y:g}" width="{mark.width:g}" height="{mark.height:g}" decoding="sync" '
        f'preserveAspectRatio="none" style="image-rendering:pixelated" href="{png_url(tile_image(mark.cells))}"/>'
    )
