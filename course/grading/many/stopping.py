"""Ctrl-C and SIGTERM: the first ends a run between two results, and a second, or one before any, the process at once.

Either is safe: a result is stored in one transaction, a folder put in place by one rename, and what was half done is
marked. The processes that grade, and those of the students, end with this one.
"""

import contextlib
import os
import signal
import sys
import threading

SIGNALS = (signal.SIGINT, signal.SIGTERM)
STOPPED = "Stopped; what was graded so far is stored, and the next run continues."


class Stop:
    """What has been asked for, and whether it has to wait."""

    def __init__(self):
        self.begun, self.asked, self.waits, self.told = False, False, False, False

    def handle(self, *_):
        if self.asked or not self.begun:
            if not self.told:
                os.write(sys.__stderr__.fileno(), f"\nError: {STOPPED}\n".encode())
            os._exit(2)
        self.asked = True
        if not self.waits:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def deferred(self):
        """Let the block come to its end first."""
        self.waits = True
        try:
            yield
        finally:
            self.waits = False
        if self.asked:
            raise KeyboardInterrupt


@contextlib.contextmanager
def stoppable():
    """A Stop that listens in the block, and after it where it was asked for: ending takes a moment, too."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():  # where no signal arrives
        yield stop
        return
    before = {number: signal.signal(number, stop.handle) for number in SIGNALS}
    try:
        yield stop
    finally:
        if not stop.asked:
            for number, handler in before.items():
                signal.signal(number, handler)
