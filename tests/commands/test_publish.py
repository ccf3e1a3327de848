"""``course publish``: students' folder holds lessons and package, and nothing that gives an answer away."""

import re
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from course.commands.publish import FOR_STUDENTS, command, publish
from tests.judging.lesson import ROOT, lesson_names


def test_published_folder_has_the_lessons_and_no_answers(tmp_path):
    publish(ROOT, tmp_path)
    assert sorted(path.stem for path in (tmp_path / "release").glob("*/*.ipynb")) == lesson_names()
    assert not [name for name in ("source", "tests", "submitted", "gradebook.db") if (tmp_path / name).exists()]
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {path.partition("/")[0] for path in written} == {*FOR_STUDENTS, "README.md"}
    assert not [path for path in written if path.endswith(".pyc") or "__pycache__" in path or "checkpoint" in path]
    secrets = re.compile(r"### (?:BEGIN|END) (?:SOLUTION|HIDDEN TESTS|MARK SCHEME)\b")
    assert not [path for path in written if secrets.search((tmp_path / path).read_text("utf-8", errors="ignore"))]


def test_what_programs_leave_beside_files_is_not_published(tmp_path):
    root, left = tmp_path / "root", ["__pycache__/a.pyc", ".ipynb_checkpoints/b.ipynb", "c.pyc"]
    for name in (*FOR_STUDENTS, "docs"):
        for file in [f"{name}/students.md", *(f"{name}/{path}" for path in left)] if (ROOT / name).is_dir() else [name]:
            (root / file).parent.mkdir(parents=True, exist_ok=True)
            (root / file).touch()
    publish(root, tmp_path / "students")
    written = {path.name for path in (tmp_path / "students").rglob("*")}
    assert "students.md" in written and not written & {"a.pyc", "b.ipynb", "c.pyc", "__pycache__"}


def test_what_is_published_is_a_package_of_its_own(tmp_path):
    publish(ROOT, tmp_path)
    code = "import course.attention, course.checks, sys; print(course.__file__)"
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert str(tmp_path) in found.stdout


def test_publishing_again_keeps_the_repository(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "release" / "old").mkdir(parents=True)
    publish(ROOT, tmp_path)
    assert (tmp_path / ".git").is_dir()
    assert not (tmp_path / "release" / "old").exists()


@pytest.mark.parametrize("place", [".", "..", "release", "course/students"])
def test_nothing_of_the_course_itself_is_overwritten(place, tmp_path):
    root = tmp_path / "course"  # published into the folder above it, course/ would take its place
    for name in FOR_STUDENTS:
        (root / name).mkdir(parents=True)
    (root / "gradebook.db").write_text("grades")
    result = CliRunner().invoke(command, [str(root / place), "--course-dir", str(root)])
    assert result.exit_code == 2
    assert "name another folder to publish to" in result.stderr
    assert (root / "gradebook.db").read_text() == "grades"


def test_a_folder_that_is_no_course_is_told_what_it_lacks(tmp_path):
    result = CliRunner().invoke(command, [str(tmp_path / "students"), "--course-dir", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {tmp_path} is not a whole course folder: it lacks release, course, ")
    assert not (tmp_path / "students").exists()


def test_a_full_disk_is_said_once_and_not_for_each_file(tmp_path, monkeypatch):
    def full(*_):
        raise shutil.Error([("here", "there", "[Errno 28] No space left on device: 'there'")] * 40)

    monkeypatch.setattr("course.commands.publish.publish", full)
    result = CliRunner().invoke(command, [str(tmp_path / "students"), "--course-dir", str(ROOT)])
    assert result.exit_code == 2
    assert "was not written to its end ([Errno 28] No space left on device: 'there');" in result.stderr
    assert result.stderr.count("No space left") == 1


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    result = CliRunner().invoke(command, [str(tmp_path / "file" / "students"), "--course-dir", str(ROOT)])
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert "was not written to its end" in result.stderr
