"""The course's own nbgrader_config.py, as the command and formgrader's button use it."""

import os
import shutil
import sys
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import NbGraderAPI
from traitlets.config.loader import PyFileConfigLoader

from tests.grading.tricks import LESSON, TRICKS

ROOT = Path(__file__).parents[2]
# SQLAlchemy warns about the order in which nbgrader adds a new submission
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


@pytest.fixture
def course(lessons, tmp_path, monkeypatch):
    """A course folder with one released lesson, an honest submission and a trick."""
    for name in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "source").mkdir()
    for path in [*(ROOT / "source").glob("*er.ipynb"), ROOT / "source" / LESSON]:
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / "source" / path.name)
    monkeypatch.chdir(tmp_path)  # as formgrader's server and the command do
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    api = NbGraderAPI(config=PyFileConfigLoader("nbgrader_config.py", path=str(tmp_path)).load_config())
    assert api.generate_assignment(LESSON)["success"]
    lesson = lessons(LESSON)
    trick = next(trick for trick in TRICKS if trick.name == "tests deleted")
    for student, notebook in {"ada": lesson.solved(), "eve": trick.apply(lesson.released())}.items():
        folder = tmp_path / "submitted" / student / LESSON
        folder.mkdir(parents=True)
        nbformat.write(notebook, folder / f"{LESSON}.ipynb")
    return api


def test_formgrader_s_button_grades_through_intake_sandbox_and_examiner(course, tmp_path):
    for student in ("ada", "eve"):
        result = course.autograde(LESSON, student, force=True, create=True)  # as formgrader's handler calls it
        assert result["success"], result["log"]
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        scores = {student: gradebook.find_submission(LESSON, student).score for student in ("ada", "eve")}
        most = gradebook.find_assignment(LESSON).max_score
    assert scores == {"ada": most, "eve": 0}
    for student, words in {"ada": "", "eve": "it was put back"}.items():
        graded = nbformat.read(tmp_path / "autograded" / student / LESSON / f"{LESSON}.ipynb", as_version=4)
        assert graded.metadata.course_grading.confined
        assert words in graded.cells[0].source
