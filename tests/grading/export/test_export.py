"""Grades and feedback leave in the shapes that each platform imports, and no spreadsheet runs a name."""

import contextlib
import csv
import io
import os
import sqlite3
import subprocess
import sys
import zipfile

import pytest
from click.testing import CliRunner
from nbgrader.api import Gradebook

from course.commands.collect import command as collect
from course.commands.export import command
from course.grading.export.cells import csv_text, safe
from course.grading.wording import listed

LESSON = "02_how_it_works"
ROSTER = "student_id,last_name,first_name,lms_id\ns000,O'Neil,First0,11\ns001,Müller,First1,12\n"


@pytest.fixture
def export(graded_class, tmp_path):
    """export(*options) -> (result, records of the CSV it wrote)."""
    graded = graded_class()

    def run(*options):
        target = tmp_path / "out.csv"
        result = CliRunner().invoke(command, ["--course-dir", str(graded.root), "--to", str(target), *options])
        text = target.read_bytes().decode("utf-8-sig") if target.is_file() else ""
        return result, list(csv.DictReader(io.StringIO(text, newline="")))

    run.root, run.people, run.folder = graded.root, graded.people, tmp_path
    return run


def scores(root, assignment):
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return {s.student.id: s.score for s in gradebook.assignment_submissions(assignment)}


def test_plain_has_every_student_and_every_graded_assignment(export):
    result, records = export()
    assert result.exit_code == 0, result.output
    expected = scores(export.root, LESSON)
    found = {r["student_id"]: r["final_score"] for r in records if r["assignment"] == LESSON}
    assert {student: float(score) for student, score in found.items() if score} == expected
    assert found["s023"] == ""
    assert "of them wait under Manual grading in formgrader: a grade by hand is missing" in result.output


def test_an_assignment_that_no_one_was_graded_for_is_left_out_unless_it_is_named(export):
    with Gradebook(f"sqlite:///{export.root}/gradebook.db") as gradebook:
        for submission in gradebook.assignment_submissions("01_foundations"):
            gradebook.remove_submission("01_foundations", submission.student.id)
        gradebook.engine.dispose()
    result, records = export("--absent-as-zero")
    assert {r["assignment"] for r in records} == {LESSON}
    assert result.stdout.endswith(f" grades, {LESSON}.\n")
    assert {r["assignment"] for r in export("01_foundations", LESSON)[1]} == {"01_foundations", LESSON}


def test_what_was_collected_and_not_graded_is_told(export):
    (export.root / "submitted/s023" / LESSON).mkdir(parents=True)
    result, _ = export(LESSON)
    assert f"Without 1 new submission, of s023; run `course grade {LESSON}`" in result.stderr


def test_a_folder_can_be_named(export):
    result, _ = export("--to", str(export.folder / "grades"))
    assert result.exit_code == 0
    assert (export.folder / "grades" / "grades_plain.csv").is_file()


def test_a_roster_with_other_ids_is_refused(export):
    roster = export.folder / "roster.csv"
    roster.write_text("student_id\nann.lee\n")
    result, records = export("--roster", str(roster))
    assert (result.exit_code, records) == (2, [])
    assert "ids in it are like 'ann.lee', and in the gradebook like 's000'" in result.stderr


def test_absent_as_zero(export):
    _, records = export("--absent-as-zero")
    assert {r["final_score"] for r in records if r["student_id"] == "s023"} == {"0"}


@pytest.mark.parametrize("platform", ["plain", "canvas", "moodle", "gradescope"])
def test_what_could_not_be_graded_is_no_zero(platform, export):
    with Gradebook(f"sqlite:///{export.root}/gradebook.db") as gradebook:
        gradebook.add_student("late")
        gradebook.add_submission(LESSON, "late")
        gradebook.engine.dispose()
    result, records = export("--for", platform, LESSON, "--absent-as-zero")
    column = {"plain": "final_score"}.get(platform, LESSON)
    assert [r[column] for r in records if "late" in r.values()] == [""]
    assert f"{LESSON}: left empty, because nothing of theirs could be graded yet: late." in result.stderr


def test_a_long_list_of_students_is_cut():
    assert listed(["ann", "bob"]) == "ann, bob"
    assert listed(f"s{n}" for n in range(300)).endswith("s19 and 280 more")


def test_names_survive_quotes_commas_and_accents_and_formulas_become_text(export):
    _, records = export()
    names = {r["last_name"] for r in records}
    assert {"O'Neil", "Müller", 'van "Q" Dyk', "Lee, Jr", "'=SUM(A1)"} <= names


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", " =1", "＝1", '=HYPERLINK("x")'])
def test_a_formula_is_made_text(text):
    [[cell]] = csv.reader(io.StringIO(csv_text([[text]]), newline=""))
    assert cell == f"'{text}"


