"""A small assignment in the form of the lessons, a right submission to it, and a way to count its points."""

import json

import pytest
from nbformat import validate, writes
from nbformat.notebooknode import from_dict
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.grading.intake import Assignment, settle
from tests.grading.conftest import nbgrader_mark

NAME = "02_how_it_works"
TESTS = ["test_double", "test_half", "test_Scaler_one", "test_Scaler_many", "test_letter_question"]

DOUBLE = '''def double(x):
    """Twice x."""
    ### BEGIN SOLUTION
    return 2 * x
    ### END SOLUTION'''
HALF = '''def half(x):
    """x divided by two."""
    ### BEGIN SOLUTION
    return x / 2
    ### END SOLUTION'''
SCALER = '''class Scaler:
    """Multiplies by a factor."""

    def __init__(self, factor):
        ### BEGIN SOLUTION
        self.factor = factor
        ### END SOLUTION

    def forward(self, x):
        ### BEGIN SOLUTION
        return self.factor * x
        ### END SOLUTION'''
LETTER = """letter_question = ""  # one letter
### BEGIN SOLUTION
letter_question = "B"
### END SOLUTION"""


def _solution(name, text):
    return new_code_cell(text, metadata=nbgrader_mark(name, solution=True))


def _test(name, visible, hidden, points):
    text = f"{visible}\n### BEGIN HIDDEN TESTS\n{hidden}\n### END HIDDEN TESTS"
    return new_code_cell(text, metadata=nbgrader_mark(name, grade=True, locked=True, points=points))


@pytest.fixture(scope="session")
def small_lesson():
    """small_lesson() -> the source notebook, with solutions and hidden tests."""
    return _small_lesson


@pytest.fixture
def source():
    return _small_lesson()


def _small_lesson():
    cells = [
        new_markdown_cell("# A small lesson\n\nIn the form of the real ones."),
        new_code_cell("import math"),
        new_markdown_cell("Write `double`, one line, 1 minute, 2 points."),
        _solution("double", DOUBLE),
        _test("test_double", "assert double(1) == 2", "assert double(math.pi) == 2 * math.pi", 2),
        new_markdown_cell("Write `half`, one line, 1 minute, 1 point."),
        _solution("half", HALF),
        _test("test_half", "assert half(2) == 1", "assert half(7) == 3.5", 1),
        new_code_cell("demonstration = [n * n for n in range(4)]\nprint(demonstration)"),
        new_markdown_cell("Write the class `Scaler`, 4 lines, 3 minutes, 3 points."),
        _solution("Scaler", SCALER),
        _test("test_Scaler_one", "assert Scaler(1).forward(4) == 4", "assert Scaler(1).factor == 1", 1),
        _test("test_Scaler_many", "assert Scaler(3).forward(4) == 12", "assert Scaler(0).forward(9) == 0", 2),
        new_markdown_cell("Which letter comes after A?"),
        _solution("letter_question", LETTER),
        _test("test_letter_question", "assert letter_question in 'ABC'", "assert letter_question == 'B'", 1),
        new_markdown_cell(
            "What changed, and why?\n### BEGIN MARK SCHEME\nThe factor.\n### END MARK SCHEME",
            metadata=nbgrader_mark("interpretation", locked=True, task=True, points=5),
        ),
        new_markdown_cell("*Your answer here.*", metadata={"course": {"answer_to": "interpretation"}}),
        new_markdown_cell("## The end"),
    ]
    kernel = {"name": "python3", "language": "python", "display_name": "Python 3 (ipykernel)"}
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


@pytest.fixture
def assignment(source):
    return Assignment.from_source(NAME, source)


@pytest.fixture
def released(assignment):
    """What students were given."""
    notebook = from_dict(json.loads(writes(assignment.graded)))
    for slot, cell in zip(assignment.slots, notebook.cells, strict=True):
        cell.source = slot.released
    return notebook


@pytest.fixture
def solved(released, source):
    """A right submission, as JupyterLab saves it."""
    released = from_dict(released)
    for cell, original in zip(released.cells, source.cells, strict=True):
        if original.metadata.get("nbgrader", {}).get("solution"):
            cell.source = "\n".join(line for line in original.source.splitlines() if "### " not in line)
        if "course" in original.metadata:
            cell.source = "The factor changed, because I set it."
    return released


def points_of(notebook):
    """Points that the tests of a clean notebook give when its cells run from the top, and the ids of its tests."""
    names, earned, tests = {}, 0, []
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        try:
            exec(compile(cell.source, "<cell>", "exec"), names)
            passed = True
        except Exception:
            passed = False
        meta = cell.metadata.get("nbgrader", {})
        if meta.get("grade"):
            tests.append(meta["grade_id"])
            earned += meta["points"] * passed
    return earned, tests


class Handed(dict):
    """The JSON of a notebook that is about to be handed in, and a way to find its cells."""

    def __init__(self, notebook, released):
        super().__init__(json.loads(writes(notebook)))
        self.released = released

    def at(self, grade_id):
        """Index of a cell."""
        ids = [cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in self["cells"]]
        return ids.index(grade_id)

    def cell(self, grade_id):
        return self["cells"][self.at(grade_id)]

    def data(self):
        return json.dumps(self, indent=1, ensure_ascii=False).encode()

    def blank(self):
        """The notebook as it was released."""
        return Handed(self.released, self.released)


@pytest.fixture
def judge(assignment, solved, released):
    """judge(change, verdict, points): the Intake of a right submission after a change, with that verdict and points."""

    def judged(change, verdict, points=None):
        handed = change(Handed(solved, released))
        is_notebook = "cells" in handed or "worksheets" in handed
        files = {f"{NAME}.ipynb": json.dumps(handed, ensure_ascii=False).encode()} if is_notebook else handed
        intake = settle(assignment, files)
        assert intake.verdict is verdict, (intake.reason, intake.remarks)
        if points is not None:
            validate(intake.notebook)
            assert points_of(intake.notebook) == (points, TESTS)
        return intake

    return judged
