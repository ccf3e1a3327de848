"""A call off the main thread ends in time, and leaves nothing behind in the interpreter."""

import subprocess
import sys
import threading
import time

from course.live.deadline import DidNotEnd, deadline

PROFILED = """
import sys, threading
from course.live.deadline import DidNotEnd, deadline

def call(seconds, loop):
    try:
        with deadline(seconds):
            while loop:
                pass
    except DidNotEnd:
        pass

for arguments in ((30, False), (0.05, True)):
    thread = threading.Thread(target=call, args=arguments)
    thread.start()
    thread.join()
sys.setprofile(lambda *event: None)
(lambda: None)()
sys.setprofile(None)
print("went on")
"""


def test_a_profiled_call_goes_on_after_a_deadline():
    """An asynchronous exception that is taken back leaves a flag, at which CPython 3.11 hangs when it profiles."""
    run = subprocess.run([sys.executable, "-c", PROFILED], capture_output=True, text=True, timeout=120)
    assert run.stdout == "went on\n", run.stderr


def test_a_deadline_that_falls_on_the_end_of_its_block_is_raised_there_or_never():
    def race():
        for _ in range(300):
            try:
                with deadline(0.001):
                    time.sleep(0.001)
            except DidNotEnd:
                ended.append(True)
        for _ in range(10_000):  # where one that is late would fall
            pass
        came_through.append(True)

    ended, came_through = [], []
    thread = threading.Thread(target=race)
    thread.start()
    thread.join()
    assert came_through and ended
