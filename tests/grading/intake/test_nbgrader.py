"""The plugin in nbgrader's own ``autograde``: what reaches the gradebook, the folders and the exit status."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook

from course.grading.intake.exporter import verdict_path

NAME = "02_how_it_works"
CONFIG = """
c = get_config()
c.Autograde.exporter_class = "course.grading.intake.exporter.IntakeExporter"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # replace this line by your answer"}
"""


class Course:
    """A course folder with one released assignment."""

    def __init__(self, root, source):
        self.root = root
        (root / "source" / NAME).mkdir(parents=True)
        (root / "nbgrader_config.py").write_text(CONFIG)
        nbformat.write(source, root / "source" / NAME / f"{NAME}.ipynb")
        self.run("generate_assignment", NAME, "--quiet")

    def run(self, *command, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "nbgrader", *command],
            cwd=self.root,
            env=self._environment(),
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stderr
        return done.stderr

    def start(self, *command):
        """A run that goes on in the background."""
        return subprocess.Popen(
            [sys.executable, "-m", "nbgrader", *command],
            cwd=self.root,
            env=self._environment(),
            stderr=subprocess.DEVNULL,
        )

    def _environment(self):
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"}

    def hand_in(self, student, files):
        folder = self.root / "submitted" / student / NAME
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            data = content if isinstance(content, bytes) else nbformat.writes(content).encode()
            (folder / name).write_bytes(data)
        return folder

    def scores(self, student):
        with Gradebook(f"sqlite:///{self.root}/gradebook.db") as gradebook:
            [notebook] = gradebook.find_submission(NAME, student).notebooks
            return {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades}

    def total(self, student):
        return sum(score or 0 for score, _ in self.scores(student).values())

    def verdict(self, student):
        return json.loads(verdict_path(self.root / "autograded", NAME, student, NAME).read_text())

    def autograded(self, student):
        return self.root / "autograded" / student / NAME / f"{NAME}.ipynb"


@pytest.fixture
def course(tmp_path, source):
    return Course(tmp_path, source)


def test_every_submission_of_a_batch_gets_its_own_verdict(course, solved):
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.hand_in("ben", {f"{NAME} (1).ipynb": b"\xef\xbb\xbf" + nbformat.writes(solved).encode()})
    course.hand_in("cem", {f"{NAME}.pdf": b"%PDF-1.7"})
    course.hand_in("dora", {f"{NAME}.ipynb": nbformat.writes(solved).encode()[:900]})
    solved.cells.append(solved.cells[4])
    course.hand_in("emil", {f"{NAME}.ipynb": nbformat.writes(solved).encode()})
    log = course.run("autograde", NAME, status=1)
    assert {student: course.verdict(student)["verdict"] for student in ("anna", "ben", "cem", "dora", "emil")} == {
        "anna": "graded",
        "ben": "graded with remarks",
        "cem": "not gradable",
        "dora": "not gradable",
        "emil": "graded with remarks",
    }
    assert [course.total(student) for student in ("anna", "ben", "cem", "dora", "emil")] == [7, 7, 0, 0, 7]
    assert "cem, 02_how_it_works: not gradable" in log and "breaks off" in log
    assert not course.autograded("cem").exists() and not course.autograded("dora").exists()
    top = nbformat.read(course.autograded("ben"), as_version=4).cells[0]
    assert top.cell_type == "markdown" and "(1).ipynb" in top.source
    course.run("generate_feedback", NAME)
    assert {path.parent.parent.name for path in course.root.glob("feedback/*/*/*.html")} == {"anna", "ben", "emil"}


def test_written_answers_wait_for_a_person_also_in_a_renamed_file(course, solved):
    course.hand_in("anna", {f"Copy of {NAME}.ipynb": solved})
    course.run("autograde", NAME)
    assert course.scores("anna")["interpretation"] == (None, True)
    sources = [cell.source for cell in nbformat.read(course.autograded("anna"), as_version=4).cells]
    assert "The factor changed, because I set it." in sources


def test_no_score_of_an_earlier_attempt_survives(course, solved):
    folder = course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.run("autograde", NAME)
    assert course.total("anna") == 7
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        grade = gradebook.find_grade("interpretation", NAME, NAME, "anna")
        grade.manual_score, grade.needs_manual_grade = 4, False
        gradebook.db.commit()
    (folder / f"{NAME}.ipynb").write_bytes(b"{")
    course.run("autograde", NAME, "--force", status=1)
    assert all(score is None for score, _ in course.scores("anna").values())
    assert course.scores("anna")["interpretation"] == (None, True)
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        assert gradebook.find_grade("interpretation", NAME, NAME, "anna").manual_score == 4


def test_a_link_is_refused_and_nothing_behind_it_is_copied(course, solved, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the answers")
    folder = course.hand_in("anna", {f"{NAME}.ipynb": solved})
    (folder / "data.txt").symlink_to(secret)
    course.hand_in("ben", {f"{NAME}.ipynb": solved})
    course.run("autograde", NAME, status=1)
    assert "link" in course.verdict("anna")["reason"]
    assert not list((course.root / "autograded").glob("anna/**/*"))
    assert course.total("ben") == 7


def test_a_device_behind_a_link_does_not_stop_the_batch(course, solved):
    folder = course.hand_in("anna", {f"{NAME}.ipynb": solved})
    (folder / "data.txt").symlink_to("/dev/zero")
    os.mkfifo(course.hand_in("ben", {}) / f"{NAME}.ipynb")
    course.hand_in("cem", {f"{NAME}.ipynb": solved})
    course.run("autograde", NAME, status=1)
    assert course.verdict("anna")["verdict"] == course.verdict("ben")["verdict"] == "not gradable"
    assert course.total("cem") == 7


def test_a_tests_source_is_never_in_a_cell_of_the_student(course, solved):
    solved.cells.insert(0, new_code_cell("def check(): pass", metadata=solved.cells[4].metadata))
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.run("autograde", NAME)
    graded = nbformat.read(course.autograded("anna"), as_version=4)
    assert [
        cell.source for cell in graded.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "test_double"
    ] == ["assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(math.pi) == 2 * math.pi\n### END HIDDEN TESTS"]


def test_a_source_that_changed_since_the_release_is_told_in_one_sentence(course, solved):
    path = course.root / "source" / NAME / f"{NAME}.ipynb"
    source = nbformat.read(path, as_version=4)
    source.cells[3].metadata.nbgrader.grade_id = "twice"
    nbformat.write(source, path)
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    assert "run nbgrader generate_assignment first" in course.run("autograde", NAME, status=1)


def test_a_run_that_was_killed_is_taken_up_where_it_was(course, solved, tmp_path):
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.run("autograde", NAME)
    finished = course.autograded("anna").stat().st_mtime
    started = tmp_path / "started"
    waits = f"from pathlib import Path\nimport time\nstarted = Path({str(started)!r})\n"
    waits += "time.sleep(0 if started.exists() else started.touch() or 600)"
    solved.cells.insert(1, new_code_cell(waits))
    course.hand_in("ben", {f"{NAME}.ipynb": solved})
    run = course.start("autograde", NAME)
    while not started.exists():
        assert run.poll() is None
        time.sleep(0.1)
    run.kill()
    run.wait()
    course.run("autograde", NAME)
    assert course.total("ben") == 7
    assert course.autograded("anna").stat().st_mtime == finished
