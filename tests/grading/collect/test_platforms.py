"""Each platform's export, in its own naming, ends up under the right student and lesson."""

import time

import pytest
from click.testing import CliRunner

from course.commands.collect import command

ROSTER = """student_id,last_name,first_name,email,lms_user_id
ann,Lee,Ann,ann@uni.test,123
jorg,Müller,Jörg,jorg@uni.test,456
obrien,"O'Brien, Jr",Seán,sean@uni.test,789
"""
CANVAS_ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section
    Points Possible,,,,
"Lee, Ann",123,S1,ann,A
"Müller, Jörg",456,S2,jorg,A
"Student, Test",999,,,A
"""
MOODLE_WORKSHEET = """\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade
Participant 123,Ann Lee,ann@uni.test,Submitted for grading,,10
Participant 456,Jörg Müller,jorg@uni.test,Submitted for grading,,10
"""
BLACKBOARD_TIME = "2026-03-01-12-30-59"


@pytest.fixture
def collect(course_dir, tmp_path):
    def run(*archives, roster=ROSTER, options=()):
        arguments = [*map(str, archives), "--course-dir", str(course_dir), *options]
        if roster:
            path = tmp_path / "roster.csv"
            path.write_text(roster, "utf-8")
            arguments += ["--roster", str(path)]
        return CliRunner().invoke(command, arguments)

    return run


@pytest.fixture
def placed(course_dir):
    """placed() -> {(student, assignment)} in submitted/."""

    def look():
        found = (course_dir / "submitted").glob("[!.]*/*/*.ipynb")
        return {(path.parent.parent.name, path.parent.name) for path in found if path.stem == path.parent.name}

    return look


NAMES = {
    "canvas": {
        "leeann_123_9001_02_how_it_works.ipynb": "ann",
        "müllerjörg_LATE_456_9002_02_how_it_works-1.ipynb": "jorg",
        "obrienjrseán_789_9003_Copy of 02_how_it_works (1).ipynb": "obrien",
    },
    "moodle folders": {
        "Ann Lee_123_assignsubmission_file/02_how_it_works.ipynb": "ann",
        "Jörg Müller_456_assignsubmission_file_/work/02_how_it_works (2).ipynb": "jorg",
    },
    "moodle flat": {
        "Ann Lee_123_assignsubmission_file_02_how_it_works.ipynb": "ann",
        "Jörg Müller_456_assignsubmission_file_my_02_how_it_works.ipynb": "jorg",
        "Seán O'Brien, Jr_789_assignsubmission_file_02_how_it_works.ipynb": "obrien",
    },
    "blackboard": {
        f"Lesson 2_ann_attempt_{BLACKBOARD_TIME}_02_how_it_works.ipynb": "ann",
        f"Lesson 2_jorg_attempt_{BLACKBOARD_TIME}_02_how_it_works.ipynb": "jorg",
    },
    "classroom": {
        "Lesson 2/Ann Lee - 02_how_it_works.ipynb": "ann",
        "Lesson 2/Copy of Jörg Müller - 02_how_it_works.ipynb": "jorg",
        "Lesson 2/Seán O'Brien, Jr - 02_how_it_works.ipynb (1).ipynb": "obrien",
    },
    "a folder for each": {
        "class/Lee, Ann/02_how_it_works.ipynb": "ann",
        "class/jorg@uni.test/02_how_it_works.ipynb": "jorg",
        "class/obrien/02_how_it_works.ipynb": "obrien",
    },
    "copies of copies": {
        "Lesson 2/Copy of Copy of Ann Lee - 02_how_it_works.ipynb": "ann",
        "Lesson 2/Kopie von Jörg Müller - 02_how_it_works.ipynb": "jorg",
    },
    "exchange inbound": {
        "inbound/ann+02_how_it_works+2026-03-01 10:00:00 UTC+abc/02_how_it_works.ipynb": "ann",
        "inbound/jorg+02_how_it_works+2026-03-01 10_00_00.123 UTC+abc/02_how_it_works.ipynb": "jorg",
    },
    "submitted tree": {
        "submitted/ann/02_how_it_works/02_how_it_works.ipynb": "ann",
        "submitted/jorg/02_how_it_works/02_how_it_works.ipynb": "jorg",
    },
}


@pytest.mark.parametrize("platform", NAMES)
def test_students_and_lesson_are_found_in_the_names(platform, collect, zipped, answered, placed):
    result = collect(zipped({name: answered("02_how_it_works") for name in NAMES[platform]}))
    assert result.exit_code == 0, result.output
    assert placed() == {(student, "02_how_it_works") for student in NAMES[platform].values()}


def test_names_keep_the_marks_that_their_script_needs(collect, zipped, answered, placed):
    turkish, hindi = "İbrahim Çelik".lower(), ("किरण", "कुरण")
    roster = f"student_id,last_name,first_name,lms_id\nibra,Çelik,İbrahim,\nk1,{hindi[0]},Ann,4\n"
    names = [f"{''.join(reversed(turkish.split()))}_3_9_02_how_it_works.ipynb", f"{hindi[0]}_4_9_02_how_it_works.ipynb"]
    assert collect(zipped({name: answered("02_how_it_works") for name in names}), roster=roster).exit_code == 0
    assert {student for student, _ in placed()} == {"ibra", "k1"}
    strangers = {f"x/{name}/02_how_it_works.ipynb": answered("02_how_it_works") for name in hindi}
    collect(zipped(strangers), roster="")
    assert {student for student, _ in placed()} == {"ibra", "k1", *hindi}


def test_gradescope_names_people_in_its_metadata(collect, zipped, answered, placed, course_dir):
    metadata = """
