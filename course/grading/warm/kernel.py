"""One fork of the warm process, used like a notebook kernel; a cold kernel where no fork can be had."""

import contextlib
import logging
import platform
import select
import signal
import time

from course.checks import frames
from course.grading.sandbox.exchange import Ended
from course.grading.sandbox.kernel import FLOOD, POLITE, Run
from course.grading.sandbox.outputs import Outputs
from course.grading.sandbox.provisioner import SandboxProvisioner
from course.grading.sandbox.watch import Watcher
from course.grading.warm.channel import CHUNK, BadMessage, pack
from course.grading.warm.process import NoFork

UNREADABLE = "An output is left out, which cannot be written into a notebook or is too large for one ({})."
SHORTEST = 0.1  # seconds for a question, however little of the exam's time is left
log = logging.getLogger(__name__)
PYTHON = {  # what ipykernel says of its language
    "name": "python",
    "version": platform.python_version(),
    "mimetype": "text/x-python",
    "codemirror_mode": {"name": "ipython", "version": 3},
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
    "file_extension": ".py",
}


class WarmKernel:
    """A student's process with the methods of ``sandbox.kernel.Kernel``.

    ``warm`` is the WarmProcess; ``make_cold`` makes the Kernel that takes over where there is no fork. The data files
    in ``folder`` are there to be read.
    """

    def __init__(self, warm, make_cold, folder=None, config=None):
        settings = SandboxProvisioner(config=config)
        self.warm, self.make_cold, self.folder = warm, make_cold, folder
        self.limits, self.watch_interval = settings.limits, settings.watch_interval
        self.cold = self.fork = self.watcher = None
        self.stopped_for, self.requests = None, 0

    def start(self):
        self.stopped_for = None
        try:
            self.fork = self.warm.fork(self.limits, self.folder)
        except NoFork as trouble:
            log.warning("No warm start, so a cold kernel is used: %s", trouble)
            self.cold = self.make_cold().start()
            return self
        self.watcher = Watcher(self.fork.pid, self.limits, self.stop_for, self.watch_interval)
        self.watcher.start()
        return self

    def stop_for(self, kind):
        """End the fork because it passed the limit ``kind``; called from the watcher's thread."""
        self.stopped_for = kind
        self.fork.signal(signal.SIGKILL)

    def stop(self):
        """End the fork at once; every process in it ends too."""
        if self.cold:
            self.cold.stop()
        if self.fork:
            self.watcher.end()
            self.watcher.join()
            self.fork.end()
        self.cold = self.fork = self.watcher = None

    def restart(self):
        self.stop()
        return self.start()

    def is_alive(self):
        return self.cold.is_alive() if self.cold else self.fork is not None and self.fork.is_alive()

    def ended_for(self):
        """The limit for which it was ended, or None."""
        return self.cold.ended_for() if self.cold else self.stopped_for

    def language_info(self):
        return self.cold.language_info() if self.cold else PYTHON

    def run(self, source, time_limit, output_limit):
        """Run ``source``; its ``time_limit`` (s) holds even for code that ignores interrupts."""
        if self.cold:
            return self.cold.run(source, time_limit, output_limit)
        return self.request({"cell": source}, time_limit, output_limit)

    def exchange(self, time_limit, output_limit):
        """An exam's questions to the process, within the limits of one cell."""
        return (
            self.cold.exchange(time_limit, output_limit) if self.cold else WarmExchange(self, time_limit, output_limit)
        )

    def request(self, order, time_limit, output_limit):
        """Send one request and take in what comes until its reply, its limit or its end."""
        return _Request(self, Outputs(output_limit)).until_end(order, time_limit)


