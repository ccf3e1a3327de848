"""What a process does once before it grades, or forks others that do, and what such a fork does first."""

import ctypes
import gc
import os
import signal

from course.grading.sandbox.availability import require_sandbox
from course.grading.sandbox.execute import SandboxedExecute
from course.grading.warm.execute import import_course, warm_process

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def get_ready(course):
    """Import the course, make sure of the sandbox, and start the warm process that all students' processes come from.

    SandboxUnavailable where students' code cannot be confined and ``course`` does not allow to run it all the same.
    """
    import_course()
    if not SandboxedExecute(config=course.config).unconfined:
        require_sandbox(course.root)
        warm_process()


def freeze():
    """Keep forks from copying the pages that they share with this process whenever they collect garbage."""
    gc.collect()
    gc.freeze()


def end_with(parent):
    """In a fork: end when the process ``parent`` ends, at once if it already has."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
