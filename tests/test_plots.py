import numpy as np
import pytest

from course import plots


@pytest.mark.parametrize(("num_heads", "columns"), [(1, 1), (3, 3), (4, 4), (6, 4), (12, 4)])
def test_every_head_has_its_map_and_four_stand_in_a_row(num_heads, columns):
    weights = np.arange(num_heads * 9.0).reshape(num_heads, 3, 3) / (num_heads * 9)
    picture = plots.attention_maps(weights, ["a", "b", "c"])
    maps = [axes for axes in picture.axes if axes.get_title().startswith("head")]
    assert [axes.get_title() for axes in maps] == [f"head {h}" for h in range(num_heads)]
    assert all(np.array_equal(axes.images[0].get_array(), head) for axes, head in zip(maps, weights, strict=True))
    assert maps[0].get_subplotspec().get_gridspec().ncols == columns
    assert all(f"head {h} looks hardest from c to c" in picture.alt for h in range(num_heads))
    assert f"{num_heads} attention {'map' if num_heads == 1 else 'maps'} of 3 tokens" in picture.alt


@pytest.mark.parametrize(
    ("colour", "ink"),
    [((1, 1, 1), "black"), ((0, 0, 0), "white"), ((1, 0, 0), "black"), ((0, 0, 1, 1), "white"), ((0.5,) * 3, "black")],
)
def test_ink_is_the_one_with_more_contrast(colour, ink):
    assert plots.readable_on(colour) == ink  # white on pure red has 4.0 to 1, black 5.3 to 1
