"""Every slip of the extension exercises that has a hint of its own looks different from the right answer."""

import pytest
import torch

from course.attention import ablate_head
from course.checks.extensions import ablation, learned_table, rotary, rotation
from course.checks.inputs import normal
from course.checks.probes import HeadsProbe
from course.encoding import rotate, rotation_matrix
from tests.checks.slips import taken_for_each_other, taken_for_right

X = normal(3, 5, 6, seed=1)
TABLE = normal(9, 6, seed=2)
HEADS = normal(3, 4, 7, 14, seed=3)
LAYER, TOKENS = HeadsProbe(12, 4).eval(), normal(3, 5, 12, seed=4)

SLIPS = {
    "learned": (X + TABLE[:5], list(learned_table.mistaken_additions(X, TABLE))),
    "rotation": (rotation_matrix(3, 14), list(rotation.mistaken_rotations(3, 14))),
    "rotary": (rotate(HEADS), list(rotary.mistaken_turns(HEADS))),
    "ablation": (ablate_head(LAYER, TOKENS, 1).detach(), list(ablation.mistaken_ablations(LAYER, TOKENS, 1))),
}


@pytest.mark.parametrize("name", SLIPS)
def test_no_slip_is_right_and_none_is_another(name):
    right, slips = SLIPS[name]
    assert taken_for_right(right, slips) == []
    assert taken_for_each_other(slips) == []


def test_slips_leave_gradients_switched_on():
    next(iter(ablation.mistaken_ablations(LAYER, TOKENS, 0)))
    assert torch.is_grad_enabled()
