"""Any ``SandboxedExecute`` with warm kernels."""

import atexit
import functools
import importlib
import itertools
import logging

from course.grading.examination import ExaminedExecute
from course.grading.sandbox.execute import SandboxedExecute
from course.grading.warm.kernel import WarmKernel
from course.grading.warm.process import NoFork, WarmProcess, student_modules

log = logging.getLogger(__name__)


def import_course():
    """Import torch, the checks and what lessons import in this process too, for those forked from it, on one thread."""
    import torch

    torch.set_num_threads(1)
    for name in student_modules():
        importlib.import_module(name)


@functools.cache
def warm_process():
    """The warm process of this grader and of those forked from it, started when first asked for; None without one."""
    try:
        warm = WarmProcess().start()
    except (NoFork, OSError) as trouble:
        log.warning("No warm start, so every kernel is cold: %s", trouble)
        return None
    atexit.register(warm.stop)
    return warm


started = itertools.count()  # submissions for which this process has made a kernel


class Warm:
    """Mixed in before a SandboxedExecute: its student's process is a fork of the warm process.

    The first submission of a process does not wait for one: alone, as after a click in formgrader, it is done sooner
    in a cold kernel.
    """

    def make_kernel(self):
        make_cold = super().make_kernel
        worth_it = next(started) > 0 or warm_process.cache_info().currsize > 0
        warm = warm_process() if worth_it and not self.unconfined else None
        return WarmKernel(warm, make_cold, self.folder, self.config) if warm else make_cold()


@functools.cache
def warmed(execute):
    """A subclass of ``execute``, a SandboxedExecute, with warm kernels; its settings are those of ``execute``."""
    if not issubclass(execute, SandboxedExecute):
        raise TypeError(f"{execute.__name__} cannot be warmed: it is no SandboxedExecute")
    return execute if issubclass(execute, Warm) else type(f"Warm{execute.__name__}", (Warm, execute), {})


# For the configuration of plain nbgrader, which takes a dotted name.
WarmExaminedExecute = warmed(ExaminedExecute)