class WarmExchange:
    """One exam: question after question, with the methods of ``sandbox.exchange.Exchange``.

    One that does not end in good order ends the fork: nobody knows what it would answer next.
    """

    def __init__(self, kernel, time_limit, output_limit):
        self.kernel, self.output_limit, self.first = kernel, output_limit, True
        self.started, self.ending, self.outputs = time.monotonic(), "finished", Outputs(output_limit)
        self.deadline = self.started + time_limit if time_limit else float("inf")

    def ask(self, text):
        """The answer to a request, both JSON text. Ended where there is none."""
        if self.ending != "finished":
            raise Ended(self.ending)
        left = self.deadline - time.monotonic()
        run = self.kernel.request(
            {"ask": {"text": text, "first": self.first}},
            max(left, SHORTEST) if left < float("inf") else None,
            self.output_limit,
        )
        self.ending, self.outputs, self.first = run.ending, run.outputs, False
        answer = (run.reply or {}).get("answer")
        if self.ending == "finished" and not isinstance(answer, str):
            self.ending = "silent"
        elif self.ending == "finished" and len(answer) > frames.LARGEST:
            self.ending = "unreadable"
        if self.ending != "finished":
            raise Ended(self.ending)
        return answer

    def finish(self):
        """The Run, with the fork ended where it did not stay in order."""
        if self.ending != "finished":
            self.kernel.stop()
        reply = {"status": "ok"} if self.ending == "finished" else None
        return Run(self.ending, reply, self.outputs, self.kernel.is_alive(), time.monotonic() - self.started)


class _Request:
    """The state of one request: what has been asked and what has been heard."""

    def __init__(self, kernel, outputs):
        self.kernel, self.outputs, self.fork = kernel, outputs, kernel.fork
        kernel.requests += 1
        self.number = kernel.requests
        self.reply, self.closed = None, False

    def until_end(self, order, time_limit):
        started = time.monotonic()
        deadline = started + time_limit if time_limit else float("inf")
        ending = "finished"
        if not self.say({"request": self.number, **order}):
            self.closed = True
        while self.reply is None and not self.closed:
            self.listen(min(1.0, max(0.0, deadline - time.monotonic())))
            flooded = self.outputs.received > FLOOD * self.outputs.limit
            late = time.monotonic() >= deadline
            if self.reply is not None or self.closed or not (late or (flooded and ending == "finished")):
                continue
            if ending == "finished":
                passed = self.kernel.watcher.passed()
                ending = passed or ("output" if flooded else "time")
                if passed:
                    break
                self.fork.signal(signal.SIGINT)
                deadline = time.monotonic() + POLITE
            else:
                break
        if self.reply is None:
            ending = self.kernel.stopped_for or ("died" if ending == "finished" else ending)
            self.kernel.stop()
        return Run(ending, self.reply, self.outputs, self.kernel.is_alive(), time.monotonic() - started)

    def say(self, message):
        """Send a message; False where nobody is left to read it."""
        data = memoryview(pack(message))
        while data:
            if not select.select([], [self.fork.line], [], POLITE)[1]:
                return False  # it reads nothing, and an honest one waits for requests
            try:
                data = data[self.fork.line.send(data) :]
            except OSError:
                return False
        return True

    def listen(self, seconds):
        """Take in what has arrived, waiting up to ``seconds`` for it."""
        if not select.select([self.fork.line], [], [], seconds)[0]:
            return
        try:
            data = self.fork.line.recv(CHUNK)
            for message, size in self.fork.unpacker.feed(data):
                self.hear(message, size)
        except (OSError, BadMessage):  # it is gone, or what it sends cannot be read any more
            self.closed = True
            return
        self.closed = not data

    def hear(self, message, size):
        """A student's process can send anything: what is not expected, or cannot be read, is no message."""
        if message.get("request") != self.number or self.reply is not None:
            return
        if isinstance(message.get("reply"), dict):
            self.reply = message["reply"]
        elif isinstance(message.get("unreadable"), str):
            self.outputs.note(UNREADABLE.format(message["unreadable"][:40]))
        elif isinstance(message.get("content"), dict) and isinstance(message.get("output"), str):
            with contextlib.suppress(Exception):
                self.outputs.add({"header": {"msg_type": message["output"]}, "content": message["content"]}, size)
