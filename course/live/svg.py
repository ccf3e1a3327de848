"""Panels as SVG text."""

from functools import lru_cache, singledispatch
from html import escape
from itertools import groupby

from course.live.picture import COLOURS, TEXT_SIZE, Box, Disc, Line, Text, Tile
from course.live.tiles import png_url, tile_image


def to_svg(panel):
    """The panel as one ``<svg>`` element with its alternative text."""
    marks = "".join(run_svg(kind, tuple(run)) for kind, run in groupby(panel.marks, reading))
    return (
        f'<svg role="img" aria-label="{escape(panel.alt)}" width="{panel.width}" height="{panel.height}" '
        f'viewBox="0 0 {panel.width} {panel.height}" fill="currentColor" font-size="{TEXT_SIZE}" '
        f'style="max-width:100%;height:auto">{marks}</svg>'
    )


def reading(mark):
    """How a mark reads: a text upwards or level; None for what is no text."""
    return ("upwards" if mark.upwards else "level") if isinstance(mark, Text) else None


def run_svg(kind, marks):
    return texts_svg(kind, marks) if kind else "".join(map(mark_svg, marks))


@lru_cache(maxsize=64)  # the labels of an axis, which come back in other panels and with the next move
def texts_svg(kind, texts):
    """Texts that read the same way: one rotation for all labels of an axis costs the browser less than many."""
    if kind == "level":
        return "".join(map(mark_svg, texts))
    turned = "".join(mark_svg(text._replace(x=-text.y, y=text.x)) for text in texts)
    return f'<g transform="rotate(-90)">{turned}</g>'


def paint(colour):
    return COLOURS.get(colour, "currentColor")


@singledispatch
def mark_svg(mark):
    raise TypeError(f"no SVG for {type(mark).__name__}")


@mark_svg.register
def _(mark: Text):
    # Labels are most of a picture: what they share stands on the <svg>, and only the rest here.
    size = f' font-size="{mark.size}"' if mark.size != TEXT_SIZE else ""
    anchor = f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
    return f'<text x="{mark.x:g}" y="{mark.y:g}"{size}{anchor}>{escape(mark.text)}</text>'


@mark_svg.register
def _(mark: Line):
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in mark.points)
    dashes = ' stroke-dasharray="4 3"' if mark.dashed else ""
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
