"""Details of a picture that a reader sees: what is faint, what a scale's ends say, how far a bar reaches."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
import torch

from course.live import head_splitter, reveal
from course.live.charts import matrix, with_colour_scale
from course.live.picture import Box, Line, Panel, Text
from course.live.svg import to_svg


@pytest.mark.parametrize(
    ("mark", "attribute"), [(Box(1, 1, 5, 5, "blue"), "opacity"), (Line(((0, 0), (5, 5))), "stroke-opacity")]
)
def test_what_is_faint_is_so_and_nothing_else_is(mark, attribute):
    plain, faint = ElementTree.fromstring(to_svg(Panel(9, 9, (mark, mark._replace(faint=True)), "two marks")))
    assert plain.get(attribute) is None
    assert 0 < float(faint.get(attribute)) < 1


def test_a_colour_scale_names_its_ends_in_the_picture_and_in_its_text():
    panel = with_colour_scale(matrix(np.eye(2), "head 0", "a map"), -0.25, 0.5, "output")
    ends = {mark.text: mark for mark in panel.marks if isinstance(mark, Text) and mark.text in ("-0.25", "0.5")}
    assert ends["-0.25"].x < ends["0.5"].x
    assert panel.alt == "a map; colours run from -0.25, dark, to 0.5, bright"


def test_a_bar_stays_in_its_frame_whatever_the_weight():
    def scaled_dot_product_attention(q, k, v, mask=None):
        return v, torch.tensor([-3.0, 0.0, 0.5, 1.0, 7.0]).expand(1, 1, 5, 5)

    [panel] = reveal.explore(scaled_dot_product_attention, revealed=True).frame.panels
    frames = [mark for mark in panel.marks if isinstance(mark, Box) and mark.stroke]
    bars = [mark for mark in panel.marks if isinstance(mark, Box) and mark.fill == "green" and mark.x == frames[0].x]
    assert [bar.width / frames[0].width for bar in bars] == [0, 0, 0.5, 1, 1]


def test_head_counts_that_no_slider_reaches_are_not_offered():
    assert head_splitter.nearest_counts(15, 68) == [4]  # the next would be 17
