"""What reaches a table: grades less their penalty, a class in the order of its names, in a file of one's own."""

import csv
import os

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from course.grading.export.cells import write_whole
from course.grading.export.plugins import PlainExporter
from course.grading.export.results import read_grades
from course.grading.roster import Roster, Student

LESSON = "02_how_it_works"


@pytest.fixture(scope="module")
def gradebook(built_classes, tmp_path_factory):
    """A gradebook of six students, in which two have a late penalty; not to be changed."""
    copy = tmp_path_factory.mktemp("results") / "gradebook.db"
    copy.write_bytes((built_classes(6) / "gradebook.db").read_bytes())
    with Gradebook(f"sqlite:///{copy}") as gradebook:
        for student, penalty in (("s000", 1), ("s001", 1000)):
            [notebook] = gradebook.find_submission(LESSON, student).notebooks
            notebook.late_submission_penalty = penalty
        gradebook.db.commit()
        yield gradebook


def test_a_penalty_is_taken_off_and_leaves_no_debt(gradebook):
    results = read_grades(gradebook, [LESSON]).results
    scores = {student: gradebook.find_submission(LESSON, student).score for student in ("s000", "s001", "s002")}
    assert scores["s000"] >= 1
    assert results["s000", LESSON].final() == scores["s000"] - 1
    assert results["s001", LESSON].final() == 0
    assert results["s002", LESSON].final() == scores["s002"]


def test_the_class_stands_in_the_order_of_its_names_and_the_roster_s_count_first(gradebook):
    extra = Roster([Student("s003", "Zoe", "abel", "zoe@uni.test", ("9",)), Student("new", "Ann", "Zander")])
    students = list(read_grades(gradebook, [LESSON], extra).roster.students.values())
    names = [(student.last_name.casefold(), student.first_name.casefold()) for student in students]
    assert len(students) == 7 and names == sorted(names)
    [abel] = [student for student in students if student.student_id == "s003"]
    assert abel == Student("s003", "Zoe", "abel", "zoe@uni.test", ("9",))
    assert next(student for student in students if student.student_id == "s000").last_name == "O'Neil"


def test_nbgrader_s_own_choice_of_students_and_assignments_counts(gradebook, tmp_path):
    target = str(tmp_path / "grades.csv")
    config = Config({"PlainExporter": {"student": ["s002"], "assignment": [LESSON], "to": target}})
    PlainExporter(config=config).export(gradebook)
    _, *rows = csv.reader((tmp_path / "grades.csv").read_text("utf-8").splitlines())
    assert [(row[0], row[4]) for row in rows] == [("s002", LESSON)]


def test_a_table_is_written_whole_for_its_owner_alone(tmp_path, monkeypatch):
    target = tmp_path / "exports" / "grades.csv"
    write_whole(target, b"first")
    assert target.stat().st_mode & 0o777 == 0o600

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, b"second")
    assert [path.name for path in target.parent.iterdir()] == ["grades.csv"]
    assert target.read_bytes() == b"first"
