"""One assignment's class as plain data, from the gradebook and the graded notebooks."""

import dataclasses
import json
import re
from typing import NamedTuple

import numpy as np
from nbgrader.api import Assignment, BaseCell, Grade, Notebook, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import or_

from course.grading.coursefolder import step_folder
from course.grading.report.sections import taught_sections
from course.grading.report.timing import active_minutes

ANSI = re.compile(r"\x1b\[[0-9;]*m")
SAID = (re.compile(r"^Hint: (.+)$", re.MULTILINE), re.compile(r"^Seen: (.+)$", re.MULTILINE))  # of a CheckFailed
PLACE = re.compile(r" ?\([^()]*, line \d+\)| ?at 0x[0-9a-f]+|<ipython-input-[^>]*>")  # differs for every student
MAX_MESSAGE = 160


@dataclasses.dataclass
class Exercise:
    """An exercise: its points, where it is taught, its released stub, and whether a person grades it."""

    name: str
    points: float
    section: tuple = ()
    stub: str = ""
    by_hand: bool = False


@dataclasses.dataclass
class Classroom:
    """N graded students' work on K exercises; ``absent`` handed in nothing, ``ungraded`` could not be graded.

    ``scores`` (N, K) is NaN where a grade is still missing.

    ``answers[n][k]`` is the source of an answer or None, ``blank`` (N, K) marks those left as released, and
    ``messages[n][k]`` is the hint that a failed test showed, or else its error, or None. ``minutes`` (N,) is NaN
    where unknown. ``cells`` maps the grade id of each of an exercise's cells to its k.
    """

    assignment: str
    students: list
    absent: int
    ungraded: int
    exercises: list
    cells: dict
    scores: np.ndarray
    answers: list
    blank: np.ndarray
    messages: list
    minutes: np.ndarray

    def maxima(self):
        return np.array([exercise.points for exercise in self.exercises])


def read_grades(course, gradebook, assignment):
    """The Classroom of one assignment as the gradebook has it; students who handed in nothing are only counted."""
    exercises, cells = _exercises(course, gradebook, assignment)
    grades = _grades(gradebook, assignment)
    handed_in = {grade.student for grade in grades}
    students = sorted({grade.student for grade in grades if grade.given})
    row = {student: number for number, student in enumerate(students)}
    scores = np.zeros((len(students), len(exercises)))
    for grade in grades:
        if grade.cell in cells and grade.student in row:
            scores[row[grade.student], cells[grade.cell]] += np.nan if grade.waiting else grade.score
    return Classroom(
        assignment,
        students,
        len(gradebook.students) - len(handed_in),
        len(handed_in) - len(students),
        exercises,
        cells,
        scores,
        [[None] * len(exercises) for _ in students],
        np.zeros(scores.shape, bool),
        [[None] * len(exercises) for _ in students],
        np.full(len(students), np.nan),
    )


def read_notebooks(course, classroom, done):
    """Fill in what the notebooks show; a missing or damaged one leaves its rows as they are. ``done()`` after each."""
    for number in range(len(classroom.students)):
        _read_student(course, classroom, number)
        done()


def _exercises(course, gradebook, assignment):
    """(exercises in the lesson's order, {grade id of any of their cells: exercise's index})."""
    sections, stubs = taught_sections(step_folder(course, "source"), assignment), {}
    for path in sorted((step_folder(course, "release") / assignment).glob("*.ipynb")):
        stubs |= {grade_id: source for grade_id, source, _ in _marked_cells(path)}
    place = {grade_id: number for number, grade_id in enumerate(sections)}
    exercises, cell_names = {}, {}
    for notebook in gradebook.find_assignment(assignment).notebooks:
        solutions = {cell.name for cell in notebook.solution_cells}
        cell_names |= {name: name for name in solutions}
        for cell in [*notebook.grade_cells, *notebook.task_cells]:
            name = cell_names[cell.name] = exercise_of(cell.name, solutions)
            section = sections.get(name, sections.get(cell.name, ()))
            exercise = exercises.setdefault(name, Exercise(name, 0, section, stubs.get(name, "")))
            exercise.points += cell.max_score
            exercise.by_hand |= name == cell.name
    scored = (name for name in exercises if exercises[name].points)
    names = sorted(scored, key=lambda name: (place.get(name, len(place)), name))
    index = {cell: names.index(name) for cell, name in cell_names.items() if name in names}
    return [exercises[name] for name in names], index


def exercise_of(cell_name, solutions):
    """The exercise a cell belongs to: ``test_`` + name, or ``test_`` + name + ``_`` + part, or the name itself."""
    tested = cell_name.removeprefix("test_")
    if tested == cell_name:
        return cell_name
    fitting = [name for name in solutions if tested == name or tested.startswith(f"{name}_")]
    return max(fitting, key=len, default=tested)


class _Grade(NamedTuple):
    """A grade of one cell: given by test or hand, or waiting for a hand."""

    student: str
    cell: str
    score: float
    waiting: bool
    given: bool


def _grades(gradebook, assignment):
    """Every _Grade of an assignment, in one query."""
    given = or_(Grade.auto_score.isnot(None), Grade.manual_score.isnot(None))
    rows = (
        gradebook.db.query(SubmittedAssignment.student_id, BaseCell.name, Grade.score, Grade.needs_manual_grade, given)
        .select_from(Grade)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .join(SubmittedNotebook, Grade.notebook_id == SubmittedNotebook.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(Assignment.name == assignment)
    )
    return [_Grade(*values) for values in rows]


def _read_student(course, classroom, number):
    student = classroom.students[number]
    for path in sorted((step_folder(course, "autograded") / student / classroom.assignment).glob("*.ipynb")):
        for grade_id, source, outputs in _marked_cells(path):
            k = classroom.cells.get(grade_id)
            if k is None:
                continue
            exercise = classroom.exercises[k]
            if grade_id == exercise.name:
                classroom.answers[number][k] = source
                classroom.blank[number, k] = source.strip() in ("", exercise.stub.strip())
            if classroom.messages[number][k] is None:
                classroom.messages[number][k] = failure_message(outputs)
    submitted = step_folder(course, "submitted") / student / classroom.assignment
    classroom.minutes[number] = active_minutes(sorted(submitted.glob("*.ipynb")))


def _marked_cells(path):
    """(grade id, source, outputs) of each of nbgrader's cells in a notebook; none when it cannot be read.

    nbgrader has written these notebooks, so they are not validated: with ``nbformat.read`` a class takes seven times as
    long.
    """
    try:
        cells = json.loads(path.read_bytes())["cells"]
        marked = ((cell["metadata"].get("nbgrader", {}).get("grade_id"), cell) for cell in cells)
        return [(name, "".join(cell["source"]), cell.get("outputs", ())) for name, cell in marked if name]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []


def failure_message(outputs):
    """The hint in the first error among outputs, or the error itself in a line; None without an error."""
    for output in outputs:
        if output.get("output_type") != "error":
            continue
        text = ANSI.sub("", "\n".join([str(output.get("evalue", "")), *map(str, output.get("traceback", ()))]))
        if found := next(filter(None, (said.search(text) for said in SAID)), None):
            return found[1][:MAX_MESSAGE]
        first = ANSI.sub("", str(output.get("evalue", ""))).strip().partition("\n")[0]
        return f"{output.get('ename', 'Error')}: {PLACE.sub('', first)}".strip(": ")[:MAX_MESSAGE]
    return None
