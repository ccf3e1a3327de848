"""The process beside a Dask worker: what is set on its machine, and what others handed in, changes no grade."""

import json

import nbformat
import pytest

from course.grading.many import worker
from course.grading.many.parcel import pack_lessons, pack_submission, unpack_result
from course.grading.many.submissions import read_submission
from tests.grading.many.conftest import LESSON, RIGHT, hand_in, lesson, open_class

READER = RIGHT | {"one": 'one = open("letter.txt").read()'}


@pytest.fixture
def graded(root, monkeypatch):
    """graded(student) -> what a station makes of the submission; the machine of the station allows everything."""
    monkeypatch.chdir(root)
    with open_class(root) as class_:
        course, lessons = class_.course, pack_lessons(class_.course, class_.assignments)
    monkeypatch.setenv("COURSE_UNCONFINED", "1")
    station = worker.Station(lessons)

    def grade(student):
        submission = read_submission(course, student, LESSON, root / "submitted" / student / LESSON, "lesson")
        return unpack_result(json.loads(station.grade(pack_submission(submission))), submission).notebooks[LESSON]

    yield grade
    station.end()


def test_students_code_is_confined_where_the_instructor_did_not_allow_otherwise(graded):
    ada = graded("ada")
    assert ada.scores["test_one"] == 2
    assert nbformat.reads(ada.text, as_version=4).metadata.course_grading.confined is True


def test_no_submission_finds_the_files_of_another(graded, root):
    for student in ("fay", "gus"):
        hand_in(root, student, nbformat.writes(lesson(READER)))
    (root / "submitted" / "fay" / LESSON / "letter.txt").write_text("A")
    assert [graded(student).scores["test_one"] for student in ("fay", "gus")] == [2, 0]


def test_a_run_that_is_over_starts_no_station_again(monkeypatch):
    monkeypatch.setattr(worker, "stations", {})
    worker.dismiss("a run that is over")
    with pytest.raises(worker.Unfit, match="over"):
        worker.station_of("a run that is over", {}, b"")


def test_builds_of_one_version_grade_alike(monkeypatch):
    plain = worker.versions()
    monkeypatch.setattr(worker.metadata, "version", lambda name: f"{plain[name]}+cu130")
    assert worker.versions() == plain
