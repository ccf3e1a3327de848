"""A course made by code: small lessons, students' notebooks, and a graded class with its gradebook."""

import datetime
import functools
import io
import os
import random
import shutil
import sys
import types
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook
from nbgrader.utils import compute_checksum, determine_grade, is_grade

from course.grading.demo import solutions_of, solve
from course.grading.examination import ExaminedExecute, first_code
from course.grading.intake import Assignment, settle
from course.grading.sandbox.availability import SandboxUnavailable, require_sandbox
from course.grading.warm.execute import warmed

ROOT = Path(__file__).parents[2]

LESSONS = {
    "01_foundations": ("head_width", "weighted_average"),
    "02_how_it_works": ("split_heads", "merge_heads", "scaled_dot_product_attention", "parameter_count"),
}
HINTS = {
    "split_heads": ["Cut the last axis, then swap heads and time.", "Use transpose, not a second view."],
    "scaled_dot_product_attention": ["Divide by the square root of d_head.", "Normalise over the keys, the last axis."],
}
WRITTEN = "interpretation"  # graded by hand


def nbgrader_mark(grade_id, **values):
    """nbgrader's metadata of a cell."""
    mark = {"grade_id": grade_id, "schema_version": 3, "grade": False, "solution": False, "locked": False}
    return {"nbgrader": mark | {"task": False} | values}


def lesson(functions, answer="pass", written=None):
    """A lesson's notebook: a section, a solution cell and a test cell for each function, perhaps a written answer."""
    cells = [new_markdown_cell("# The lesson")]
    for name in functions:
        cells.append(new_markdown_cell(f"## {name.replace('_', ' ').capitalize()}\n\nWrite `{name}`."))
        text = answer(name) if callable(answer) else answer
        source = f"def {name}(x):\n    {text}" if text == "pass" or "\n" not in text else text
        cells.append(new_code_cell(source, metadata=nbgrader_mark(name, solution=True)))
        test = nbgrader_mark(f"test_{name}", grade=True, locked=True, points=2)
        cells.append(new_code_cell(f"check({name})", metadata=test))
    if written is not None:
        cells.append(new_markdown_cell("## What you saw"))
        mark = nbgrader_mark(WRITTEN, grade=True, solution=True, points=5)
        cells.append(new_markdown_cell(written, metadata=mark))
    for number, cell in enumerate(cells):
        cell.id = f"cell-{number}"
    return new_notebook(cells=cells)


def write_course(root):
    for assignment, functions in LESSONS.items():
        for step in ("source", "release"):
            folder = root / step / assignment
            folder.mkdir(parents=True)
            answer = "pass" if step == "release" else "return x"
            nbformat.write(lesson(functions, answer, ""), folder / f"{assignment}.ipynb")


@pytest.fixture
def course_dir(tmp_path):
    """A course folder with source and released lessons and no gradebook."""
    write_course(tmp_path / "course")
    return tmp_path / "course"


@pytest.fixture
def answered():
    """answered(assignment, answer) -> bytes of a student's notebook."""
    return lambda assignment, answer="return x": nbformat.writes(lesson(LESSONS[assignment], answer, "")).encode()


@pytest.fixture
def zipped(tmp_path):
    """zipped({path: bytes}, name) -> path of a zip archive."""

    def make(files, name="export.zip"):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            for inside, data in files.items():
                archive.writestr(inside, data)
        path = tmp_path / name
        path.write_bytes(buffer.getvalue())
        return path

    return make


@pytest.fixture(scope="session")
def built_classes(tmp_path_factory):
    """Graded classes by their size, each built once."""
    built = {}

    def build(students):
        if students not in built:
            built[students] = tmp_path_factory.mktemp(f"class{students}")
            write_course(built[students])
            write_grades(built[students], students)
        return built[students]

    return build


@pytest.fixture
def graded_class(built_classes, tmp_path):
    """graded_class(students) -> a fresh course folder ``root`` in which these ``people`` are graded."""

    def make(students=24):
        root = shutil.copytree(built_classes(students), tmp_path / "class")
        return types.SimpleNamespace(root=root, people=make_people(students))

    return make


def make_people(students):
    rng = random.Random(0)
    return [_person(number, rng) for number in range(students)]


def write_grades(root, students):
    """Gradebook and autograded notebooks of a class, in the course folder root."""
    with pytest.MonkeyPatch.context() as patch:
        # nbgrader.api starts ``alembic`` by its bare name when it makes a gradebook
        patch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        gradebook = Gradebook(f"sqlite:///{root}/gradebook.db")
    commit, gradebook.db.commit = gradebook.db.commit, gradebook.db.flush  # one commit instead of thousands
    for assignment, functions in LESSONS.items():
        _describe(gradebook, assignment, functions)
    for person in make_people(students):
        gradebook.add_student(person.id, first_name=person.first, last_name=person.last, email=person.email)
        for assignment, functions in LESSONS.items():
            if not person.absent:
                _grade(gradebook, root, person, assignment, functions)
    commit()
    gradebook.close()
    gradebook.engine.dispose()