@pytest.mark.parametrize("text", ["-", "-3.5", "+7", "a=b", "O'Neil", "ann@uni.test", "", "Jean-Luc"])
def test_what_is_no_formula_stays(text):
    assert safe(text) == text


@pytest.mark.parametrize(("number", "text"), [(0.0, "0"), (7.25, "7.25"), (1 / 3, "0.3333"), (-2.0, "-2"), (None, "")])
def test_numbers_are_short(number, text):
    assert safe(number) == text


def test_canvas_without_a_template_has_its_columns(export):
    _, records = export("--for", "canvas", LESSON)
    assert list(records[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", LESSON]
    assert records[0]["Student"].strip() == "Points Possible"
    assert records[0][LESSON] == "13"
    assert any(record["Student"] == "O'Neil, First0" and record["SIS Login ID"] == "s000" for record in records)


def test_a_canvas_template_keeps_whole_rows_and_grades_of_whom_the_gradebook_does_not_know(export):
    template = export.folder / "canvas.csv"
    rows = f'Student,ID,SIS Login ID,{LESSON} (4711)\n    Points Possible,,,13\n"O\'Neil, First0",,s000,\n'
    template.write_text(rows + '"Nobody, Ann",102,ann,7\n', "utf-8")
    _, records = export("--for", "canvas", LESSON, "--template", str(template))
    assert {r["SIS Login ID"]: r[f"{LESSON} (4711)"] for r in records}["ann"] == "7"


def test_a_canvas_template_without_the_assignment_is_told_what_comes_of_it(export):
    template = export.folder / "canvas.csv"
    template.write_text('Student,ID,SIS Login ID,Lesson 2 (4711)\n"O\'Neil, First0",100,s000,\n', "utf-8")
    result, _ = export("--for", "canvas", LESSON, "--template", str(template))
    assert f"has no assignment {LESSON!r}; its assignments are Lesson 2: Canvas would make a new one" in result.stderr


def test_a_canvas_template_is_filled_in_and_scaled(export):
    template = export.folder / "canvas.csv"
    template.write_text(
        f"Student,ID,SIS User ID,SIS Login ID,Section,Other (7),{LESSON} (4711),Final Score\n"
        ",,,,,,Manual Posting,\n"
        "    Points Possible,,,,,5,26,(read only)\n"
        '"O\'Neil, First0",100,,s000,A,4,,80\n'
        '"Müller, First1",101,S1,s001,A,4,,80\n'
        '"Nobody, Ann",102,,ann,A,4,,80\n'
        '"Student, Test",103,,test,A,,,\n',
        "utf-8",
    )
    result, records = export("--for", "canvas", LESSON, "--template", str(template))
    column = f"{LESSON} (4711)"
    assert list(records[0]) == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", column]
    expected = scores(export.root, LESSON)
    found = {r["SIS Login ID"]: r[column] for r in records}
    assert float(found["s000"]) == 2 * expected["s000"]
    assert float(found["s001"]) == 2 * expected["s001"]
    assert not found["ann"]
    assert "Canvas would make a new one" not in result.output
    assert "test" not in found
    assert "scaled from 13 points to the 26" in result.output
    assert "--roster adds what it lacks of these: Nobody, Ann." in result.output
    assert "out.csv: 2 grades" in result.stdout


CANVAS = (
    'Student;ID;SIS Login ID;Section\nPoints Possible;;;\n"O\'Neil, First0";100;s000;A\n"Müller, First1";101;s001;A\n'
)


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8-sig", "utf-16"])
def test_a_template_that_a_spreadsheet_saved_is_read(encoding, export):
    template = export.folder / "canvas.csv"
    template.write_bytes(CANVAS.encode(encoding))
    result, records = export(LESSON, "--for", "canvas", "--template", str(template))
    assert result.exit_code == 0, result.output
    assert [float(r[LESSON]) for r in records[1:]] == [scores(export.root, LESSON)[s] for s in ("s000", "s001")]
    assert records[2]["Student"] == "Müller, First1"


def test_a_template_of_another_class_is_refused(export):
    template = export.folder / "canvas.csv"
    template.write_text("Student,ID,Section\n" + "".join(f'"Nobody, N{n}",{n},A\n' for n in range(900, 1000)))
    result, records = export(LESSON, "--for", "canvas", "--template", str(template))
    assert (result.exit_code, records) == (2, [])
    assert result.stderr.startswith("Error: The template's rows fit no student of the gradebook")
    assert result.stderr.count("\n") == 1


def test_a_moodle_worksheet_keeps_its_columns_and_gets_grades(export):
    template = export.folder / "moodle.csv"
    template.write_text(
        "\ufeffIdentifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
        "Last modified (submission),Last modified (grade),Feedback comments\n"
        'Participant 11,First0 O\'Neil,s000@uni.test,Submitted,,"13,00",Yes,-,-,\n'
        'Participant 12,Ann Nobody,ann@uni.test,No submission,"5,00","13,00",Yes,-,-,old\n',
        "utf-8",
    )
    result, records = export("--for", "moodle", LESSON, "--template", str(template))
    assert result.exit_code == 0, result.output
    assert float(records[0]["Grade"]) == scores(export.root, LESSON)["s000"]
    assert records[0]["Identifier"] == "Participant 11"
    assert records[0]["Last modified (grade)"] == "-"
    assert records[1]["Grade"] == "5,00"
    assert records[1]["Feedback comments"] == "old"


def test_gradescope_has_four_columns_for_each_assignment(export):
    _, records = export("--for", "gradescope", LESSON)
    suffixes = ["", " - Max Points", " - Submission Time", " - Lateness (H:M:S)"]
    assert list(records[0])[4:] == [LESSON + suffix for suffix in suffixes]
    by_id = {record["SID"]: record for record in records}
    assert by_id["s013"][f"{LESSON} - Lateness (H:M:S)"] == "01:00:00"
    assert by_id["s000"][f"{LESSON} - Lateness (H:M:S)"] == "00:00:00"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["07_nothing"], "no assignment '07_nothing'"),
        (["--for", "canvas", "--template", "missing.csv"], "missing.csv cannot be read"),
        (["--for", "gradescope", "--template", "x.csv"], "--template is for Canvas and Moodle"),
        (["--feedback"], "no feedback yet"),
    ],
)
def test_a_mistake_is_one_sentence(options, message, export):
    result, _ = export(*options)
    assert result.exit_code == 2
    assert message in result.output


