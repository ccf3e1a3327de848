"""What a sandbox uses is counted over all its processes, and nothing twice."""

import os
import signal
import subprocess
import sys

import pytest

from course.grading.sandbox.limits import MIB, Limits
from course.grading.sandbox.watch import Watcher

FORKS = """
import os, time
held = bytearray(40 * 2**20)
for _ in range(3):
    if os.fork() == 0:
        {}
        print("ready", flush=True)
        time.sleep(1000)
time.sleep(1000)
"""


@pytest.fixture
def start():
    """start(source) -> a running Python, ended after the test with everything that it started."""
    running = []

    def run(source):
        command = [sys.executable, "-I", "-S", "-c", source]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True))
        return running[-1]

    yield run
    for process in running:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize(("work", "passed"), [("pass", None), ("own = held + b'x'", "memory")])
def test_memory_that_processes_share_counts_once(start, work, passed):
    process = start(FORKS.format(work))
    for _ in range(3):
        process.stdout.readline()
    assert Watcher(process.pid, Limits(memory=100 * MIB), stop=None).passed() == passed
