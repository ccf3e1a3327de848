"""The plugin in nbgrader's own ``autograde``: what reaches the gradebook, the folders and the exit status."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell
from nbgrader.api import Gradebook
from nbgrader.converters import Autograde, GenerateAssignment, NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import Config, PyFileConfigLoader

from course.grading.intake.places import Places

NAME = "02_how_it_works"
CONFIG = """
c = get_config()
c.Autograde.exporter_class = "course.grading.intake.exporter.IntakeExporter"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # replace this line by your answer"}
"""
NOT_RUN = Config({"Execute": Config(enabled=False)})  # without a kernel nbgrader gives every test its points


class Course:
    """A course folder, and nbgrader's steps on it: in this process, or by the command line."""

    def __init__(self, root):
        self.root = Path(root)

    def convert(self, converter, settings=None, **traits):
        config = PyFileConfigLoader("nbgrader_config.py", path=str(self.root)).load_config()
        config.CourseDirectory.root, config.CourseDirectory.assignment_id = str(self.root), NAME
        config.merge(settings or Config())
        converter(coursedir=CourseDirectory(config=config), config=config, **traits).start()

    def autograde(self, failures=False, settings=NOT_RUN, **traits):
        """Grade all submissions; ``failures`` says whether nbgrader is to report some."""
        if not failures:
            return self.convert(Autograde, settings, **traits)
        with pytest.raises(NbGraderException):
            self.convert(Autograde, settings, **traits)

    def command(self, *words):
        """nbgrader's command line, started."""
        return subprocess.Popen(
            [sys.executable, "-m", "nbgrader", *words], cwd=self.root, text=True, stderr=subprocess.PIPE
        )

    def hand_in(self, student, files):
        folder = self.root / "submitted" / student / NAME
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content if isinstance(content, bytes) else nbformat.writes(content).encode())
        return folder

    def gradebook(self):
        return Gradebook(f"sqlite:///{self.root}/gradebook.db")

    def scores(self, student):
        """(automatic score, needs a person) by the id of the graded cell."""
        with self.gradebook() as gradebook:
            [notebook] = gradebook.find_submission(NAME, student).notebooks
            return {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades}

    def total(self, student):
        return sum(score or 0 for score, _ in self.scores(student).values())

    def outcome(self, student):
        places = Places(CourseDirectory(root=str(self.root)))
        return json.loads(places.verdict(student, NAME, NAME).read_text())

    def autograded(self, student):
        return self.root / "autograded" / student / NAME / f"{NAME}.ipynb"


