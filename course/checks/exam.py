"""An exam: one exercise, its checks in order, and a message that shows how far the answer got."""

import functools
from collections import Counter
from typing import NamedTuple

from course.checks.candidate import Candidate
from course.checks.exceptions import sentence
from course.checks.failure import CheckFailed
from course.checks.notebook import enrol, student_namespace
from course.checks.repetition import Repeatable
from course.checks.state import fresh_state


class Check(NamedTuple):
    """A title and a function that takes the candidate and raises CheckFailed."""

    title: str
    run: object


def check(title):
    """Make ``function(candidate, **case)`` a maker of checks: ``function(**case)`` gives the Check.

    The title is what a student sees in the list of checks; it may use the case: ``"mask of {kind}"``.
    """

    def decorate(function):
        @functools.wraps(function)
        def make(**case):
            return Check(title.format(**case), functools.partial(_call, function, case))

        return make

    return decorate


def _call(function, case, candidate):
    return function(candidate, **case)


class Exam:
    """The exam of what the notebook calls ``name``.

    ``add`` puts further checks behind those given here; ``run`` goes through them in order, prints
    the list when all hold, and raises CheckFailed with the list, what was seen and a hint otherwise.
    """

    def __init__(self, name, *checks, from_scratch=False):
        self.name, self.checks, self.from_scratch = name, list(checks), from_scratch
        self.namespace = student_namespace()
        self.held = False  # whether all checks ran and held
        enrol(self)

    def add(self, *checks):
        """Put checks at the end of the list."""
        self.checks.extend(checks)

    def candidate(self):
        """The student's object: in this notebook, or behind ``__student__`` where it runs in another process."""
        elsewhere = self.namespace.get("__student__")
        if elsewhere is not None:
            return elsewhere.candidate(self.name, self.from_scratch)
        return Candidate(self.name, self.namespace, self.from_scratch)

    def run(self):
        """Run all checks; the first that fails ends the exam."""
        passed, candidate = 0, None
        try:
            candidate = Repeatable(self.candidate())
            for item in self.checks:
                with fresh_state():
                    item.run(candidate)
                passed += 1
        except CheckFailed as failure:
            cause = candidate.complaint() if failure.general else None
            raise CheckFailed(failure.seen, cause or failure.hint, self.progress(passed)) from None
        except Exception as error:  # a result so odd that comparing it raises
            raise CheckFailed(
                f"what {self.name} returned cannot be examined ({sentence(error)}).",
                "Return what the docstring says, of that very type.",
                self.progress(passed),
            ) from error
        self.held = passed > 0
        print(self.progress(passed))

    def progress(self, passed):
        """One line: the name, and each check with a tick, a cross, or a dot where it was not reached.

        A title that comes again, with other cases, is numbered.
        """
        marks, seen, parts = ["✓"] * passed + ["✗"] + ["·"] * len(self.checks), Counter(), []
        for item, mark in zip(self.checks, marks, strict=False):
            seen[item.title] += 1
            number = f" ({seen[item.title]})" if seen[item.title] > 1 else ""
            parts.append(f"{item.title}{number} {mark}")
        return f"{self.name}: " + ", ".join(parts)
