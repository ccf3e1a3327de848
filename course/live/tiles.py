"""Matrices as small PNG images with a colour table: one byte a cell, however large it is drawn."""

import base64
import io

import matplotlib
import numpy as np
from PIL import Image

from course.live.picture import TABLE_SIZE

_samples = matplotlib.colormaps["viridis"](np.linspace(0, 1, TABLE_SIZE), bytes=True)[:, :3]
COLOUR_TABLE = bytes(_samples) + bytes(3)  # the last entry is made transparent below


def tile_image(cells):
    """Cells (rows, columns) of uint8 as a palette image, one pixel a cell."""
    image = Image.fromarray(np.ascontiguousarray(cells))
    image.putpalette(COLOUR_TABLE)
    image.info["transparency"] = TABLE_SIZE
    return image


def png_url(image, compress_level=1):
    """A data URL of the image; by default lightly compressed, as it is read once and on the same machine."""
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=compress_level)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode()
