import numpy as np
import pytest
import torch

from course import attention
from course.live.mask_bench import Masked, build_mask, compute, describe, explore


def right(q, k, v, mask=None):
    return attention.scaled_dot_product_attention(q, k, v, mask)


def inverted(q, k, v, mask=None):
    return attention.scaled_dot_product_attention(q, k, v, ~mask)


@pytest.mark.parametrize("mask", ["causal", "padding", "both"])
def test_the_two_conventions_of_pytorch_read_one_tensor_in_opposite_ways(mask):
    shown, flipped = compute(6, 2, mask, False), compute(6, 2, mask, True)
    assert np.allclose(shown.sdpa, shown.course, atol=1e-6)
    some = shown.mask.any(-1)
    assert np.allclose(flipped.multihead[some], shown.course[some], atol=1e-6)
    assert not np.allclose(shown.multihead, shown.course, atol=1e-2)


def test_masks_are_what_they_are_called():
    assert build_mask(3, 1, "none", False).all()
    assert build_mask(3, 1, "causal", False)[0, 0].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert build_mask(3, 1, "padding", False)[0, 0].tolist() == [[1, 1, 0]] * 3
    assert build_mask(3, 1, "both", False)[0, 0].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    assert torch.equal(build_mask(3, 1, "both", True), ~build_mask(3, 1, "both", False))


def test_rows_that_may_attend_to_nothing_are_zeros_here_and_nan_in_multihead_attention():
    explorer = explore(mask="causal", inverted=True)
    rows = dict(explorer.frame.ledger)
    assert rows["queries that may attend to nothing"] == "1 of 8"
    assert rows["rows of NaN, course"] == "0 of 8"
    assert "1 of 8 queries may attend to nothing (first: position 7)" in explorer.summary
    # nn.MultiheadAttention reads True as forbidden, so it is the mask of ones that leaves it nothing
    assert dict(explore(mask="none").frame.ledger)["rows of NaN, nn.MultiheadAttention"] == "8 of 8"


def test_more_padding_than_tokens():
    explorer = explore(mask="padding", seq_len=3, padding=32)
    assert explorer.problem is None
    assert dict(explorer.frame.ledger)["padded keys"] == "3 of 3"


def test_padded_keys_without_effect_are_said_to_have_none():
    assert dict(explore(mask="causal", padding=2).frame.ledger)["padded keys"] == "not in this mask"
    assert dict(explore(mask="both", padding=2).frame.ledger)["padded keys"] == "2 of 8"


def test_the_students_function_is_judged_where_a_query_may_attend():
    for settings in ({}, {"mask": "both"}, {"mask": "causal", "inverted": True}):
        assert "agrees with the course's" in explore(right, **settings).summary
    assert "differs from the course's" in explore(inverted, mask="both", inverted=True).summary


def test_nan_of_the_student_is_refused_only_where_a_query_may_attend():
    def nan_where_nothing(q, k, v, mask=None):
        weights = attention.attention_scores(q, k).masked_fill(~mask, -torch.inf).softmax(-1)
        return weights @ v, weights

    assert explore(nan_where_nothing, mask="causal", inverted=True).problem is None

    def always_nan(q, k, v, mask=None):
        return v, torch.full((1, 1, q.shape[-2], k.shape[-2]), torch.nan)

    assert "returned nan in weights at [0, 0, 0, 0]" in explore(always_nan).problem


def test_what_comes_out_is_judged_too():
    def unmixed(q, k, v, mask=None):
        return v, right(q, k, v, mask)[1]

    assert "differs from the course's in out by" in explore(unmixed).summary

    def one_column(q, k, v, mask=None):
        out, weights = right(q, k, v, mask)
        return out[..., 0], weights

    assert "returned out of shape (1, 1, 8): an array of shape (1, 1, 8, 8) was wanted" in explore(one_column).problem


def test_readers_that_agree_and_readers_that_do_not_are_named():
    mask, weights, others = np.tri(2, dtype=bool), np.eye(2), np.ones((2, 2))
    both = "F.scaled_dot_product_attention and nn.MultiheadAttention"
    assert f"{both} read it as the course does." in describe(Masked(mask, weights, weights, weights))
    assert f"{both} give other weights" in describe(Masked(mask, weights, others, others))
