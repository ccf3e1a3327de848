"""From arrays to marks, from marks to SVG and PNG."""

import base64
import io
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image

from course.live.charts import Axes, labelled, matrix, nice_ticks
from course.live.page import live_status, static_page
from course.live.picture import Box, Disc, Frame, Labels, Line, Panel, Text, Tile, shades
from course.live.raster import SCALE, dashes, font, to_png
from course.live.svg import to_svg
from course.live.tiles import png_url, tile_image

ALL_MARKS = Panel(
    60,
    40,
    (
        Text(2, 10, "a < b & “c”"),
        Text(30, 30, "turned", upwards=True),
        Labels(20, 12, 12, ("one", "two")),
        Line(((0, 0), (60, 40)), "orange", dashed=True),
        Box(5, 5, 10, 10, "blue", "ink", faint=True),
        Disc(40, 20, 3, "green"),
        Tile(20, 20, 10, 10, np.array([[0, 254], [255, 100]], dtype=np.uint8)),
    ),
    'a "quoted" & <marked> picture',
)


def decode(url):
    return Image.open(io.BytesIO(base64.b64decode(url.removeprefix("data:image/png;base64,"))))


def test_svg_is_well_formed_and_carries_its_alternative_text():
    svg = ElementTree.fromstring(to_svg(ALL_MARKS))
    assert svg.get("role") == "img"
    assert svg.get("aria-label") == ALL_MARKS.alt
    assert "a < b & “c”" in "".join(svg.itertext())


def test_what_reads_upwards_stands_where_it_should():
    (turned, level) = ElementTree.fromstring(
        to_svg(Panel(30, 30, (Text(3, 20, "a", upwards=True), Text(1, 2, "b")), ""))
    )
    assert turned.get("transform") == "rotate(-90)"
    # a point (x, y) of a plane turned to the left by a quarter stands at (y, -x) of the panel
    assert (float(turned.get("y")), -float(turned.get("x"))) == (3, 20)
    assert (level.get("x"), level.get("y")) == ("1", "2")


def test_labels_are_one_block_of_lines():
    (block,) = ElementTree.fromstring(to_svg(Panel(90, 90, (Labels(50, 20, 15, ("a\nb", "<c>")),), "")))
    assert "".join(block.itertext()).split("\n") == ["a b", "<c>"]
    assert float(block.get("x")) + float(block.get("width")) == 50
    assert float(block.get("height")) == 2 * 15


@pytest.mark.parametrize(
    ("upwards", "places"), [(False, [(50, 20), (50, 35)]), (True, [(50, 20), (65, 20)])], ids=["level", "upwards"]
)
def test_labels_apart_stand_a_step_from_each_other(upwards, places):
    texts = list(Labels(50, 20, 15, ("a", "b"), upwards).apart())
    assert [(text.x, text.y) for text in texts] == places
    assert all(text.anchor == "end" and text.upwards == upwards for text in texts)


def test_png_has_every_mark():
    empty = decode(to_png(ALL_MARKS._replace(marks=()))).convert("RGB")
    for mark in ALL_MARKS.marks:
        drawn = decode(to_png(ALL_MARKS._replace(marks=(mark,)))).convert("RGB")
        assert drawn.size == (120, 80)
        assert drawn.tobytes() != empty.tobytes(), mark


def test_dashes_are_dashes_in_the_picture_too():
    points = ((5, 20), (30, 20), (55, 20))
    solid, dashed = (
        decode(to_png(Panel(60, 40, (Line(points, "orange", 2, dashed=dashed),), "line"))).convert("RGB")
        for dashed in (False, True)
    )
    inked = [sum(image.getpixel((x, 40)) != (255, 255, 255) for x in range(120)) for image in (solid, dashed)]
    assert 0.4 < inked[1] / inked[0] < 0.8


def test_dashes_go_round_corners_and_are_as_long_as_they_are():
    (first, second, *_) = dashes(((0, 0), (2, 0), (2, 20)))
    assert first.tolist() == [[0, 0], [2, 0], [2, 2]]
    assert second.tolist() == [[2, 5], [2, 9]]


def test_an_unknown_mark_is_refused_by_name():
    panel = ALL_MARKS._replace(marks=(object(),))
    for draw in (to_svg, to_png):
        with pytest.raises(TypeError, match="object"):
            draw(panel)


