"""The names under which a platform's bulk upload takes feedback."""

import datetime
import io
import zipfile

import pytest

from course.grading.collect.store import Attempt
from course.grading.export.feedback import Feedback, zip_feedback
from course.grading.roster import Student

LESSON = "02_how_it_works"
NOW = datetime.datetime(2026, 3, 1, tzinfo=datetime.UTC)
EXPORTED = {
    "canvas": f"leeann_11_901_{LESSON}-2.ipynb",
    "moodle": f"Ann Lee_11_assignsubmission_file_/{LESSON}.ipynb",
    "blackboard": f"Lesson 2_ann_attempt_2026-03-01-12-30-59_{LESSON}.ipynb",
}
TAKEN = {
    "canvas": f"leeann_11_901_{LESSON}-2.html",
    "moodle": f"Ann Lee_11_assignfeedback_file_{LESSON}.html",
    "blackboard": f"Lesson 2_ann_attempt_2026-03-01-12-30-59_{LESSON}.html",
}
ANN = Student("ann", "Ann", "Lee")


@pytest.fixture
def feedback(tmp_path):
    """feedback(student, platform it came from, or None) -> the Feedback."""

    def make(student, layout=None):
        path = tmp_path / f"{student.student_id}.html"
        path.write_text(student.student_id)
        attempt = Attempt(path, None, NOW, None, layout, EXPORTED[layout]) if layout else None
        return Feedback(path, student, LESSON, attempt)

    return make


def names_in(items, platform):
    data, count, remarks = zip_feedback(items, platform)
    names = zipfile.ZipFile(io.BytesIO(data)).namelist()
    assert len(names) == count
    return names, remarks


@pytest.mark.parametrize("platform", TAKEN)
def test_a_platform_gets_back_the_name_that_it_gave(platform, feedback):
    assert names_in([feedback(ANN, platform)], platform) == ([TAKEN[platform]], [])


@pytest.mark.parametrize("platform", TAKEN)
def test_a_name_that_another_platform_gave_does_not_serve(platform, feedback):
    others = [feedback(ANN, layout) for layout in (*TAKEN, None) if layout != platform]
    names, [remark] = names_in(others, platform)
    assert names == [] and remark.startswith("Left out, because ") and remark.endswith(": ann, ann, ann.")


@pytest.mark.parametrize("platform", ["plain", "gradescope"])
def test_elsewhere_files_are_named_after_students(platform, feedback):
    assert names_in([feedback(ANN, "canvas")], platform) == ([f"ann_{LESSON}.html"], [])


def test_moodle_s_separators_cannot_come_from_a_name(feedback):
    student = Student("a_b", "A_n:n", "O/Lee", lms_ids=("x7", "42"))
    assert names_in([feedback(student)], "moodle")[0] == [f"A n n O Lee_42_assignfeedback_file_{LESSON}.html"]


def test_one_file_for_two_students_is_written_once_and_told(feedback):
    students = [Student(name, lms_ids=("7",), first_name=first) for name, first in (("one", "Ann"), ("two", "ANN"))]
    names, [remark] = names_in([feedback(student) for student in students], "moodle")
    assert names == [f"Ann_7_assignfeedback_file_{LESSON}.html"]
    assert remark.endswith("is another student's file already: two.")
