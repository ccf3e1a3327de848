"""Jupyter starts confined kernels by name, and nothing outlives them."""

import os
import signal
import subprocess
import sys
import time
import uuid
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace

import pytest
from jupyter_client.kernelspec import KernelSpec

from course.grading.sandbox.kernel import ConfinedKernelManager, Kernel
from course.grading.sandbox.provisioner import SandboxProvisioner, socket_folder

LONGEST_SOCKET_PATH = 107

LEAVE_BEHIND = """
import os, subprocess
for _ in range(3):
    subprocess.Popen(["sh", "-c", "sleep 1000; : {mark}"], start_new_session=True)
    if os.fork() == 0:
        os.setsid()
        os.execvp("sh", ["sh", "-c", "sleep 1000; : {mark}"])
"""


def alive_with(mark):
    """Processes of this machine whose command line has ``mark``."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and mark in (folder / "cmdline").read_text():
                found.append(int(folder.name))
        except OSError:
            pass
    return found


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def test_jupyter_finds_the_provisioner():
    [entry] = entry_points(group="jupyter_client.kernel_provisioners", name="course-sandbox")
    assert entry.load() is SandboxProvisioner


def test_a_stopped_kernel_leaves_no_process_and_no_file(sandbox, config):
    mark = uuid.uuid4().hex
    kernel = Kernel(ConfinedKernelManager, config=config).start()
    folder, watcher = Path(kernel.manager.provisioner.folder), kernel.manager.provisioner.watcher
    kernel.run(LEAVE_BEHIND.format(mark=mark), 20, 10**6)
    assert wait_until(lambda: len(alive_with(mark)) >= 6)
    assert folder.is_dir()
    kernel.stop()
    assert wait_until(lambda: not alive_with(mark))
    assert wait_until(lambda: not watcher.is_alive())
    assert not folder.exists()


def test_nothing_outlives_a_grader_killed_with_9(sandbox):
    mark = uuid.uuid4().hex
    grader = (
        "import sys; from course.grading.sandbox.kernel import ConfinedKernelManager, Kernel\n"
        "kernel = Kernel(ConfinedKernelManager).start(); kernel.run(sys.argv[1], 20, 10**6)\n"
        "print('ready', flush=True); input()"
    )
    arguments = [sys.executable, "-c", grader, LEAVE_BEHIND.format(mark=mark)]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        assert wait_until(lambda: len(alive_with(mark)) > 6)  # the grader itself carries the mark too
        process.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not alive_with(mark))


def test_sockets_are_ipc_in_a_short_private_folder(mortal_kernel):
    if not mortal_kernel.is_alive():
        mortal_kernel.restart()
    manager = mortal_kernel.manager
    assert manager.transport == "ipc" and os.path.isabs(manager.ip)
    assert len(f"{manager.ip}-{manager.shell_port}") < LONGEST_SOCKET_PATH
    assert os.stat(os.path.dirname(manager.ip)).st_mode & 0o777 == 0o700


def test_a_long_temporary_folder_is_not_used_for_sockets(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / ("long" * 30)))
    folder = Path(socket_folder())
    folder.rmdir()
    assert len(str(folder)) < 60


def test_folders_of_graders_that_were_killed_are_taken_away(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("course.grading.sandbox.provisioner.LONGEST_FOLDER", 1000)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    for owner in (ended.pid, os.getpid()):
        (tmp_path / f"sandbox-{owner}-x").mkdir()
    socket_folder()
    assert not (tmp_path / f"sandbox-{ended.pid}-x").exists()
    assert (tmp_path / f"sandbox-{os.getpid()}-x").exists()


def test_folders_of_other_users_are_left_alone(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("course.grading.sandbox.provisioner.LONGEST_FOLDER", 1000)
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    theirs = tmp_path / f"sandbox-{ended.pid}-x"
    theirs.mkdir()
    monkeypatch.setattr("os.geteuid", lambda: theirs.stat().st_uid + 1)
    socket_folder()
    assert theirs.exists()


def test_a_sandbox_that_is_ended_says_from_the_first_moment_for_which_limit():
    provisioner, said = SandboxProvisioner(), []
    provisioner.process = SimpleNamespace(kill=lambda: said.append(provisioner.stopped_for))
    provisioner.stop_for("memory")
    assert said == ["memory"]


def test_ctrl_c_in_the_grader_s_terminal_does_not_reach_the_sandbox(own_kernel):
    assert os.getpgid(own_kernel.manager.provisioner.pid) != os.getpgrp()


def test_an_interrupt_ends_the_cell_and_not_the_sandbox(own_kernel):
    assert own_kernel.manager.kernel_spec.interrupt_mode == "message"
    assert own_kernel.run("while True: pass", 1, 10**6).alive
    assert own_kernel.run("1 + 1", 20, 10**6).succeeded


def test_a_kernel_that_is_not_python_is_refused(sandbox):
    class Other(ConfinedKernelManager):
        kernel_spec = KernelSpec(
            argv=["julia", "{connection_file}"],
            metadata={"kernel_provisioner": {"provisioner_name": "course-sandbox", "config": {}}},
        )

    kernel = Kernel(Other)
    with pytest.raises(ValueError, match="the sandbox runs ipykernel only"):
        kernel.start()
    kernel.stop()