def test_a_tile_has_one_pixel_a_cell_and_keeps_rows_above_columns():
    image = decode(png_url(tile_image(shades([[0.0, 0.5, 1.0], [np.nan, 0.0, 0.0]])))).convert("RGBA")
    assert image.size == (3, 2)
    dark, bright, hollow = (image.getpixel(at) for at in ((0, 0), (2, 0), (0, 1)))
    assert sum(dark[:3]) < sum(bright[:3])
    assert hollow[3] == 0
    assert dark[3] == bright[3] == 255


def test_shades_clip_and_keep_the_order():
    assert list(shades([-5, 0, 0.25, 0.75, 1, 5])) == sorted(shades([-5, 0, 0.25, 0.75, 1, 5]))
    assert shades([-5])[0] == shades([0])[0]
    assert shades([5])[0] == shades([1])[0]
    assert shades([2.0], low=2, high=2)[0] == 0


@pytest.mark.parametrize("count", [0, 1, 7, 64, 512])
def test_labels_never_stand_closer_than_a_line(count):
    shown = list(labelled(count, 150))
    assert len(shown) <= 150 / 12 + 1
    assert not count or shown[0] == 0
    assert shown == list(range(count)) or len(shown) <= 150 / 18 + 1  # some left out: then with air between them


def texts_of(panel):
    """Every Text of the panel, with those of its labels."""
    for mark in panel.marks:
        yield from mark.apart() if isinstance(mark, Labels) else [mark] if isinstance(mark, Text) else []


def test_a_matrix_names_its_tokens_and_axes():
    panel = matrix(
        np.eye(2), "head 0", "alt", rows=("the", "cat"), columns=("a", "b"), row_name="query", column_name="key"
    )
    texts = [text.text for text in texts_of(panel)]
    assert texts == ["head 0", "the", "cat", "a", "b", "query", "key"]
    assert panel.alt == "alt"


def test_labels_leave_the_axis_name_its_room():
    words = ("because", "the")
    panel = matrix(np.eye(2), "", "alt", rows=words, columns=words, row_name="query", column_name="key")
    places = {text.text: text for text in texts_of(panel) if not text.upwards}
    (name,) = (text for text in texts_of(panel) if text.text == "query")
    assert (
        places["because"].x - font(11).getlength("because") / SCALE >= name.x + 6  # half a letter of air
    )  # below its line q and y reach as far


def test_ticks_are_round_and_inside():
    assert nice_ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert nice_ticks(10, 0) == nice_ticks(0, 10)
    assert nice_ticks(3, 3) == [3]
    assert nice_ticks(-0.5, 0.5, whole=True) == [0]
    assert nice_ticks(-10, 3, whole=True) == [-10, -5, 0]
    assert nice_ticks(0, 25, 10, whole=True) == [0, 5, 10, 15, 20, 25]


def test_powers_of_ten_are_written_as_such():
    marks = Axes((1, 1e6), (0, 1), log_x=True).frame("", "", "")
    texts = [mark.text for mark in marks if isinstance(mark, Text)]
    assert [text for text in texts if text.startswith("10")] == ["10⁰", "10¹", "10²", "10³", "10⁴", "10⁵", "10⁶"]


def test_axes_put_the_ends_on_the_frame():
    axes = Axes((1, 1000), (0, 2), log_x=True)
    assert axes.x(1) == axes.left
    assert axes.x(1000) == pytest.approx(axes.right)
    assert (axes.y(0), axes.y(2)) == (axes.bottom, axes.top)


def test_the_static_page_escapes_and_says_how_to_make_it_live():
    frame = Frame((ALL_MARKS,), (("a < b", "<1>"),), "x < y", "z < 0")
    page = static_page(frame, "Bench")
    assert 'alt="a &quot;quoted&quot; &amp; &lt;marked&gt; picture"' in page
    assert "<1>" not in page and "x < y" not in page
    assert "open this notebook in JupyterLab, VS Code or Colab and run this cell" in page
    assert "<script" not in page


def test_changes_are_announced_politely():
    status = ElementTree.fromstring(live_status(Frame(summary="all is well", problem="not quite")))
    assert (status.get("role"), status.get("aria-live")) == ("status", "polite")
    assert "".join(status.itertext()) == "not quiteall is well"
