"""When a submission starts warm: from the second of a process on, or as soon as there is a warm process."""

import functools
import itertools

import pytest

from course.grading.sandbox.kernel import Kernel
from course.grading.warm import execute
from course.grading.warm.kernel import WarmKernel


@pytest.fixture
def kernels(monkeypatch):
    """kernels(unconfined): the kinds of kernel that three submissions of one process get; and the warm process."""
    monkeypatch.setattr(execute, "started", itertools.count())
    monkeypatch.setattr(execute, "warm_process", functools.cache(object))

    def kinds(unconfined=False):
        made = []
        for _ in range(3):
            step = execute.WarmExaminedExecute(unconfined=unconfined)
            step.folder = None
            made.append(type(step.make_kernel()))
        return made

    return kinds


def test_one_alone_does_not_wait_for_imports(kernels):
    assert kernels() == [Kernel, WarmKernel, WarmKernel]


def test_all_are_warm_where_the_warm_process_is_there(kernels):
    execute.warm_process()
    assert kernels() == [WarmKernel] * 3


def test_none_is_where_there_is_no_sandbox(kernels):
    execute.warm_process()
    assert kernels(unconfined=True) == [Kernel] * 3


def test_all_are_cold_where_no_warm_process_starts(kernels, monkeypatch):
    monkeypatch.setattr(execute, "warm_process", functools.cache(lambda: None))
    assert kernels() == [Kernel] * 3
