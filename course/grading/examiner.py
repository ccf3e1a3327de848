"""The trusted side of an exam in two processes: test cells run here, the student's code elsewhere.

A test cell sees ``Student`` in the place of the student's names: what it calls is asked for over a
channel and answered with plain values, and comparing and judging stay on this side. The student's
process never sees a test's text or an expected value, and nothing it patches reaches the verdict.
"""

import contextlib
import io
from typing import NamedTuple

from course.checks import wire
from course.checks.failure import CheckFailed
from course.checks.servant import ASKABLE, Candidate, Layer


class StudentGone(Exception):
    """The student's process gave no answer; the text says which limit it met."""


class Student:
    """The student's process. ``ask`` takes a request and returns the reply, both JSON text, or raises StudentGone."""

    def __init__(self, ask):
        self.ask = ask
        self.exams = []  # that the test cell has made

    def candidate(self, name, from_scratch):
        """What the notebook calls ``name``; CheckFailed at the first question when it is not defined."""
        return RemoteCandidate(self, {"name": name, "from_scratch": from_scratch, "layer": None})

    def request(self, order, method, arguments=(), keywords=None):
        """Ask for one thing and return it."""
        order = order | {"method": method, "arguments": list(arguments), "keywords": keywords or {}}
        try:
            reply = wire.loads(self.ask(wire.dumps(order)))
        except StudentGone as gone:
            raise CheckFailed(
                f"{order['name']} gave no result: {gone}.", "Run it on a small input of your own first."
            ) from None
        except wire.WireError:
            reply = None
        kind, content = next(iter(reply.items())) if isinstance(reply, dict) and len(reply) == 1 else (None, None)
        if kind == "failure" and isinstance(content, tuple | list) and len(content) == 3:
            seen, hint, general = content
            raise CheckFailed(str(seen)[:400], str(hint)[:400], general=general is True)
        if kind not in ("result", "layer"):
            raise CheckFailed(f"{order['name']} gave an answer that cannot be read.", "Return what the docstring says.")
        if kind == "layer":
            return RemoteLayer(self, order | {"layer": content})
        return content

    def values(self, name):
        """{name: plain value}, such as the answer to a question; empty when the name is not defined.

        CheckFailed for a value that cannot be looked at.
        """
        found = self.request({"name": name, "from_scratch": False, "layer": None}, "value")
        if not isinstance(found, dict):
            raise CheckFailed(f"{name} gave an answer that cannot be read.", "Give it what its cell asks for.")
        return found


class _Remote:
    """Forwards the methods of the class it stands for."""

    def __init__(self, student, order):
        self.student, self.order, self.name = student, order, order["name"]


class RemoteCandidate(_Remote):
    """Stands for a Candidate in the student's process."""

    def seen_as(self, view, *arguments):
        """What ``view``, a function of course.checks, makes of the result there."""
        name = f"{view.__module__.removeprefix('course.checks.')}.{view.__name__}"
        return self.student.request(self.order, "seen_as", (name, *arguments))


class RemoteLayer(_Remote):
    """Stands for a Layer in the student's process."""


def _forward(method):
    def call(self, *arguments, **keywords):
        result = self.student.request(self.order, method, arguments, keywords)
        return self if method in ("train", "eval", "to") else result

    call.__name__ = method
    return call


for _stand_in, _original in ((RemoteCandidate, Candidate), (RemoteLayer, Layer)):
    for _method in ASKABLE[_original]:
        if _method not in vars(_stand_in):
            setattr(_stand_in, _method, _forward(_method))


class Outcome(NamedTuple):
    """What came of a test cell: what it printed, the failure or None, and whether every exam in it ran and held.

    A cell without a failure that proved nothing, for it made no exam or ran none, is a mistake of the course.
    """

    printed: str
    failure: CheckFailed | None
    proved: bool


def run_test(source, setup, student):
    """Run a test cell's source here, after the lesson's imports.

    Raises what a faulty test cell raises: that is the course's mistake, never the student's.
    """
    namespace, printed = {"__name__": "__examiner__", "__student__": student}, io.StringIO()
    exec(compile(setup, "<imports>", "exec"), namespace)
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, "<test>", "exec"), namespace)
        except CheckFailed as failure:
            return Outcome(printed.getvalue(), failure, proved=False)
    return Outcome(printed.getvalue(), None, bool(student.exams) and all(exam.held for exam in student.exams))