def test_without_a_gradebook_there_is_one_sentence(course_dir):
    result = CliRunner().invoke(command, ["--course-dir", str(course_dir)])
    assert result.exit_code == 2
    assert "no gradebook" in result.output
    assert not (course_dir / "gradebook.db").exists()


def test_a_locked_gradebook_is_one_sentence(graded_class):
    graded = graded_class(6)
    with contextlib.closing(sqlite3.connect(graded.root / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        result = CliRunner().invoke(command, ["--course-dir", str(graded.root)])
    assert result.exit_code == 2
    assert "database is locked" in result.output
    assert CliRunner().invoke(command, ["--course-dir", str(graded.root)]).exit_code == 0


def test_a_database_of_something_else_is_left_alone(course_dir):
    with contextlib.closing(sqlite3.connect(course_dir / "gradebook.db")) as other:
        other.execute("CREATE TABLE mine (x)")
    result = CliRunner().invoke(command, ["--course-dir", str(course_dir)])
    assert result.exit_code == 2
    assert "not an nbgrader gradebook" in result.output
    with contextlib.closing(sqlite3.connect(course_dir / "gradebook.db")) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


@pytest.mark.parametrize("url", ["postgresql://nobody@127.0.0.1:1/none", "nosuch://x", "not a url"])
def test_a_database_out_of_reach_is_one_sentence(url, course_dir):
    (course_dir / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.db_url = {url!r}\n")
    result = CliRunner().invoke(command, ["--course-dir", str(course_dir)])
    assert result.exit_code == 2
    assert result.output.startswith("Error: The gradebook")
    assert result.output.count("\n") == 1


def test_a_broken_gradebook_is_one_sentence(course_dir):
    (course_dir / "gradebook.db").write_bytes(b"not a database" * 100)
    result = CliRunner().invoke(command, ["--course-dir", str(course_dir)])
    assert result.exit_code == 2
    assert "cannot be read" in result.output


@pytest.fixture
def feedback_names(graded_class, answered, zipped, tmp_path):
    """feedback_names(names of an export, platform) -> names in the feedback zip for that platform."""

    def run(names, platform, *options):
        root = graded_class(6).root
        roster = tmp_path / "roster.csv"
        roster.write_text(ROSTER, "utf-8")
        archive = zipped({name: answered(LESSON, f"return {name!r}") for name in names})
        placed = CliRunner().invoke(collect, [str(archive), "--course-dir", str(root), "--roster", str(roster)])
        assert placed.exit_code == 0, placed.output
        for student in ("s000", "s001"):
            folder = root / "feedback" / student / LESSON
            folder.mkdir(parents=True)
            (folder / f"{LESSON}.html").write_text(f"<p>For {student}</p>")
        arguments = ["--feedback", "--for", platform, "--course-dir", str(root), "--roster", str(roster), *options]
        result = CliRunner().invoke(command, [*arguments, "--to", str(tmp_path)])
        assert result.exit_code == 0, result.output
        [target] = tmp_path.glob("feedback_*.zip")
        with zipfile.ZipFile(target) as found:
            return {name: found.read(name).decode() for name in found.namelist()}

    return run


def test_canvas_gets_its_own_names_back(feedback_names):
    exported = [f"oneilfirst0_11_901_{LESSON}.ipynb", f"müllerfirst1_LATE_12_902_{LESSON}-1.ipynb"]
    assert feedback_names(exported, "canvas") == {
        f"oneilfirst0_11_901_{LESSON}.html": "<p>For s000</p>",
        f"müllerfirst1_LATE_12_902_{LESSON}-1.html": "<p>For s001</p>",
    }


def test_moodle_gets_feedback_names_with_participant_numbers(feedback_names):
    exported = [f"{name}_{number}_assignsubmission_file/{LESSON}.ipynb" for name, number in [("Ann", 11), ("Bob", 12)]]
    assert set(feedback_names(exported, "moodle")) == {
        f"Ann_11_assignfeedback_file_{LESSON}.html",
        f"Bob_12_assignfeedback_file_{LESSON}.html",
    }


def test_feedback_that_is_missing_or_older_than_its_grades_is_named(graded_class):
    root = graded_class(6).root
    total = scores(root, LESSON)
    new, regraded, by_hand = sorted(total)[:3]
    for student, shown in ((new, total[new]), (regraded, total[regraded]), (by_hand, total[by_hand] - 1)):
        page = root / "feedback" / student / LESSON / f"{LESSON}.html"
        page.parent.mkdir(parents=True)
        page.write_text(f"<h1>{LESSON} (Score: {shown:.1f} / 13.0)</h1>")
        moment = (root / "autograded" / student / LESSON / f"{LESSON}.ipynb").stat().st_mtime
        os.utime(page, (moment + (-5 if student == regraded else 5),) * 2)
    result = CliRunner().invoke(command, ["--course-dir", str(root), "--feedback"])
    [lacking, old] = [line for line in result.stderr.splitlines() if line.startswith(f"{LESSON}: ")]
    assert "no feedback yet for" in lacking and lacking.endswith(
        f"`nbgrader generate_feedback {LESSON}` and export again."
    )
    assert all(student in lacking for student in sorted(total)[3:]) and new not in lacking
    assert regraded in old and by_hand in old and new not in old and f"{LESSON} --force`" in old
    assert "01_foundations: no feedback yet for anybody; run" in result.stderr


def test_feedback_that_no_name_fits_is_not_written(graded_class):
    graded = graded_class(6)
    folder = graded.root / "feedback/s000" / LESSON
    folder.mkdir(parents=True)
    (folder / f"{LESSON}.html").write_text("<p></p>")
    result = CliRunner().invoke(command, ["--course-dir", str(graded.root), "--feedback", "--for", "canvas"])
    assert result.exit_code == 2
    assert f"{LESSON}: Left out, because" in result.stderr and "came from no Canvas export: s000." in result.stderr
    assert not (graded.root / "exports").exists()


def test_moodle_takes_the_number_from_the_roster_when_the_export_has_none(feedback_names):
    names = feedback_names([f"x/s000/{LESSON}.ipynb", f"x/s001/{LESSON}.ipynb"], "moodle")
    assert set(names) == {
        f"First0 O'Neil_11_assignfeedback_file_{LESSON}.html",
        f"First1 Müller_12_assignfeedback_file_{LESSON}.html",
    }


def test_the_tables_serve_nbgrader_export_too(graded_class):
    graded = graded_class(6)
    exporter = "course.grading.export.plugins.CanvasExporter"
    run = [sys.executable, "-m", "nbgrader", "export", f"--exporter={exporter}", "--to=canvas.csv"]
    done = subprocess.run(run, cwd=graded.root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = list(csv.reader(io.StringIO((graded.root / "canvas.csv").read_text("utf-8"), newline="")))
    assert rows[0][0] == "Student"
    assert len(rows) == 2 + 6
