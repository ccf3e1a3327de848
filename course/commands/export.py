"""``course export``: grades and feedback for a learning platform."""

import datetime
from pathlib import Path

import click

from course.commands import course_folder
from course.trouble import Trouble


@click.command(short_help="Write grades or feedback for a platform.")
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option(
    "--for",
    "platform",
    type=click.Choice(["plain", "canvas", "moodle", "gradescope", "blackboard"]),
    default="plain",
    show_default=True,
    help="The platform that imports the file.",
)
@click.option("--template", help="CSV that Canvas or Moodle exported, to be filled in: no name has to be guessed.")
@click.option("--roster", help="CSV of the class, for names and platform numbers that the gradebook lacks.")
@click.option("--absent-as-zero", is_flag=True, help="Write 0 where nothing was handed in; otherwise an empty cell.")
@click.option("--feedback", is_flag=True, help="Export feedback files instead, one zip for each assignment.")
@click.option("--to", help="Folder to write to, or a name ending in .csv for grades; by default exports/.")
@course_folder
def command(assignments, platform, template, roster, absent_as_zero, feedback, to, course_dir):
    """Write grades as CSV, or feedback as zip, for a learning platform to import.

    Of the ASSIGNMENTs, or of all that are graded. Exit status: 0 when something was written, else 2.
    """
    from course.grading.coursefolder import open_course, open_gradebook, pick_assignments
    from course.grading.export.results import read_grades
    from course.grading.roster import read_roster

    course = open_course(course_dir)
    people = read_roster(roster) if roster else None
    with open_gradebook(course) as gradebook:
        names = pick_assignments(course, assignments, [assignment.name for assignment in gradebook.assignments])
        grades = read_grades(gradebook, names, people)
    if not grades.graded():
        raise Trouble("Nothing has been graded yet, so there is nothing to export; grade first.")
    graded = sorted({student for student, _ in grades.results})
    if people and not set(graded) & set(people.students):
        theirs, ours = next(iter(people.students)), graded[0]
        raise Trouble(
            f"No student of the roster {roster} is in the gradebook: ids in it are like {theirs!r}, and in the "
            f"gradebook like {ours!r}; give the roster that `course collect` had."
        )
    names = list(assignments) or grades.graded()
    target = Path(to or Path(course.root, "exports"))
    try:
        if feedback:
            _export_feedback(course, grades, names, platform, target)
        else:
            _export_grades(course, grades, names, platform, target, template, 0.0 if absent_as_zero else None)
    except OSError as error:
        raise Trouble(f"The export was not written ({error}); an earlier one is untouched.") from error


def _export_grades(course, grades, assignments, platform, target, template, absent):
    from course.grading.csvfile import read_rows
    from course.grading.export.cells import csv_text, write_whole
    from course.grading.export.tables import TABLES, NotATemplate
    from course.grading.many.submissions import new_since
    from course.grading.wording import listed, plural

    if platform not in TABLES:
        raise Trouble(f"There is no table of grades for {platform}; use --for plain, or add --feedback.")
    if template and platform not in ("canvas", "moodle"):
        raise Trouble(f"--template is for Canvas and Moodle; {platform} needs none.")
    rows = read_rows(template, "template") if template else None
    if rows == []:
        raise Trouble(f"The template {template} is empty; export it again.")
    try:
        table = TABLES[platform](grades, assignments, absent, rows)
    except NotATemplate as reason:
        raise Trouble(str(reason)) from reason
    if target.suffix != ".csv":
        target = target / f"grades_{platform}.csv"
    encoding = "utf-8-sig" if platform == "plain" else "utf-8"  # spreadsheets read UTF-8 by the mark
    write_whole(target, csv_text(table.rows).encode(encoding))
    click.echo(f"Wrote {target}: {plural(table.grades, 'grade')}, {', '.join(assignments)}.")
    if waiting := grades.waiting(assignments):
        click.echo(
            f"{waiting} of them wait under Manual grading in formgrader: a grade by hand is missing, or was given "
            "before they were last graded and is to be looked at again.",
            err=True,
        )
    for assignment in assignments:
        if ungraded := grades.ungraded(assignment):
            who = listed(map(grades.roster.label, ungraded))
            click.echo(f"{assignment}: left empty, because nothing of theirs could be graded yet: {who}.", err=True)
        if new := new_since(course, assignment, grades.students(assignment)):
            click.echo(new, err=True)
    _remark(table.remarks)


def _export_feedback(course, grades, assignments, platform, target):
    from course.grading.collect.store import Store
    from course.grading.coursefolder import step_folder
    from course.grading.export.cells import write_whole
    from course.grading.export.feedback import feedback_to_make, find_feedback, zip_feedback
    from course.grading.wording import plural

    store = Store(step_folder(course, "submitted"))
    folder = step_folder(course, "feedback")
    pages = {name: find_feedback(folder, store, grades.roster, name) for name in assignments}
    if not any(pages.values()):
        raise Trouble(f"There is no feedback yet; run `nbgrader generate_feedback {assignments[0]}` first.")
    written = 0
    for assignment, items in pages.items():
        _remark(feedback_to_make(assignment, items, grades, step_folder(course, "autograded")))
        if not items:
            continue
        data, files, remarks = zip_feedback(items, platform)
        _remark(f"{assignment}: {remark}" for remark in remarks)
        if not files:
            continue
        stamp = f"{datetime.date.today():%Y%m%d}"
        archive = target / f"feedback_{assignment}_{platform}_{stamp}.zip"
        write_whole(archive, data)
        written += 1
        click.echo(f"Wrote {archive}: {plural(files, 'feedback file')}.")
    if not written:
        raise Trouble(f"No feedback file could be given a name that {platform} takes, so nothing was written.")


def _remark(remarks):
    from course.grading.wording import cut

    for remark in cut(remarks):
        click.echo(remark, err=True)
