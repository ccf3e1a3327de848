"""Questions to a student's process and its answers, within the limits of one cell."""

import contextlib
import time

from course.checks import frames
from course.grading.sandbox.kernel import POLITE, CellRun
from course.grading.sandbox.outputs import Outputs

LONGEST_WAIT = 60  # seconds in which a process has to read a request of a few kilobytes
SERVE = "from course.checks import servant as __servant__; __servant__.serve({})"


class Ended(Exception):
    """No answer came; ``ending`` is that of ``kernel.Run``, "silent" or "unreadable"."""

    def __init__(self, ending):
        super().__init__(ending)
        self.ending = ending


class Exchange(CellRun):
    """One exam: the kernel runs ``serve`` as if it were a cell, and answers what is asked meanwhile.

    An exchange that does not end in good order ends the kernel: nobody knows what it would answer next.
    """

    def __init__(self, kernel, time_limit, output_limit):
        super().__init__(kernel, Outputs(output_limit))
        self.received, self.answer = bytearray(), None
        self.begin(SERVE.format(kernel.line_inside), time_limit, silent=True)

    def ask(self, request):
        """The answer to a request, both JSON text. Ended where there is none."""
        if self.ending != "finished":
            raise Ended(self.ending)
        self.send(request)
        while self.answer is None:
            if self.complete():
                self.ending = "silent"
            if not self.step() or self.ending != "finished":
                raise Ended(self.ending)
        answer, self.answer = self.answer, None
        return answer

    def send(self, text):
        self.kernel.line.settimeout(max(0.1, min(self.deadline - time.monotonic(), LONGEST_WAIT)))
        with contextlib.suppress(OSError):  # it is gone or does not read: no answer will come, and step finds out why
            frames.send(self.kernel.line, text)

    def readers(self):
        return {**super().readers(), self.kernel.line.fileno(): self.read_answer}

    def read_answer(self):
        """Take in a part of the answer."""
        try:
            data = self.kernel.line.recv(2**18)
        except OSError:
            data = b""
        if not data:  # the other end is closed: soon the process is gone, or the reply comes
            time.sleep(0.01)
            return
        self.received += data
        try:
            self.answer = frames.take(self.received)
        except ValueError:
            self.ending = "unreadable"

    def finish(self):
        """Tell the kernel that the exam is over; the Run, with the kernel ended where it did not stay in order."""
        if self.ending == "finished":
            self.send("")
            self.deadline = time.monotonic() + POLITE
            while not self.complete() and self.ending == "finished" and self.step():
                pass
        in_order = self.ending == "finished" and self.reply and self.reply.get("status") == "ok" and not self.received
        if not in_order:
            self.kernel.stop()
        return self.outcome()
