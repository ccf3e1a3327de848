"""Attempts are kept, the chosen one is graded, and nothing that was collected gets lost."""

import contextlib
import datetime
import os
import sqlite3
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from course.commands.collect import command
from course.grading.collect import store as store_module
from course.grading.collect.store import Store
from course.grading.coursefolder import open_course

LESSON = "02_how_it_works"


@pytest.fixture
def collect(course_dir):
    def run(*archives, options=()):
        return CliRunner().invoke(command, [*map(str, archives), "--course-dir", str(course_dir), *options])

    return run


@pytest.fixture
def graded(course_dir):
    """graded() -> text of ann's submission that nbgrader would grade."""
    return lambda: (course_dir / "submitted/ann" / LESSON / f"{LESSON}.ipynb").read_text()


def attempt(day):
    return f"{LESSON}_ann_attempt_2026-03-{day:02d}-12-00-00_{LESSON}.ipynb"


@pytest.mark.parametrize(
    ("options", "expected"),
    [([], "third"), (["--keep", "first"], "first"), (["--keep", "on-time", "--due", "2026-03-02 23:59"], "second")],
)
def test_the_attempt_is_the_instructors_choice(options, expected, collect, zipped, answered, graded):
    files = {
        attempt(day): answered(LESSON, f"return {word!r}") for day, word in [(2, "second"), (3, "third"), (1, "first")]
    }
    result = collect(zipped(files), options=options)
    assert result.exit_code == 0, result.output
    assert expected in graded()


def test_a_late_attempt_is_said_to_be_late(collect, zipped, answered):
    result = collect(zipped({attempt(3): answered(LESSON)}), options=["--due", "2026-03-02 23:59"])
    assert "ann: attempt 1 of 1, handed in 2026-03-03" in result.output
    assert result.output.rstrip().endswith("late")


@pytest.mark.parametrize("text", ["2026-03-31", "tomorrow", "2026-03-31 25:00", "0001-01-01 00:00"])
def test_a_due_date_without_a_time_of_day_is_refused(text, collect, zipped, answered, course_dir):
    result = collect(zipped({attempt(1): answered(LESSON)}), options=["--due", text])
    assert result.exit_code == 2
    assert "write it as '2026-03-31 23:59'" in result.output
    assert not (course_dir / "submitted").exists()


