import math

import numpy as np
import pytest
import torch

from course.attention import scaled_dot_product_attention
from course.live.scale_thermometer import compute, explore, heat


def test_heat_of_a_uniform_and_of_a_saturated_row():
    uniform = heat(np.full((3, 8), 1 / 8))
    assert uniform.entropy == pytest.approx(math.log(8))
    assert uniform.largest == pytest.approx(1 / 8)
    saturated = heat(np.eye(8))
    assert (saturated.entropy, saturated.largest, saturated.gradient) == (0, 1, 0)


def test_one_key_leaves_an_entropy_of_plain_zero():
    assert dict(explore(seq_len=1).frame.ledger)["entropy, at most log S"] == "0 of 0 nats"


def test_the_gradient_is_the_norm_of_the_softmaxs_jacobian():
    scores = torch.tensor([0.3, -1.0, 2.0, 0.5], dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda s: s.softmax(-1), scores)
    assert heat(scores.softmax(-1).numpy()[None]).gradient == pytest.approx(jacobian.norm().item())


def test_scores_spread_by_the_root_of_the_width_unless_scaled():
    for d_head in (16, 256):
        assert compute(d_head, 8, 64, "none")[0].std() == pytest.approx(math.sqrt(d_head), rel=0.1)
        assert compute(d_head, 8, 64, "sqrt(d_head)")[0].std() == pytest.approx(1, rel=0.1)
        assert compute(d_head, 4, 64, "sqrt(d_model)")[0].std() == pytest.approx(0.5, rel=0.1)


def test_without_scale_a_wide_head_saturates_and_its_gradient_falls():
    right, none, by_model = (compute(512, 8, 32, scale)[1] for scale in ("sqrt(d_head)", "none", "sqrt(d_model)"))
    assert none.largest > 0.9 > 0.5 > right.largest > by_model.largest
    assert none.gradient < right.gradient / 2
    assert by_model.entropy > right.entropy > none.entropy


def test_what_is_shown_is_said():
    assert "The softmax is saturated" in explore(d_head=512, scale="none").summary
    assert "nearly uniform" in explore(num_heads=16, scale="sqrt(d_model)").summary
    assert "One key takes the whole weight" in explore(seq_len=1).summary


def test_the_students_function_is_a_bar_of_its_own():
    explorer = explore(scaled_dot_product_attention)
    assert "agrees with the course's" in explorer.summary
    assert sum("yours" in panel.alt for panel in explorer.frame.panels) == 3

    def scaled_by_nothing(q, k, v, mask=None):
        weights = (q @ k.transpose(-2, -1)).softmax(-1)
        return weights @ v, weights

    assert "differs from the course's in weights by" in explore(scaled_by_nothing).summary

    def unmixed(q, k, v, mask=None):
        return q, scaled_dot_product_attention(q, k, v)[1]

    assert "differs from the course's in out by" in explore(unmixed).summary
