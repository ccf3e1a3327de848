"""The state that examined code runs under, and what a notebook finds again behind it."""

import logging

import numpy as np
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
        lambda: torch.from_numpy(np.empty((50, 3))),
        lambda: torch.from_numpy(np.empty_like(np.zeros(4, dtype=np.float32))),
        lambda: torch.from_numpy(np.empty(2, dtype=complex)),
    ],
)
def test_memory_that_nobody_set_is_nan(unset):
    with fresh_state():
        assert unset().isnan().all()


@pytest.mark.parametrize(("dtype", "wanted"), [("uint8", 255), ("int64", 2**63 - 1), ("bool", True)])
def test_without_a_nan_it_is_the_largest_number(dtype, wanted):
    with fresh_state():
        assert (np.empty(5, dtype) == wanted).all()
        assert (torch.empty(5, dtype=getattr(torch, dtype)) == wanted).all()


def test_numpy_s_own_functions_come_back():
    own = np.empty, np.empty_like
    with fresh_state(), fresh_state():
        assert np.empty is not own[0]
    assert (np.empty, np.empty_like) == own


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


def test_log_records_are_kept_from_the_handlers_inside_and_reach_them_behind(caplog):
    with fresh_state():
        logging.getLogger("notebook").error("inside")
    logging.getLogger("notebook").error("behind")
    assert caplog.messages == ["behind"]