@pytest.mark.parametrize(
    ("zone", "due", "late"),
    [
        ("Pacific/Kiritimati", "2026-03-02 23:59", False),  # 14 hours ahead of UTC
        ("Pacific/Kiritimati", "2026-03-02 11:59", True),
        ("Etc/GMT+12", "2026-03-02 11:59", True),
        ("Europe/Berlin", "2026-03-29 02:30", False),  # a time that clocks pass over
    ],
)
def test_due_dates_and_times_are_those_of_this_machine(zone, due, late, collect, zipped, answered, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    result = collect(zipped({attempt(2): answered(LESSON)}), options=["--due", due])
    monkeypatch.undo()
    time.tzset()
    assert "handed in 2026-03-02 12:00 " in result.output
    assert result.output.rstrip().endswith("late") == late


def test_an_export_without_times_says_that_none_is_late(collect, zipped, answered):
    archive = zipped({f"ann/{LESSON}.ipynb": answered(LESSON), f"bob/{LESSON}.ipynb": answered(LESSON)})
    assert "does not say when" not in collect(archive).output
    result = collect(zipped({f"x/eve/{LESSON}.ipynb": answered(LESSON)}), options=["--keep", "on-time"])
    assert "the export does not say when 1 of these came in" in result.output


def test_a_file_of_another_kind_is_named(collect, zipped, answered):
    result = collect(zipped({f"x/ann/{LESSON}.ipynb": answered(LESSON), "x/bob/report.pdf": b"%PDF"}))
    assert "no notebook, and left out: x/bob/report.pdf\n" in result.stdout
    assert result.exit_code == 0


@pytest.fixture
def roster(tmp_path):
    """roster(rows) -> options for a roster of those rows, as a registrar's office exports it."""

    def write(*rows):
        path = tmp_path / "class.csv"
        path.write_text("\r\n".join(("Student ID;Surname;Given names", *rows, "", "")), "utf-8-sig", newline="")
        return ["--roster", str(path)]

    return write


ANOTHER_KIND = {
    "canvas": "raybob_7_9_{}",
    "moodle": "Bob Ray_7_assignsubmission_file/{}",
    "blackboard": "Lesson 2_bob_attempt_2026-03-01-12-00-00_{}",
    "classroom": "x/Bob Ray - {}",
}


@pytest.mark.parametrize("file", ["work.py", "answers.txt"])
@pytest.mark.parametrize("platform", ANOTHER_KIND)
def test_who_handed_in_no_notebook_but_something_else_is_told_from_who_handed_in_nothing(
    platform, file, collect, zipped, answered, roster
):
    name = ANOTHER_KIND[platform]
    ann = (
        name.replace("raybob", "leeann")
        .replace("Bob Ray", "Ann Lee")
        .replace("_bob_", "_ann_")
        .format(f"{LESSON}.ipynb")
    )
    files = {ann: answered(LESSON), name.format(file): "print()"}
    result = collect(zipped(files), options=roster("ann;Lee;Ann", "bob;Ray;Bob", "eve;Ito;Eve"))
    assert result.exit_code == 1
    reason = "is no notebook, and bob Bob Ray handed in no other; ask for the .ipynb"
    assert f"{name.format(file)}: {reason}\n" in result.stderr
    assert f"{LESSON}: nothing from 1 student of the roster: eve Eve Ito\n" in result.stdout
    assert f"{LESSON}: see what is not placed for 1 student of the roster: bob Bob Ray\n" in result.stdout
    assert "left out" not in result.stdout


def test_a_file_beside_a_notebook_is_left_out_without_a_word_of_its_student(collect, zipped, answered, roster):
    files = {f"Ann Lee_7_assignsubmission_file/{name}": answered(LESSON) for name in (f"{LESSON}.ipynb", "data.csv")}
    result = collect(zipped(files), options=roster("ann;Lee;Ann"))
    assert result.exit_code == 0
    assert "no notebook, and left out: Ann Lee_7_assignsubmission_file/data.csv" in result.stdout


def test_notebooks_that_were_not_placed_are_counted_and_their_possible_students_are_not_said_to_be_absent(
    collect, zipped, answered, roster
):
    files = {f"Ann Lee_{n}_assignsubmission_file/{LESSON}.ipynb": answered(LESSON) for n in (7, 8)}
    files["Eve Ito_9_assignsubmission_file/" + f"{LESSON}.ipynb"] = answered(LESSON)
    files["Bob Ray_10_assignsubmission_file/work.rar"] = b"Rar!"
    result = collect(zipped(files), options=roster("a1;Lee;Ann", "a2;Lee;Ann", "eve;Ito;Eve", "bob;Ray;Bob"))
    assert "1 notebook of 1 student, and 2 of which the student is not known\n" in result.stdout
    assert "nothing from" not in result.stdout
    assert "see what is not placed for 3 students of the roster: a1 Ann Lee, a2 Ann Lee, bob Bob Ray\n" in result.stdout
    assert "Not placed: 3\n" in result.stderr


def test_the_gradebook_learns_the_class_and_the_names_that_it_lacks(collect, zipped, answered, roster, course_dir):
    with Gradebook(f"sqlite:///{course_dir}/gradebook.db") as gradebook:
        gradebook.add_student("eve", first_name="Evelyn")
    files = {f"x/{name}/{LESSON}.ipynb": answered(LESSON) for name in ("007", "eve")}
    result = collect(zipped(files), options=roster("007;Müller;Jörg", "eve;Ito;Eve", "bob;Ray;Bob"))
    assert result.exit_code == 0, result.output
    with Gradebook(f"sqlite:///{course_dir}/gradebook.db") as gradebook:
        known = {row.id: (row.first_name, row.last_name) for row in gradebook.students}
    assert known == {"007": ("Jörg", "Müller"), "eve": ("Evelyn", "Ito"), "bob": ("Bob", "Ray")}


def test_a_roster_of_which_nobody_handed_in_does_not_reach_the_gradebook(collect, zipped, answered, roster, course_dir):
    with Gradebook(f"sqlite:///{course_dir}/gradebook.db"):
        pass
    collect(zipped({f"x/ann/{LESSON}.ipynb": answered(LESSON)}), options=roster("x1;Lin;Ada", "x2;Ray;Bob"))
    with Gradebook(f"sqlite:///{course_dir}/gradebook.db") as gradebook:
        assert gradebook.students == []


def test_a_gradebook_that_cannot_be_written_costs_no_submission(collect, zipped, answered, roster, course_dir):
    with Gradebook(f"sqlite:///{course_dir}/gradebook.db"):
        pass
    with contextlib.closing(sqlite3.connect(course_dir / "gradebook.db")) as other:
        other.execute("CREATE TRIGGER full BEFORE INSERT ON student BEGIN SELECT RAISE(ABORT, 'disk full'); END")
    result = collect(zipped({f"x/ann/{LESSON}.ipynb": answered(LESSON)}), options=roster("ann;Lee;Ann"))
    assert result.exit_code == 0
    assert "The students' names are not in the gradebook yet: " in result.stderr and "disk full" in result.stderr
    assert (course_dir / "submitted/ann" / LESSON / f"{LESSON}.ipynb").is_file()


def test_who_is_on_the_roster_and_handed_in_nothing_is_named(collect, zipped, answered, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text("student_id\nann\nbob\neve\n")
    files = {f"x/{name}/{LESSON}.ipynb": answered(LESSON) for name in ("ann", "zoe")}
    result = collect(zipped(files), options=["--roster", str(roster)])
    assert f"{LESSON}: nothing from 2 students of the roster: bob, eve\n" in result.stdout
    assert result.stderr.rstrip().endswith("submitted/<student>/<lesson>/<lesson>.ipynb.")


def test_every_attempt_is_kept_and_a_second_run_changes_nothing(collect, zipped, answered, course_dir):
    archive = zipped({attempt(day): answered(LESSON, f"return {day}") for day in (1, 2)})
    collect(archive)
    tree = sorted((p, p.stat().st_mtime_ns) for p in course_dir.rglob("*") if p.is_file())
    result = collect(archive)
    assert "0 new attempts, 0 submissions put in place, 1 in place already" in result.output
    assert sorted((p, p.stat().st_mtime_ns) for p in course_dir.rglob("*") if p.is_file()) == tree
    assert len(Store(course_dir / "submitted").attempts("ann", LESSON)) == 2


def test_a_later_export_wins_and_an_earlier_one_does_not_win_back(collect, zipped, answered, graded):
    name = f"Ann_7_assignsubmission_file/{LESSON}.ipynb"
    exports = {}
    for day, word in [(1, "monday"), (3, "wednesday"), (5, "monday")]:
        exports[day] = zipped({name: answered(LESSON, f"return {word!r}")}, f"{day}.zip")
        moment = datetime.datetime(2026, 3, day).timestamp()
        os.utime(exports[day], (moment, moment))
    roster = exports[1].parent / "roster.csv"
    roster.write_text("student_id,lms_id\nann,7\n")
    for day, expected in [(1, "monday"), (3, "wednesday"), (1, "wednesday"), (5, "monday")]:
        collect(exports[day], options=["--roster", str(roster)])
        assert expected in graded()


def test_the_same_notebook_handed_in_again_counts_from_then(collect, zipped, answered, course_dir):
    for day in (1, 3):
        collect(zipped({attempt(day): answered(LESSON)}, f"{day}.zip"))
        stamp = (course_dir / "submitted/ann" / LESSON / "timestamp.txt").read_text()
        assert stamp.startswith(f"2026-03-{day:02d} ")


def test_the_gradebook_s_due_date_says_what_is_late(graded_class, zipped, answered):
    root = graded_class(6).root  # its lessons were due as the first of March began
    result = CliRunner().invoke(command, [str(zipped({attempt(1): answered(LESSON)})), "--course-dir", str(root)])
    assert result.output.rstrip().endswith("late")


def test_the_copy_with_the_higher_number_wins(collect, zipped, answered, graded):
    names = {f"ann/{LESSON}{suffix}.ipynb": word for suffix, word in [(" (2)", "two"), ("", "none"), (" (10)", "ten")]}
    files = {name: answered(LESSON, f"return {word!r}") for name, word in names.items()}
    collect(zipped(files | {f"bob/{LESSON}.ipynb": answered(LESSON)}))
    assert "ten" in graded()


def test_nbgrader_sees_the_students_and_not_the_kept_attempts(collect, zipped, answered, course_dir, monkeypatch):
    collect(zipped({attempt(day): answered(LESSON, f"return {day}") for day in (1, 2)}))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")  # nbgrader starts alembic
    api = NbGraderAPI(open_course(course_dir))
    assert api.get_submitted_students("*") == {"ann"}
    assert api.get_submission(LESSON, "ann")["timestamp"].startswith("2026-03-02")


def test_of_two_names_the_plain_one_is_graded(collect, zipped, answered, graded):
    files = {f"{attempt(1)[: -len('.ipynb')]}{suffix}.ipynb": word for suffix, word in [("", "plain"), ("_old", "old")]}
    collect(zipped({name: answered(LESSON, f"return {word!r}") for name, word in files.items()}))
    assert "plain" in graded()


def test_what_a_hand_put_into_submitted_is_kept(collect, zipped, answered, course_dir, graded):
    place = course_dir / "submitted/ann" / LESSON
    place.mkdir(parents=True)
    (place / f"{LESSON}.ipynb").write_bytes(answered(LESSON, "return 'by hand'"))
    (place / "plot.png").write_bytes(b"png")
    collect(zipped({attempt(1): answered(LESSON, "return 'exported'")}))
    assert "exported" in graded()
    kept = course_dir / "submitted/.attempts" / LESSON / "ann"
    assert [path.parent.name[:5] for path in kept.rglob("plot.png")] == ["found"]
    assert any("by hand" in path.read_text() for path in kept.rglob("*.ipynb"))


def test_progress_is_shown_on_stderr(collect, zipped, answered):
    result = collect(zipped({f"ann/{LESSON}.ipynb": answered(LESSON), f"bob/{LESSON}.ipynb": answered(LESSON)}))
    assert "2/2 [" in result.stderr and " submissions/s]" in result.stderr
    assert "2/2" not in result.stdout


def test_a_full_disk_ends_in_a_sentence_and_loses_nothing(collect, zipped, answered, graded, monkeypatch, course_dir):
    collect(zipped({attempt(1): answered(LESSON, "return 'first'")}))

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store_module.shutil, "copyfile", full)
        result = collect(zipped({attempt(2): answered(LESSON, "return 'second'")}, "next.zip"))
    assert result.exit_code == 2
    assert "No space left on device" in result.output
    assert "first" in graded()
    assert collect(zipped({attempt(2): answered(LESSON, "return 'second'")}, "next.zip")).exit_code == 0
    assert "second" in graded()
    assert not list((course_dir / "submitted/.attempts/.incoming").iterdir())


def test_a_run_that_was_cut_off_before_placing_is_made_good(collect, zipped, answered, graded, course_dir, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    archive = zipped({attempt(1): answered(LESSON, "return 'first'")})
    with monkeypatch.context() as patch:
        patch.setattr(Store, "place", interrupted)
        stopped = collect(archive)
    assert stopped.exit_code == 2
    assert "What was collected is kept" in stopped.output
    other = zipped({f"{LESSON}_bob_attempt_2026-03-01-12-00-00_{LESSON}.ipynb": answered(LESSON)}, "other.zip")
    collect(other)
    assert "first" in graded()


@pytest.mark.parametrize(
    ("files", "message"), [({}, "holds no notebook"), ({"ann/essay.pdf": b"%PDF"}, "holds no notebook")]
)
def test_an_archive_without_notebooks_is_one_sentence(files, message, collect, zipped):
    result = collect(zipped(files))
    assert result.exit_code == 2
    assert message in result.output


def test_one_bad_archive_does_not_stop_the_next(collect, zipped, answered, graded, tmp_path):
    bad = tmp_path / "bad.zip"
    bad.write_bytes(b"not an archive")
    result = collect(bad, zipped({attempt(1): answered(LESSON, "return 'good'")}), tmp_path / "missing.zip")
    assert result.exit_code == 2
    assert "bad.zip is neither" in result.output
    assert "missing.zip does not exist" in result.output
    assert "good" in graded()


def test_an_unknown_assignment_is_named_with_the_known_ones(collect, zipped):
    result = collect(zipped({}), options=["-a", "07_nothing"])
    assert result.exit_code == 2
    assert "no assignment '07_nothing'" in result.output
    assert LESSON in result.output


def test_another_lesson_is_not_taken_for_the_one_asked_for(collect, zipped, answered, course_dir):
    result = collect(zipped({"x/ann/01_foundations.ipynb": answered("01_foundations")}), options=["-a", LESSON])
    assert result.exit_code == 1
    assert "is 01_foundations, which was not asked for" in result.output
    assert not (course_dir / "submitted/ann").exists()


def test_a_single_unknown_notebook_is_the_lesson_asked_for(collect, zipped, course_dir):
    collect(zipped({"x/ann/work.ipynb": b'{"cells": []}', "x/bob/mine.ipynb": b"{"}), options=["-a", LESSON])
    assert {path.name for path in (course_dir / "submitted").glob("[!.]*")} == {"ann", "bob"}


def test_an_id_that_differs_in_case_only_is_the_same_student(collect, zipped, answered, course_dir):
    for number, name in enumerate(["Ann", "ann"]):
        collect(zipped({f"x/{name} - {LESSON}.ipynb": answered(LESSON, f"return {number}")}, f"{number}.zip"))
    assert [path.name for path in (course_dir / "submitted").glob("[!.]*")] == ["Ann"]


@pytest.mark.parametrize("name", ["..", ".hidden", "a/b"])
def test_a_student_id_cannot_lead_out_of_submitted(name, collect, zipped, answered, course_dir, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text(f"student_id,last_name,first_name\n{name},Lee,Ann\n")
    result = collect(zipped({f"x/Ann Lee - {LESSON}.ipynb": answered(LESSON)}), options=["--roster", str(roster)])
    assert result.exit_code == 1
    assert "cannot be the name of a folder" in result.output
    assert not list(course_dir.rglob("submitted/**/*.ipynb"))