@pytest.fixture(scope="module")
def template(tmp_path_factory, small_lesson):
    """A course folder in which the small assignment is released."""
    root = tmp_path_factory.mktemp("template")
    (root / "source" / NAME).mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG)
    nbformat.write(small_lesson(), root / "source" / NAME / f"{NAME}.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        # nbgrader.api starts ``alembic`` by its bare name when it makes a gradebook
        patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        Course(root).convert(GenerateAssignment)
    return root


@pytest.fixture
def course(template, tmp_path):
    return Course(shutil.copytree(template, tmp_path / "course"))


def test_every_submission_of_a_batch_gets_its_own_verdict(course, solved):
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.hand_in("ben", {f"{NAME} (1).ipynb": b"\xef\xbb\xbf" + nbformat.writes(solved).encode()})
    course.hand_in("cem", {f"{NAME}.pdf": b"%PDF-1.7"})
    course.hand_in("dora", {f"{NAME}.ipynb": nbformat.writes(solved).encode()[:900]})
    solved.cells.append(nbformat.from_dict({**solved.cells[4], "id": "copy"}))
    course.hand_in("emil", {f"{NAME}.ipynb": solved})
    run = course.command("autograde", NAME)
    log = run.communicate()[1]
    assert run.returncode == 1
    assert {student: course.outcome(student)["verdict"] for student in ("anna", "ben", "cem", "dora", "emil")} == {
        "anna": "graded",
        "ben": "graded with remarks",
        "cem": "not gradable",
        "dora": "not gradable",
        "emil": "graded with remarks",
    }
    assert [course.total(student) for student in ("anna", "ben", "cem", "dora", "emil")] == [7, 7, 0, 0, 7]
    assert "cem, 02_how_it_works: not gradable" in log and "breaks off" in log
    assert not course.autograded("cem").exists() and not course.autograded("dora").exists()


def test_a_run_that_was_killed_is_taken_up_where_it_was(course, solved, tmp_path):
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.autograde()
    finished = course.autograded("anna").stat().st_mtime
    started = tmp_path / "started"
    waits = f"from pathlib import Path\nimport time\nstarted = Path({str(started)!r})\n"
    waits += "time.sleep(0 if started.exists() else started.touch() or 600)"
    solved.cells.insert(1, new_code_cell(waits))
    course.hand_in("ben", {f"{NAME}.ipynb": solved})
    run = course.command("autograde", NAME)
    while not started.exists():
        assert run.poll() is None
        time.sleep(0.1)
    run.kill()
    run.wait()
    course.autograde()
    assert course.total("ben") == 7
    assert course.autograded("anna").stat().st_mtime == finished


def test_remarks_stand_on_top_of_the_graded_notebook_and_run_nothing(course, solved):
    course.hand_in("anna", {"<script>alert(1)<script> [x](javascript:alert(2)).ipynb": solved})
    course.autograde()
    top = nbformat.read(course.autograded("anna"), as_version=4).cells[0]
    assert top.cell_type == "markdown" and "&lt;script&gt;" in top.source
    assert "<script>" not in top.source and "[x]" not in top.source


def test_written_answers_wait_for_a_person_also_in_a_renamed_file(course, solved):
    course.hand_in("anna", {f"Copy of {NAME}.ipynb": solved})
    course.autograde()
    assert course.scores("anna")["interpretation"] == (None, True)
    sources = [cell.source for cell in nbformat.read(course.autograded("anna"), as_version=4).cells]
    assert "The factor changed, because I set it." in sources


def test_no_automatic_score_of_an_earlier_attempt_survives_and_a_manual_one_is_looked_at_again(course, solved):
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.autograde()
    assert course.total("anna") == 7
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("interpretation", NAME, NAME, "anna")
        grade.manual_score, grade.needs_manual_grade = 4, False
        grade.notebook.late_submission_penalty = 3
        gradebook.db.commit()
    course.hand_in("anna", {f"{NAME}.ipynb": b"{"})
    course.autograde(failures=True, force=True)
    assert {score for score, _ in course.scores("anna").values()} == {None}
    assert course.scores("anna")["interpretation"] == (None, True)
    with course.gradebook() as gradebook:
        grade = gradebook.find_grade("interpretation", NAME, NAME, "anna")
        assert (grade.manual_score, grade.notebook.late_submission_penalty) == (4, None)


def test_links_and_devices_are_refused_and_nothing_behind_them_is_copied(course, solved, tmp_path):
    (tmp_path / "secret.txt").write_text("the answers")
    (course.hand_in("anna", {f"{NAME}.ipynb": solved}) / "data.txt").symlink_to(tmp_path / "secret.txt")
    (course.hand_in("ben", {f"{NAME}.ipynb": solved}) / "data.txt").symlink_to("/dev/zero")
    os.mkfifo(course.hand_in("cem", {}) / f"{NAME}.ipynb")
    (course.root / "submitted" / "dora").symlink_to(course.root / "submitted" / "emil")
    course.hand_in("emil", {f"{NAME}.ipynb": solved, "data.txt": b"1 2 3"})
    course.autograde(failures=True)
    for student in ("anna", "ben", "cem"):
        assert "link" in course.outcome(student)["reason"]
        assert not course.autograded(student).parent.exists()
    assert course.total("emil") == 7
    assert (course.autograded("emil").parent / "data.txt").read_text() == "1 2 3"


def test_nothing_of_a_crowd_of_files_is_copied(course, solved, monkeypatch):
    monkeypatch.setattr("course.grading.intake.folder.MOST_FILES", 3)
    copied = []
    monkeypatch.setattr(shutil, "copy", lambda source, target: copied.append(source))
    course.hand_in("anna", {f"{NAME}.ipynb": solved, **{f"{number}.csv": b"1" for number in range(4)}})
    with pytest.raises(NbGraderException):
        course.convert(Autograde)
    assert "holds 5 files in one folder" in course.outcome("anna")["reason"]
    assert not [path for path in copied if path.endswith(".csv")]


def test_hooks_of_the_configuration_are_called_as_before(course, solved):
    calls = []
    for student in ("anna", "ben"):
        course.hand_in(student, {f"{NAME}.ipynb": solved})
    course.autograde(
        pre_convert_hook=lambda **_: calls.append("before"), post_convert_hook=lambda **_: calls.append("after")
    )
    assert calls == ["before", "after"] * 2


def test_only_the_source_writes_tests(course, solved):
    solved.cells.insert(0, new_code_cell("def check(): pass", metadata=solved.cells[4].metadata))
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.autograde()
    graded = nbformat.read(course.autograded("anna"), as_version=4)
    tests = [c.source for c in graded.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "test_double"]
    assert [len(tests), tests[0].startswith("assert double(1) == 2"), "double(math.pi)" in tests[0]] == [1, True, True]


def test_a_source_that_changed_since_the_release_is_told_in_one_sentence(course, solved, caplog):
    path = course.root / "source" / NAME / f"{NAME}.ipynb"
    source = nbformat.read(path, as_version=4)
    source.cells[3].metadata.nbgrader.grade_id = "twice"
    nbformat.write(source, path)
    course.hand_in("anna", {f"{NAME}.ipynb": solved})
    course.autograde(failures=True)
    assert "run nbgrader generate_assignment first" in caplog.text