submission_1:
  :submitters:
  - :name: Ann Lee
    :sid: ann
    :email: ann@uni.test
  - :name: Jörg Müller
    :sid:
    :email: jorg@uni.test
  :created_at: 2026-03-01 05:17:58.123456000 Z
submission_2:
  :submitters: []
"""
    notebook = answered("02_how_it_works")
    files = {
        "assignment_9_export/submission_metadata.yml": metadata,
        "assignment_9_export/submission_1/02_how_it_works.ipynb": notebook,
        "assignment_9_export/submission_2/02_how_it_works.ipynb": notebook,
    }
    result = collect(zipped(files))
    assert placed() == {("ann", "02_how_it_works"), ("jorg", "02_how_it_works")}
    stamp = course_dir / "submitted/ann/02_how_it_works/timestamp.txt"
    assert stamp.read_text().startswith("2026-03-01 05:17:58")
    assert result.exit_code == 1
    assert "submission_2/02_how_it_works.ipynb: belongs to no one" in result.output


LATENESS = """
submission_1: {":submitters": [{":sid": ann}], ":lateness": 0}
submission_2: {":submitters": [{":sid": jorg}], ":lateness": 60}
"""


@pytest.mark.parametrize("platform", ["canvas", "gradescope"])
def test_the_platform_s_own_mark_of_lateness_is_told(platform, collect, zipped, answered):
    notebook = answered("02_how_it_works")
    files = {name: notebook for name in NAMES["canvas"]}
    if platform == "gradescope":
        files = {f"export/submission_{n}/02_how_it_works.ipynb": notebook for n in (1, 2)}
        files["export/submission_metadata.yml"] = LATENESS
    lines = [line.strip() for line in collect(zipped(files)).output.splitlines()]
    assert {"ann: attempt 1 of 1", "jorg: attempt 1 of 1, late"} <= set(lines)


@pytest.fixture
def in_berlin(monkeypatch):
    """The time zone of this machine, until the test ends."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(("due", "late"), [("2026-03-01 12:00", True), ("2026-03-01 13:00", False)])
def test_local_times_are_those_of_this_machine(due, late, collect, zipped, answered, course_dir, in_berlin):
    name = "Lesson 2_ann_attempt_2026-03-01-12-30-00_02_how_it_works.ipynb"
    result = collect(zipped({name: answered("02_how_it_works")}), options=["--due", due])
    stamp = course_dir / "submitted/ann/02_how_it_works/timestamp.txt"
    assert stamp.read_text().startswith("2026-03-01 11:30:00")  # UTC
    assert result.output.rstrip().endswith("late") == late


def test_an_exchange_s_own_time_stamp_counts_before_the_folder_s(collect, zipped, answered, course_dir):
    folder = "inbound/ann+02_how_it_works+2026-03-01 10:00:00 UTC+abc"
    files = {f"{folder}/02_how_it_works.ipynb": answered("02_how_it_works")}
    collect(zipped(files | {f"{folder}/timestamp.txt": b"2026-02-28 09:00:00.5 UTC"}))
    stamp = course_dir / "submitted/ann/02_how_it_works/timestamp.txt"
    assert stamp.read_text() == "2026-02-28 09:00:00.500000 UTC"


def test_moodle_s_word_for_a_hidden_name_is_nobody_s_name(collect, zipped, answered, placed):
    names = [f"Participant_{n}_assignsubmission_file/02_how_it_works.ipynb" for n in (123, 9)]
    result = collect(zipped({name: answered("02_how_it_works") for name in names}))
    assert placed() == {("ann", "02_how_it_works")}
    assert "names '9', who is not in the roster" in result.output


def test_canvas_s_anonymous_students_are_told_apart(collect, zipped, answered, placed):
    names = [f"anon_{letters}_{n}_02_how_it_works.ipynb" for n, letters in enumerate(("x1Y2z", "ab3cd"))]
    collect(zipped({name: answered("02_how_it_works") for name in names}), roster=None)
    assert {student for student, _ in placed()} == {"x1Y2z", "ab3cd"}


def test_a_lone_student_s_folder_is_no_assignment_s(collect, zipped, answered, placed):
    collect(zipped({"Ann Lee/02_how_it_works.ipynb": answered("02_how_it_works")}))
    assert placed() == {("ann", "02_how_it_works")}


