"""The defaults that examined code runs under, whatever the notebook did to them before."""

import contextlib
import functools
import io
import logging
import random
import warnings

import numpy as np
import torch

from course.defaults import torch_defaults


class Quiet(io.TextIOBase):
    """A stream that takes everything and keeps nothing."""

    encoding = "utf-8"

    def write(self, text):
        return len(text)


def swallow(logger, record):
    """Stands for logging.Logger.handle."""


def _filled(make):
    """NumPy's function ``make``, np.empty for one, with the new memory filled as torch fills its own."""

    @functools.wraps(make)
    def make_filled(*arguments, **keywords):
        array = make(*arguments, **keywords)
        if array.dtype.kind in "fc":
            array.fill(np.nan)
        elif array.dtype.kind in "iu":
            array.fill(np.iinfo(array.dtype).max)
        elif array.dtype.kind == "b":
            array.fill(True)
        return array

    return make_filled


_FILLED = {name: _filled(getattr(np, name)) for name in ("empty", "empty_like")}


@contextlib.contextmanager
def empty_is_nan():
    """New memory holds NaN, the largest whole number or True in place of whatever lay there before.

    torch.empty and np.empty often find zeros, so that leaving an entry unset passes on one machine and not on another.
    Source: torch.utils.deterministic.fill_uninitialized_memory; NumPy has nothing like it.
    """
    mode, own = torch.get_deterministic_debug_mode(), {name: getattr(np, name) for name in _FILLED}
    torch.set_deterministic_debug_mode("warn")
    vars(np).update(_FILLED)
    try:
        yield
    finally:
        vars(np).update(own)
        torch.set_deterministic_debug_mode(mode)


@contextlib.contextmanager
def fresh_state():
    """Run with the defaults a notebook may have changed, and put back what it had.

    Default dtype float32 on the CPU, gradients on, unset memory NaN, warnings, prints and log records swallowed,
    and the global random generators as they were.
    """
    handle = logging.Logger.handle
    states = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        # A handler may hold the notebook's own stderr. Each change of logging.disable makes every logger forget much.
        logging.Logger.handle = swallow
        with (
            torch_defaults(),
            empty_is_nan(),
            torch.inference_mode(False),
            torch.enable_grad(),
            np.errstate(all="ignore"),
            warnings.catch_warnings(),
            contextlib.redirect_stdout(Quiet()),
            contextlib.redirect_stderr(Quiet()),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.Logger.handle = handle
        torch.set_rng_state(states[0])
        np.random.set_state(states[1])
        random.setstate(states[2])


@contextlib.contextmanager
def later_state():
    """As fresh_state, with the global random generators further on than they are."""
    with fresh_state():
        torch.rand(999)
        np.random.rand(999)
        random.random()
        yield
