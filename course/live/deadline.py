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
    guard = Guard(threading.get_ident())
    timer = threading.Timer(seconds, guard.fire)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        guard.lift()
        timer.cancel()
        timer.join()


class Guard:
    """Raises DidNotEnd in a thread, once, and not after it was lifted."""

    def __init__(self, thread):
        self.thread, self.lock = thread, threading.Lock()
        self.lifted = False

    def fire(self):
        with self.lock:
            if not self.lifted:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.thread), ctypes.py_object(DidNotEnd))

    def lift(self):
        """Let nothing come any more; what was fired in the last moment is raised here.

        It is not taken back: that leaves a flag in the interpreter, and with a profile function, such as the watch of
        exercises from scratch, CPython 3.11 then hangs at the next call.
        """
        with self.lock:
            self.lifted = True
        for _ in range(100):  # the interpreter looks for it at each step back
            pass
