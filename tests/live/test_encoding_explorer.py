import numpy as np
import pytest

from course import encoding
from course.live.encoding_explorer import compute, explore
from course.live.picture import Disc, Line, Text
from course.live.raster import SCALE, font

POINT = {"seq_len": 20, "d_model": 8, "position": 5, "offset": 3, "base": 10_000, "projected": False}


def positional_encoding(seq_len, d_model):
    table = np.zeros((seq_len, d_model))
    for p in range(seq_len):
        for j in range(d_model):
            angle = p / 10_000 ** (2 * (j // 2) / d_model)
            table[p, j] = np.cos(angle) if j % 2 else np.sin(angle)
    return table


def test_dot_products_depend_on_the_distance_alone_without_projections():
    shown = compute(**POINT)
    assert np.allclose(shown.dots_from_here[5:], shown.dots_from_start[:15])
    assert shown.dots_from_start[0] == pytest.approx(4)


def test_with_projections_they_depend_on_the_position_too():
    shown = compute(**POINT | {"projected": True})
    assert not np.allclose(shown.dots_from_here[5:], shown.dots_from_start[:15], atol=0.1)


def test_a_step_is_a_rotation():
    assert compute(**POINT).residual < 1e-12
    assert compute(**POINT | {"base": 100, "offset": 64}).residual < 1e-12


@pytest.mark.parametrize("d_model", [1, 7, 511])
def test_odd_widths_are_allowed_and_have_no_rotation(d_model):
    explorer = explore(d_model=d_model)
    assert explorer.problem is None
    assert dict(explorer.frame.ledger)["‖PE(p+k) − R_k·PE(p)‖"] == "no R_k: d_model is odd"


def test_the_longest_wave_is_the_papers_and_not_a_whole_base():
    rows = dict(explore(d_model=8).frame.ledger)
    assert rows["wavelengths"] == f"6.28 … {2 * np.pi * 1000:,.1f} positions"


def test_a_cursor_beyond_the_table_is_said_and_the_clocks_still_turn():
    explorer = explore(seq_len=4, position=10)
    assert explorer.problem is None
    assert any("position 10 lies beyond it" in panel.alt for panel in explorer.frame.panels)


def test_a_right_function_agrees_and_stands_beside_the_course_s():
    for d_model in (1, 15, 16):
        explorer = explore(positional_encoding, d_model=d_model)
        assert "Your positional_encoding agrees with the course's." in explorer.summary
        assert any(panel.alt.startswith("PE, yours") for panel in explorer.frame.panels)


def test_a_column_short_is_named():
    def bad_positional_encoding(seq_len, d_model):
        return np.zeros((seq_len, d_model - 1))

    problem = explore(bad_positional_encoding).problem
    assert problem == "Your bad_positional_encoding returned shape (50, 15): an array of shape (50, 16) was wanted."


def test_nan_is_named_with_its_place():
    def positional_encoding(seq_len, d_model):
        table = np.zeros((seq_len, d_model))
        table[2, 1] = np.nan
        return table

    assert "returned nan at [2, 1]" in explore(positional_encoding).problem


def test_a_rotation_is_held_against_the_encoding():
    explorer = explore(encoding.rotation_matrix)
    assert "Your rotation_matrix agrees with the course's." in explorer.summary
    assert "raised ValueError: d_model 15 is odd" in explorer.set(d_model=15).problem

    def rotation_matrix(offset, d_model):
        return encoding.rotation_matrix(-offset, d_model + d_model % 2)[:d_model, :d_model]

    backwards = explore(rotation_matrix, offset=2)
    assert "Your rotation_matrix differs from the course's" in backwards.summary
    assert float(dict(backwards.frame.ledger)["with your R_k, base 10,000"]) > 0.1
    assert "accepted d_model 15: ValueError was wanted" in backwards.set(d_model=15).problem


@pytest.mark.parametrize(("d_model", "base"), [(16, 10), (16, 10_000), (512, 1_000_000)])
@pytest.mark.parametrize("seq_len", [1, 50, 512])
def test_the_name_of_the_length_stays_in_its_chart(seq_len, d_model, base):
    explorer = explore(seq_len=seq_len, d_model=d_model, base=base)
    (panel,) = (panel for panel in explorer.frame.panels if panel.alt.startswith("Wavelengths"))
    (name,) = (mark for mark in panel.marks if isinstance(mark, Text) and mark.text == f"length {seq_len}")
    width = font(name.size).getlength(name.text) / SCALE
    left = name.x - width if name.anchor == "end" else name.x
    assert left >= 0 and left + width <= panel.width


def test_the_legend_tells_lines_apart_without_their_colour():
    panel = explore().frame.panels[-1]
    lines = [mark for mark in panel.marks if isinstance(mark, Line) and mark.colour != "ink"]
    curves = {line.colour: line.dashed for line in lines if len(line.points) > 2}
    legend = {line.colour: line.dashed for line in lines if len(line.points) == 2}
    assert legend == curves and set(curves.values()) == {True, False}


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("seq_len", [1, 2, 50])
@pytest.mark.parametrize("d_model", [1, 16])
def test_the_legend_stands_clear_of_the_lines(seq_len, d_model, projected):
    panel = explore(seq_len=seq_len, d_model=d_model, projected=projected, base=1_000_000).frame.panels[-1]
    (lowest,) = (mark.y for mark in panel.marks if isinstance(mark, Text) and mark.text == "from i = 0")
    curves = [m for m in panel.marks if isinstance(m, Line) and m.colour != "ink" and len({y for _, y in m.points}) > 1]
    assert all(y > lowest for curve in curves for _, y in curve.points)


def test_one_position_is_a_point_that_can_be_seen():
    panel = explore(seq_len=1).frame.panels[-1]
    assert len([mark for mark in panel.marks if isinstance(mark, Disc)]) == 2


def test_no_step_turns_nothing_and_a_step_that_is_no_rotation_is_not_said_to_be_one():
    assert "by 0 steps gives PE(10) exactly." in explore(offset=0).summary
    assert explore(d_model=1).frame.panels[1].alt == "Clocks: offset 3 turns nothing, for there is no pair"
    assert "pair 0 by 3,667°, pair 1 by" in explore(offset=64).frame.panels[1].alt
