"""A gradient is held against the student's own function: right values are another check's business."""

import pytest
import torch

from course.checks import CheckFailed
from course.checks.candidate import Candidate
from course.checks.gradients import check_gradient_of_own

X = torch.linspace(-1.0, 1.0, 12).reshape(3, 4)


def checked(function):
    check_gradient_of_own(Candidate("f", {"f": function}), (X,), 0, "Stay in torch.")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.softmax(-1),
        lambda x: 3 * x**2,  # wrong values, if softmax was wanted, and a right gradient
        lambda x: (x.tanh(), x),
        lambda x: torch.cat((x**2, torch.full_like(x, torch.nan)), 1),  # half of it was never set
        lambda x: torch.ones(2, 5),  # does not depend on x, so no gradient is missing
    ],
)
def test_own_gradient_passes(function):
    checked(function)


@pytest.mark.parametrize(
    ("function", "seen"),
    [
        (lambda x: x.detach().softmax(-1), "no gradient goes back to x"),
        (lambda x: x * x.detach(), "not that of the result"),
        (lambda x: torch.cat((x[:, :2], x[:, 2:].detach()), 1), "not that of the result"),
    ],
)
def test_cut_gradient_is_seen(function, seen):
    with pytest.raises(CheckFailed, match=seen):
        checked(function)
