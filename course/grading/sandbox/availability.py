"""Whether this machine can confine a kernel, and the one sentence that says why not."""

import functools
import shutil
import subprocess
import sys

from course.grading.sandbox import view

WAY_OUT = "or set SandboxedExecute.unconfined = True to run students' code without protection"


class SandboxUnavailable(SystemExit):
    """Ends grading, not one submission: nothing may run before the instructor has decided."""


def bubblewrap():
    """Path of the bubblewrap program; SandboxUnavailable where there is none."""
    path = shutil.which("bwrap")
    if path is None:
        raise SandboxUnavailable(
            f"Grading stops: bubblewrap is needed to run students' code safely and is not installed; "
            f"install the package bubblewrap on Linux, grade on a Linux machine, {WAY_OUT}."
        )
    return path


def require_sandbox(folder=None):
    """Return when a sandbox that hides ``folder`` can be made here; else raise SandboxUnavailable, one sentence."""
    if sys.platform != "linux":
        raise SandboxUnavailable(
            f"Grading stops: students' code runs in a Linux sandbox and this is {sys.platform}; "
            f"grade on a Linux machine, {WAY_OUT}."
        )
    if folder and (shown := view.shows(folder)):
        raise SandboxUnavailable(
            f"Grading stops: the course lies in {shown}, which students' code can read; move the course elsewhere, "
            f"{WAY_OUT}."
        )
    try_sandbox()


@functools.cache
def try_sandbox():
    """Make a sandbox, once in a process; SandboxUnavailable where that fails."""
    user = view.separate_user()
    if user is not None and (unreadable := view.unreadable_folder()):
        raise SandboxUnavailable(
            f"Grading stops: students' code runs as another user than root, who cannot read {unreadable}; "
            f"run chmod -R o+rX on it, grade as an ordinary user, {WAY_OUT}."
        )
    mounts, python, _ = view.mounts(scratch_size=2**20)
    attempt = subprocess.run(
        [bubblewrap(), *view.isolation(user), *mounts, "--", *python, "-c", ""],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={},
    )
    if attempt.returncode:
        reason = (attempt.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise SandboxUnavailable(
            f"Grading stops: bubblewrap cannot make a sandbox on this machine ({reason}); "
            f"allow unprivileged user namespaces, grade on another machine, {WAY_OUT}."
        )
