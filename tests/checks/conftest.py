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
            exec("Exam(name, *checks, from_scratch=from_scratch).run()", namespace)
        except CheckFailed as failure:
            assert len(str(failure).splitlines()) <= 3
            return str(failure)
        return ""

    return run