def test_the_assignment_s_folder_is_no_student_s(collect, zipped, answered, placed):
    files = {
        f"Bob/{name}": answered("02_how_it_works")
        for name in ("Ann Lee - 02_how_it_works.ipynb", "02_how_it_works.ipynb")
    }
    result = collect(zipped(files), roster=None)
    assert {student for student, _ in placed()} == {"Ann_Lee"}
    assert "names no student in its file name or folder" in result.output


def test_blackboard_receipt_settles_a_user_name_with_underscores(collect, zipped, answered, placed):
    stem = f"Lesson_2_ann_m_lee_attempt_{BLACKBOARD_TIME}"
    receipt = "Name: Ann Lee (ann_m_lee)\r\nAssignment: Lesson_2\r\nDate Submitted: Sunday, 1 March 2026\r\n"
    collect(zipped({f"{stem}.txt": receipt, f"{stem}_02_how_it_works.ipynb": answered("02_how_it_works")}), roster=None)
    assert placed() == {("ann_m_lee", "02_how_it_works")}


def test_a_receipt_of_somebody_else_settles_nothing(collect, zipped, answered, placed):
    stem = f"Lesson 2_ann_attempt_{BLACKBOARD_TIME}"
    files = {f"{stem}.txt": "Name: Jörg Müller (jorg)\n", f"{stem}_02_how_it_works.ipynb": answered("02_how_it_works")}
    collect(zipped(files), roster=None)
    assert placed() == {("ann", "02_how_it_works")}


@pytest.mark.parametrize(
    ("roster", "platform"), [(CANVAS_ROSTER, "canvas"), (MOODLE_WORKSHEET, "moodle folders"), (ROSTER, "classroom")]
)
def test_each_platforms_own_csv_serves_as_roster(roster, platform, collect, zipped, answered, placed):
    collect(zipped({name: answered("02_how_it_works") for name in NAMES[platform]}), roster=roster)
    assert {("ann", "02_how_it_works"), ("jorg", "02_how_it_works")} <= placed()


def test_a_name_that_fits_two_students_is_not_placed(collect, zipped, answered, placed):
    twins = "student_id,last_name,first_name\nann1,Lee,Ann\nann2,Lee,Ann\n"
    result = collect(zipped({"x/Ann Lee - 02_how_it_works.ipynb": answered("02_how_it_works")}), roster=twins)
    assert result.exit_code == 1
    assert "fits several students, ann1, ann2" in result.output
    assert placed() == set()


NAMESAKES = {
    "canvas": "leeann_{}_9_02_how_it_works.ipynb",
    "moodle": "Ann Lee_{}_assignsubmission_file/02_how_it_works.ipynb",
}


@pytest.mark.parametrize(("number", "kept"), [("", set()), ("7", {("ann", "02_how_it_works")})])
@pytest.mark.parametrize("platform", NAMESAKES)
def test_two_of_one_name_are_not_one_student_because_the_roster_lists_one(
    platform, number, kept, collect, zipped, answered, placed
):
    files = {NAMESAKES[platform].format(n): answered("02_how_it_works", f"return {n}") for n in (7, 8)}
    result = collect(zipped(files), roster=f"student_id,last_name,first_name,lms_id\nann,Lee,Ann,{number}\n")
    assert result.exit_code == 1
    assert placed() == kept
    assert "(7, 8), the roster has one" in result.stderr and f"Not placed: {2 - len(kept)}\n" in result.stderr


def test_a_number_that_moodle_gave_anew_for_each_assignment_makes_no_second_student(collect, zipped, answered, placed):
    lessons = {"Lesson 2": (7, "02_how_it_works"), "Lesson 1": (8, "01_foundations")}
    files = {
        f"{folder}/Ann Lee_{number}_assignsubmission_file/{lesson}.ipynb": answered(lesson)
        for folder, (number, lesson) in lessons.items()
    }
    result = collect(zipped(files), roster="student_id,last_name,first_name\nann,Lee,Ann\n")
    assert placed() == {("ann", lesson) for _, lesson in lessons.values()}, result.output


def test_without_a_roster_ids_come_from_the_names(collect, zipped, answered, placed):
    collect(zipped({name: answered("02_how_it_works") for name in NAMES["moodle folders"]}), roster=None)
    assert placed() == {("ann_lee_123", "02_how_it_works"), ("jörg_müller_456", "02_how_it_works")}


def test_a_renamed_notebook_is_known_by_its_exercises(collect, zipped, answered, placed):
    collect(zipped({"leeann_123_9001_final VERSION.ipynb": answered("01_foundations")}))
    assert placed() == {("ann", "01_foundations")}


def test_a_stranger_and_an_unknown_notebook_are_named(collect, zipped, answered, placed):
    files = {
        "leeann_123_9001_holiday.ipynb": b'{"cells": []}',
        "doejane_999_9002_02_how_it_works.ipynb": answered("02_how_it_works"),
    }
    result = collect(zipped(files))
    assert result.exit_code == 1
    assert placed() == set()
    assert "holiday.ipynb: is none of the lessons" in result.output
    assert "'doejane', who is not in the roster" in result.output
