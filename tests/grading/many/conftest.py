"""A course folder with a released lesson of two exercises and a task, and what a class hands in."""

import contextlib
import importlib
import os
import shutil
import sys
import uuid
from pathlib import Path

import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from course.grading.coursefolder import open_course, open_gradebook
from course.grading.many.run import Class
from course.grading.many.worker import GRADING
from course.grading.sandbox import autograde_preprocessors
from course.grading.sandbox.availability import SandboxUnavailable, require_sandbox
from course.grading.stopping import Stop
from tests.grading.conftest import nbgrader_mark
from tests.grading.many.dask_programs import scheduler
from tests.grading.many.postgres import Server, programs
from tests.grading.sandbox.conftest import solution

LESSON = "01_lesson"
ROOT = Path(__file__).parents[3]
IMPORTS = "from course.checks import Question"
RIGHT = {"one": 'one = "A"', "two": 'two = "B"'}
STUBS = {name: f'{name} = ""\n### BEGIN SOLUTION\n{text}\n### END SOLUTION' for name, text in RIGHT.items()}


def examination(name, letter):
    reasons = {"A": "So A.", "B": "So B."}
    source = f'question = Question("{name}", letters="AB")\nquestion.key("{letter}", {reasons})\nquestion.run()'
    return new_code_cell(source, metadata=nbgrader_mark(f"test_{name}", grade=True, locked=True, points=2))


def lesson(answers):
    essay = nbgrader_mark("essay", solution=True, grade=True, points=3)
    cells = [new_markdown_cell("# Lesson"), new_code_cell(IMPORTS, id="imports")]
    for name, letter in (("one", "A"), ("two", "B")):
        cells += [solution(name, answers[name]), examination(name, letter)]
    cells.append(new_markdown_cell(answers.get("essay", "Write here."), metadata=essay))
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


DATABASES = ("sqlite", "postgresql")
CLASS = {
    "ada": RIGHT | {"essay": "Because."},
    "bob": RIGHT | {"one": "import os; os._exit(0)"},
    "cyd": RIGHT | {"two": 'two = "A"'},
    "dan": {"one": 'one = ""', "two": 'two = ""'},
}


@pytest.fixture(scope="session")
def released(tmp_path_factory):
    try:
        require_sandbox()
    except SandboxUnavailable as reason:
        pytest.skip(str(reason))
    root = tmp_path_factory.mktemp("released")
    shutil.copy(ROOT / "nbgrader_config.py", root)
    shutil.copy(ROOT / "pyproject.toml", root)
    (root / "source" / LESSON).mkdir(parents=True)
    for name in ("header.ipynb", "footer.ipynb"):
        nbformat.write(new_notebook(), root / "source" / name)
    nbformat.write(lesson(STUBS), root / "source" / LESSON / f"{LESSON}.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.chdir(root)
        assert formgrader(root).generate_assignment(LESSON)["success"]
    for student, answers in CLASS.items():
        hand_in(root, student, nbformat.writes(lesson(answers)))
    hand_in(root, "eve", '{"cells": [')
    (root / "submitted" / "bob" / LESSON / "timestamp.txt").write_text("2026-03-31 23:59:00 UTC")
    return root


@pytest.fixture(scope="session")
def once(released, tmp_path_factory):
    """The class graded with one job, and what was said; not to be changed."""
    root = shutil.copytree(released, tmp_path_factory.mktemp("once") / "class")
    with contextlib.chdir(root):
        return root, grade(root)


@pytest.fixture
def root(released, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)  # and back: grading changes it
    return shutil.copytree(released, tmp_path / "class")


@pytest.fixture(scope="session")
def address(tmp_path_factory):
    """Where a Dask scheduler listens that has no workers but those of the test."""
    with scheduler(tmp_path_factory.mktemp("scheduler")) as (_, address):
        yield address


@pytest.fixture(scope="session")
def postgres():
    """A running Server. A machine without PostgreSQL may pass over it, except where a change has to prove itself."""
    if programs() is None:
        missing = "PostgreSQL's programs are missing: apt-get install postgresql"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def released_on_postgres(released, postgres, tmp_path_factory):
    """The name of a database that holds the released lesson; to be copied, not to be changed."""
    root = shutil.copytree(released, tmp_path_factory.mktemp("postgres") / "class")
    postgres.execute("CREATE DATABASE released")
    use_database(root, postgres.url("released"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        patch.chdir(root)
        assert formgrader(root).generate_assignment(LESSON, force=True)["success"]
    return "released"


@pytest.fixture
def onto_postgres(released_on_postgres, postgres):
    """onto_postgres(root): give a course folder a gradebook on PostgreSQL."""

    def move(root):
        name = f"class_{uuid.uuid4().hex}"
        postgres.execute(f"CREATE DATABASE {name} TEMPLATE {released_on_postgres}")
        use_database(root, postgres.url(name))
        return root

    return move


def on_either(request, root):
    """The course folder with its gradebook on the database that is the request's parameter."""
    return root if request.param == "sqlite" else request.getfixturevalue("onto_postgres")(root)


def use_database(root, url):
    (root / "gradebook.db").unlink()
    with open(root / "nbgrader_config.py", "a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {url!r}\n")


@contextlib.contextmanager
def open_class(root):
    """What a run finds in a course folder before it grades."""
    course = open_course(root)
    with open_gradebook(course) as book:
        yield Class(course, book, [LESSON], [], False, None, Stop())


def open_book(root):
    """nbgrader's own view of the gradebook of a course folder."""
    return Gradebook(open_course(root).db_url)


def formgrader(root, execute=None):
    """What stands behind formgrader's buttons, as the course folder configures it; ``execute`` is another executor."""
    course = open_course(root)
    if execute:
        course.config.Autograde.autograde_preprocessors = autograde_preprocessors(execute)
    return NbGraderAPI(course, config=Config(course.config))


def hand_in(root, student, text):
    folder = root / "submitted" / student / LESSON
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{LESSON}.ipynb").write_text(text)


def run(name, root, *options):
    """The result of ``course NAME`` in a course folder. Whatever is told to be grading by it, this process is not."""
    command = importlib.import_module(f"course.commands.{name}").command
    return CliRunner(env=dict.fromkeys(GRADING)).invoke(command, ["--course-dir", str(root), *options])


def grade(root, *options):
    """(exit status, stdout, stderr) of ``course grade`` in a course folder."""
    done = run("grade", root, "--jobs", "1", *options)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.stdout, done.stderr


def gradebook(root):
    """Everything that the gradebook says about the class, by student."""
    students = {}
    with open_book(root) as book:
        for submission in book.assignment_submissions(LESSON):
            [notebook] = submission.notebooks
            students[submission.student.id] = {
                "grades": {
                    g.name: (g.auto_score, g.manual_score, g.needs_manual_grade, g.max_score, g.failed_tests)
                    for g in notebook.grades
                },
                "comments": {comment.name: comment.auto_comment for comment in notebook.comments},
                "submission": (submission.score, submission.needs_manual_grade, submission.timestamp),
                "late": notebook.late_submission_penalty,
            }
    return students


def graded(root):
    """Graded notebooks by student, with their places and permissions."""
    found = {}
    for path in root.glob(f"autograded/[!.]*/{LESSON}/*"):
        content = nbformat.read(path, as_version=4) if path.suffix == ".ipynb" else path.read_text()
        found[path.relative_to(root).as_posix()] = (content, path.stat().st_mode)
    return found
