"""A notebook in small: the student's cells and the test cell share one namespace."""

import linecache

import pytest

from course.checks import CheckFailed, Exam


@pytest.fixture
def examine():
    """examine(cell, *checks, name="answer", from_scratch=False): the message, or "" when all checks hold."""

    def run(cell, *checks, name="answer", from_scratch=False):
        namespace = {"Exam": Exam, "checks": checks, "name": name, "from_scratch": from_scratch}
        linecache.cache["<cell>"] = (len(cell), None, cell.splitlines(True), "<cell>")
        exec(compile(cell, "<cell>", "exec"), namespace)
        try:
            # Compiled: Python ends with the status of Ctrl-C once a text given to exec has let an interrupt through.
            exec(compile("Exam(name, *checks, from_scratch=from_scratch).run()", "<test>", "exec"), namespace)
        except CheckFailed as failure:
            assert len(str(failure).splitlines()) <= 3
            return str(failure)
        return ""

    return run
