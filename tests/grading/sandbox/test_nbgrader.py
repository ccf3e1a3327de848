"""Plain ``nbgrader autograde`` and formgrader's button grade in the sandbox once the configuration says so."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from course.grading.sandbox import autograde_preprocessors
from course.grading.sandbox.execute import SandboxedExecute
from tests.grading.sandbox.conftest import check, solution

LESSON = "01_lesson"
CONFIG = """
from course.grading.sandbox import autograde_preprocessors
c = get_config()
c.Autograde.autograde_preprocessors = autograde_preprocessors()
"""
RIGHT = {"one": "def one(): return 1", "two": "def two(): return 2"}
DISASTER = RIGHT | {"one": "import os; os._exit(0)"}
READS_THE_GRADEBOOK = RIGHT | {"two": "open('../../../gradebook.db'); two = lambda: 2"}


def lesson(answers):
    tests = {"one": "assert one() == 1", "two": "assert two() == 2"}
    cells = [new_markdown_cell("# Lesson")]
    for name, answer in answers.items():
        cells += [solution(name, answer), check(name, tests[name])]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})


PROGRAMS = str(Path(sys.executable).parent)  # nbgrader calls alembic by its name


@pytest.fixture(scope="module")
def released(sandbox, tmp_path_factory):
    """A course folder with a released lesson and submissions."""
    root = tmp_path_factory.mktemp("released")
    (root / "nbgrader_config.py").write_text(CONFIG)
    stubs = {name: "### BEGIN SOLUTION\n" + answer + "\n### END SOLUTION" for name, answer in RIGHT.items()}
    files = {f"source/{LESSON}": lesson(stubs)}
    submissions = {"bob": DISASTER, "eve": READS_THE_GRADEBOOK}
    files |= {f"submitted/{student}/{LESSON}": lesson(answers) for student, answers in submissions.items()}
    for folder, notebook in files.items():
        (root / folder).mkdir(parents=True)
        nbformat.write(notebook, root / folder / f"{LESSON}.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", PROGRAMS + os.pathsep + os.environ["PATH"])
        assert formgrader(root).generate_assignment(LESSON)["success"]
    return root


@pytest.fixture
def course(released, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", PROGRAMS + os.pathsep + os.environ["PATH"])
    return shutil.copytree(released, tmp_path / "course")


def formgrader(root):
    """The calls behind formgrader's buttons, configured as the file above would."""
    config = Config()
    config.CourseDirectory.root = str(root)
    config.Autograde.autograde_preprocessors = autograde_preprocessors()
    return NbGraderAPI(config=config)


def points(root, student):
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        [notebook] = gradebook.find_submission(LESSON, student).notebooks
        return {grade.name: grade.auto_score for grade in notebook.grades}


def autograde(root, **environment):
    """Run the command in the course folder; its exit status and what it says."""
    command = [sys.executable, "-m", "nbgrader", "autograde", LESSON, "--log-level=ERROR"]
    done = subprocess.run(command, cwd=root, env=os.environ | environment, capture_output=True, text=True)
    return done.returncode, done.stderr


def test_the_command_grades_in_the_sandbox(course):
    status, said = autograde(course)
    assert status == 0, said
    assert points(course, "bob") == {"test_one": 0, "test_two": 2}
    assert points(course, "eve") == {"test_one": 2, "test_two": 0}
    graded = nbformat.read(course / "autograded" / "eve" / LESSON / f"{LESSON}.ipynb", as_version=4)
    assert graded.metadata.course_grading.confined
    assert "FileNotFoundError" in str([cell.get("outputs") for cell in graded.cells])


def test_formgrader_s_button_grades_in_the_sandbox(course):
    assert formgrader(course).autograde(LESSON, "bob")["success"]
    assert points(course, "bob") == {"test_one": 0, "test_two": 2}


def test_without_bubblewrap_the_command_stops_with_one_sentence(course):
    status, said = autograde(course, PATH=PROGRAMS)
    assert status == 1
    assert said.splitlines()[-1].startswith("Grading stops: bubblewrap is needed")
    assert "Traceback" not in said
    assert not (course / "autograded" / "bob" / LESSON).exists()


def test_nbgrader_s_own_steps_are_kept():
    from nbgrader.converters import Autograde
    from nbgrader.preprocessors import Execute

    steps, own = autograde_preprocessors(SandboxedExecute), Autograde().autograde_preprocessors
    assert [Execute if step is SandboxedExecute else step for step in steps] == own
