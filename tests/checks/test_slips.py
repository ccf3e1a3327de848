"""Every slip that has a hint of its own looks different from the right answer and from the others."""

import itertools

import pytest
import torch

from course.attention import causal_mask, scaled_dot_product_attention
from course.checks import head_slips
from course.checks.attention_slips import masked_wrongly, wrong_weights
from course.checks.inputs import mixed_mask, normal
from tests.checks.slips import taken_for_each_other, taken_for_right

B, H, T, S, D, D_V = 10, 3, 5, 7, 6, 11
SHAPES = ((T, D), (S, D), (S, D_V))
Q, K, V = (normal(B, H, *shape, seed=seed, dtype=torch.float64) for seed, shape in enumerate(SHAPES))
MASK = mixed_mask(B, H, T, S)


def masked_slips():
    _, own = scaled_dot_product_attention(Q, K, V)
    return list(masked_wrongly(own, Q, K, MASK))


def split_and_merge_slips():
    x = torch.arange(2.0 * 5 * 12).reshape(2, 5, 12)
    return list(head_slips.wrong_splits(x, 3)), list(head_slips.wrong_merges(x.reshape(2, 3, 5, 4)))


SLIPS = {
    "weights": (scaled_dot_product_attention(Q, K, V)[1], list(wrong_weights(Q, K, V))),
    "masked weights": (scaled_dot_product_attention(Q, K, V, MASK)[1], masked_slips()),
}


@pytest.mark.parametrize("name", SLIPS)
def test_no_slip_is_right_and_none_is_another(name):
    right, slips = SLIPS[name]
    assert taken_for_right(right, slips) == []
    assert taken_for_each_other(slips) == []


def test_split_and_merge_slips_differ():
    for slips in split_and_merge_slips():
        assert slips and taken_for_each_other(slips) == []


def test_counts_of_slips_differ_at_telling_sizes():
    slips = head_slips.wrong_counts(30, 6)
    right = 4 * (30 * 30 + 30)
    assert [hint for hint, wrong in slips if wrong == right] == []
    assert [(a, b) for (a, x), (b, y) in itertools.combinations(slips, 2) if a != b and x == y] == []


def test_mixed_masks_allow_and_forbid_something_in_every_row():
    assert MASK.any(-1).all() and (~MASK).any(-1).all()
    assert not torch.equal(mixed_mask(4, 6), causal_mask(6)[:4])
