"""An end for a call that the stop button does not reach."""

import ctypes
import threading
from contextlib import contextmanager


class DidNotEnd(BaseException):
    """Raised inside a call that takes too long; what a student writes against an ``Exception`` does not keep it."""


@contextmanager
def deadline(seconds):
    """Raise DidNotEnd in the block after so many seconds, unless it runs on the main thread.

    JupyterLab has what a slider causes run on a thread of its own, and an interrupt goes to the main thread: without a
    deadline nothing but a restart of the kernel would end a loop there. It ends Python code, not one long operation.
    """
    if threading.current_thread() is threading.main_thread():
        yield
        return
    here = threading.get_ident()
    timer = threading.Timer(seconds, raise_in, (here, DidNotEnd))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        raise_in(here, None)  # one that came in the last moment, and is not raised yet


def raise_in(thread, error):
    """Let a thread raise an exception at its next step in Python; None takes back what it has not raised yet."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error and ctypes.py_object(error))