def _person(number, rng):
    """A student with an ability, a hint they run into, and an answer in their own words; the last one is absent."""
    difficulty = {name: 0.6 * position - 1 for position, name in enumerate(LESSONS["02_how_it_works"])}
    difficulty |= {"head_width": -2, "weighted_average": 0}
    ability = rng.gauss(0, 1)
    passes = {name: ability + rng.gauss(0, 0.7) > hard for name, hard in difficulty.items()}
    last = ["O'Neil", "Müller", "=SUM(A1)", 'van "Q" Dyk', "Lee, Jr"][number] if number < 5 else f"Last{number}"
    return types.SimpleNamespace(
        id=f"s{number:03d}",
        first=f"First{number}",
        last=last,
        email=f"s{number:03d}@uni.test",
        ability=ability,
        passes=passes,
        hint=0 if rng.random() < 0.7 else 1,
        absent=number == 23,
        blank={name for name in difficulty if not passes[name] and rng.random() < 0.3},
        twin=number in (5, 6),
        number=number,
    )


def _describe(gradebook, assignment, functions):
    gradebook.add_assignment(assignment, duedate=datetime.datetime(2026, 3, 1))
    gradebook.add_notebook(assignment, assignment)
    for name in functions:
        gradebook.add_solution_cell(name, assignment, assignment)
        gradebook.add_grade_cell(f"test_{name}", assignment, assignment, max_score=2, cell_type="code")
    gradebook.add_solution_cell(WRITTEN, assignment, assignment)
    gradebook.add_grade_cell(WRITTEN, assignment, assignment, max_score=5, cell_type="markdown")


def _grade(gradebook, root, person, assignment, functions):
    """Write a submission's grades and its autograded notebook, with the output that a failing check leaves."""
    late = datetime.timedelta(hours=person.number - 12)
    submission = gradebook.add_submission(assignment, person.id, timestamp=datetime.datetime(2026, 3, 1) + late)
    [in_gradebook] = submission.notebooks
    notebook = lesson(functions, lambda name: _answer(person, name), f"What {person.id} saw.")
    cells = {cell.metadata.nbgrader.grade_id: cell for cell in notebook.cells if "nbgrader" in cell.metadata}
    stub = {cell.metadata.nbgrader.grade_id: cell for cell in lesson(functions).cells if "nbgrader" in cell.metadata}
    for grade in in_gradebook.grades:
        name = grade.cell.name.removeprefix("test_")
        if name == WRITTEN:
            grade.auto_score, grade.needs_manual_grade = None, person.number % 2 == 1
            grade.manual_score = None if grade.needs_manual_grade else 3.0
            continue
        grade.auto_score, grade.needs_manual_grade = 2.0 * person.passes[name], False
        cells[name].metadata.nbgrader.checksum = compute_checksum(stub[name])
        if not person.passes[name]:
            cells[f"test_{name}"].outputs = [_failure(person, name)]
    folder = root / "autograded" / person.id / assignment
    folder.mkdir(parents=True)
    nbformat.write(notebook, folder / f"{assignment}.ipynb")


def _answer(person, name):
    if name in person.blank:
        return "pass"
    if person.twin:
        words = "total = 0\n    for step, value in enumerate(sorted([x, x * 3, x - 1])):\n        total += value * step"
        return f"def {name}(x):\n    {words}\n    return total if total > 7 else -total * 11"
    noise = random.Random(f"{person.id}{name}")
    lines = [f"v{noise.randrange(99)} = x {noise.choice('+-*')} {noise.randrange(999)}" for _ in range(6)]
    noise.shuffle(lines)
    return "\n    ".join([f"def {name}(x):", *lines, f"return x {noise.choice('+-*/')} {noise.randrange(99)}"])


def _failure(person, name):
    if name in person.blank:
        return new_output("error", ename="NotImplementedError", evalue="", traceback=["NotImplementedError"])
    hints = HINTS.get(name, ["Look at the last axis."])
    lines = [f"{name}: shape ✓, values ✗", "Seen: other values", f"Hint: {hints[min(person.hint, len(hints) - 1)]}"]
    return new_output("error", ename="CheckFailed", evalue="\n".join(lines), traceback=lines)


class Lesson:
    """A lesson of the course as it is released, solved and graded, without a gradebook."""

    def __init__(self, name):
        self.name = name
        self.source = nbformat.read(ROOT / "source" / name / f"{name}.ipynb", as_version=4)
        self.assignment = Assignment.from_source(name, self.source)

    def released(self):
        """The notebook that students get, a copy."""
        notebook = nbformat.from_dict(self.assignment.graded)
        for slot in self.assignment.slots:
            notebook.cells[slot.index].source = slot.released
        return notebook

    def solved(self):
        return solve(self.released(), solutions_of(self.source))

    def grade(self, notebook, cold=False):
        """Scores, remarks and the graded notebook. A cold kernel is an ipykernel and starts slowly."""
        intake = settle(self.assignment, {f"{self.name}.ipynb": nbformat.writes(notebook).encode()})
        executor = (ExaminedExecute if cold else warmed(ExaminedExecute))(setup=first_code(self.source))
        graded, _ = executor.preprocess(intake.notebook, {})
        found = {cell.metadata.nbgrader.grade_id: determine_grade(cell) for cell in graded.cells if is_grade(cell)}
        scores, most = ({name: pair[i] for name, pair in found.items()} for i in (0, 1))
        return types.SimpleNamespace(scores=scores, most=most, remarks=intake.remarks, notebook=graded)


@pytest.fixture(scope="session")
def sandbox():
    """Skip where no sandbox can be made."""
    try:
        require_sandbox()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def lessons(sandbox):
    """lessons(name) -> the Lesson, made once."""
    return functools.cache(Lesson)
