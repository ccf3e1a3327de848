"""A lesson read from its text: cells, exercises, stubs and test cells."""

import functools
import re
from dataclasses import dataclass, field
from pathlib import Path

import jupytext
from nbformat.v4 import new_code_cell

from course.grading.release import ClearAnswers

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "source"
SOLUTION = re.compile(r"^[ \t]*### BEGIN SOLUTION\n(.*?)^[ \t]*### END SOLUTION\n?", re.DOTALL | re.MULTILINE)


@dataclass
class Exercise:
    """One exercise: the cell that is answered and the cells that test it, by grade id."""

    name: str
    solution: str
    tests: dict[str, str] = field(default_factory=dict)
    points: dict[str, float] = field(default_factory=dict)

    @property
    def stub(self):
        """The cell as a student gets it."""
        cell = new_code_cell(self.solution)
        ClearAnswers()._replace_solution_region(cell, "python")
        return cell.source

    @property
    def is_question(self):
        return all("Question(" in test for test in self.tests.values())

    @property
    def is_one_line(self):
        """Whether the solution is one statement."""
        lines = [line for region in SOLUTION.findall(self.solution + "\n") for line in region.splitlines()]
        return len([line for line in lines if line.strip() and not line.lstrip().startswith("#")]) == 1

    def part(self, test_id):
        """Name of a test cell without the exercise's own: '' for the only one."""
        return test_id.removeprefix(f"test_{self.name}").removeprefix("_")


@dataclass
class Lesson:
    """A lesson: its notebook and its exercises by name, in order."""

    name: str
    path: Path
    notebook: object
    exercises: dict[str, Exercise]

    @property
    def setup(self):
        """Source of the first code cell, the imports."""
        return next(cell.source for cell in self.notebook.cells if cell.cell_type == "code")


@functools.cache
def read_lesson(name):
    """The Lesson in source/<name>/<name>.py."""
    path = SOURCE / name / f"{name}.py"
    notebook = jupytext.read(path)
    exercises = {}
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        if meta.get("solution") and not meta.get("grade"):
            exercises[meta["grade_id"]] = Exercise(meta["grade_id"], cell.source)
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        if meta.get("grade") and cell.cell_type == "code":
            owner = owner_of(meta["grade_id"], exercises)
            exercises[owner].tests[meta["grade_id"]] = cell.source
            exercises[owner].points[meta["grade_id"]] = meta["points"]
    return Lesson(name, path, notebook, exercises)


def owner_of(test_id, exercises):
    """Name of the exercise that a test cell belongs to: the longest name it starts with."""
    owners = [name for name in exercises if test_id == f"test_{name}" or test_id.startswith(f"test_{name}_")]
    if not owners:
        raise ValueError(
            f"test cell {test_id} belongs to no exercise: its id must start with test_ and a solution's id"
        )
    return max(owners, key=len)


def lesson_names():
    """Names of all lessons, in order."""
    return sorted(path.stem for path in SOURCE.glob("*/*.py"))
