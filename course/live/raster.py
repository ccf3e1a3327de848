"""Panels as PNG images, for pages without a kernel: GitHub and others clean inline SVG away or break it."""

from functools import cache, singledispatch
from pathlib import Path

import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont

from course.live.picture import COLOURS, DASHES, Box, Disc, Labels, Line, Text, Tile
from course.live.tiles import png_url, tile_image

SCALE = 2  # pixels of the image for one of the panel, so that text stays sharp
PAPER, INK, FAINT = "#ffffff", "#222222", "#999999"
ANCHORS = {"start": "ls", "middle": "ms", "end": "rs"}


@cache
def font(size):
    return ImageFont.truetype(Path(matplotlib.get_data_path(), "fonts/ttf/DejaVuSans.ttf"), size * SCALE)


def to_png(panel):
    """The panel as an ``<img>``-ready data URL: dark on white, in a colour table to stay small."""
    image = Image.new("RGB", (panel.width * SCALE, panel.height * SCALE), PAPER)
    for mark in panel.marks:
        paint_mark(mark, image)
    return png_url(image.quantize(128, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE), compress_level=6)


def paint(colour, faint=False):
    if colour is None:
        return None
    return COLOURS.get(colour, FAINT if faint else INK)


def scaled(*numbers):
    return tuple(round(number * SCALE) for number in numbers)


@singledispatch
def paint_mark(mark, image):
    raise TypeError(f"no PNG for {type(mark).__name__}")


@paint_mark.register
def _(mark: Text, image):
    if not mark.upwards:
        position = scaled(mark.x, mark.y)
        ImageDraw.Draw(image).text(position, mark.text, INK, font(mark.size), ANCHORS[mark.anchor])
        return
    # Text is turned as an image of its own, about its anchor, which sits in the middle of a square.
    half = round(font(mark.size).getlength(mark.text)) + mark.size * SCALE
    stencil = Image.new("L", (2 * half, 2 * half), 0)
    ImageDraw.Draw(stencil).text((half, half), mark.text, 255, font(mark.size), ANCHORS[mark.anchor])
    stencil = stencil.rotate(90)
    x, y = scaled(mark.x, mark.y)
    image.paste(INK, (x - half, y - half), stencil)


@paint_mark.register
def _(mark: Labels, image):
    for text in mark.apart():
        paint_mark(text, image)


@paint_mark.register
def _(mark: Line, image):
    colour, width = paint(mark.colour, mark.faint), max(1, round(mark.width * SCALE))
    for points in dashes(mark.points) if mark.dashed else (mark.points,):
        ImageDraw.Draw(image).line([scaled(*point) for point in points], colour, width, joint="curve")


def dashes(points):
    """The dashes of a line through points (N, 2), one after the other, each the points (n, 2) that it leads through."""
    points = np.asarray(points, dtype=float)
    along = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))))  # way from the start, (N,)
    for start in np.arange(0.0, along[-1], sum(DASHES)):
        end = min(start + DASHES[0], along[-1])
        ways = np.array([start, *along[(along > start) & (along < end)], end])
        yield np.column_stack([np.interp(ways, along, points[:, axis]) for axis in (0, 1)])


@paint_mark.register
def _(mark: Box, image):
    corners = scaled(mark.x, mark.y, mark.x + mark.width, mark.y + mark.height)
    fill, stroke = paint(mark.fill, mark.faint), paint(mark.stroke, mark.faint)
    ImageDraw.Draw(image).rectangle(corners, fill, stroke, SCALE)


@paint_mark.register
def _(mark: Disc, image):
    (x, y), radius = scaled(mark.x, mark.y), mark.radius * SCALE
    ImageDraw.Draw(image).ellipse((x - radius, y - radius, x + radius, y + radius), paint(mark.colour))


@paint_mark.register
def _(mark: Tile, image):
    size = scaled(mark.width, mark.height)
    tile = tile_image(mark.cells).convert("RGBA").resize(size, Image.Resampling.NEAREST)
    image.paste(tile, scaled(mark.x, mark.y), tile)
