"""The state that examined code runs under, and what a notebook finds again behind it."""

import pytest
import torch

from course.checks.state import fresh_state


@pytest.mark.parametrize(
    "unset",
    [
        lambda: torch.empty(50),
        lambda: torch.empty_like(torch.zeros(3, 2)),
        lambda: torch.zeros(2).new_empty(7),
        lambda: torch.Tensor(4, 3),
        lambda: torch.zeros(1, dtype=torch.float64).resize_(9)[1:],
    ],
)
def test_memory_that_nobody_set_is_nan(unset):
    with fresh_state():
        assert unset().isnan().all()


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_a_notebooks_own_choice_comes_back(mode):
    torch.set_deterministic_debug_mode(mode)
    try:
        with fresh_state():
            # Has no deterministic way: under mode 2 this would raise.
            torch.zeros(3).put_(torch.tensor([0, 0]), torch.ones(2))
        assert torch.get_deterministic_debug_mode() == mode
    finally:
        torch.set_deterministic_debug_mode(0)
