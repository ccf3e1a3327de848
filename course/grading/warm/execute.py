"""Any ``SandboxedExecute`` with warm kernels."""

import atexit
import functools
import importlib
import logging

from course.grading.examination import ExaminedExecute
from course.grading.sandbox.execute import SandboxedExecute
from course.grading.warm.kernel import WarmKernel
from course.grading.warm.process import NoFork, WarmProcess, student_modules

log = logging.getLogger(__name__)


def import_checks():
    """Import torch and the checks in this process too, for the processes forked from it, on one thread."""
    import torch

    torch.set_num_threads(1)
    for name in student_modules():
        if name.startswith("course.checks"):
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


class Warm:
    """Mixed in before a SandboxedExecute: its student's process is a fork of the warm process."""

    def make_kernel(self):
        make_cold = super().make_kernel
        warm = None if self.unconfined else warm_process()
        return WarmKernel(warm, make_cold, self.folder, self.config) if warm else make_cold()


@functools.cache
def warmed(execute):
    """A subclass of ``execute``, a SandboxedExecute, with warm kernels; its settings are those of ``execute``."""
    if not issubclass(execute, SandboxedExecute):
        raise TypeError(f"{execute.__name__} cannot be warmed: it is no SandboxedExecute")
    return execute if issubclass(execute, Warm) else type(f"Warm{execute.__name__}", (Warm, execute), {})


# For the configuration of plain nbgrader, which takes a dotted name.
WarmExaminedExecute = warmed(ExaminedExecute)
