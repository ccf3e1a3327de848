"""``course export``: grades and feedback for a learning platform."""

import datetime
from pathlib import Path

import click

from course.trouble import Trouble


@click.command()
@click.option(
    "--for",
    "platform",
    type=click.Choice(["plain", "canvas", "moodle", "gradescope", "blackboard"]),
    default="plain",
    show_default=True,
    help="The platform that imports the file.",
)
@click.option("--assignment", "-a", multiple=True, help="This assignment only; repeat for several.")
@click.option("--template", help="CSV that Canvas or Moodle exported, to be filled in: no name has to be guessed.")
@click.option("--roster", help="CSV of the class, for names and platform numbers that the gradebook lacks.")
@click.option("--absent-as-zero", is_flag=True, help="Write 0 where nothing was handed in; otherwise an empty cell.")
@click.option("--feedback", is_flag=True, help="Export feedback files instead, one zip for each assignment.")
@click.option("--to", help="Where to write; by default exports/ in the course folder.")
@click.option("--course-dir", default=".", show_default=True, help="The course folder.")
def command(platform, assignment, template, roster, absent_as_zero, feedback, to, course_dir):
    """Write grades as CSV, or feedback as zip, for a learning platform to import."""
    from course.grading.coursefolder import open_course, open_gradebook, pick_assignments
    from course.grading.export.results import read_grades
    from course.grading.roster import read_roster

    course = open_course(course_dir)
    people = read_roster(roster) if roster else None
    with open_gradebook(course) as gradebook:
        assignments = pick_assignments(course, assignment, [a.name for a in gradebook.assignments])
        grades = read_grades(gradebook, assignments, people)
    if all(result.score is None for result in grades.results.values()):
        raise Trouble("Nothing has been graded yet, so there is nothing to export; grade first.")
    try:
        if feedback:
            _export_feedback(course, grades, assignments, platform, to)
        else:
            _export_grades(course, grades, assignments, platform, to, template, 0.0 if absent_as_zero else None)
    except OSError as error:
        raise Trouble(f"The export was not written ({error}); an earlier one is untouched.") from error


def _export_grades(course, grades, assignments, platform, to, template, absent):
    from course.grading.export.cells import csv_text, write_whole
    from course.grading.export.remarks import listed
    from course.grading.export.tables import TABLES, NotATemplate

    if platform not in TABLES:
        raise Trouble(f"There is no table of grades for {platform}; use --for plain, or add --feedback.")
    if template and platform not in ("canvas", "moodle"):
        raise Trouble(f"--template is for Canvas and Moodle; {platform} needs none.")
    target = Path(to or Path(course.root, "exports", f"grades_{platform}.csv"))
    try:
        rows, remarks = TABLES[platform](grades, assignments, absent, _template_rows(template))
    except NotATemplate as reason:
        raise Trouble(str(reason)) from reason
    encoding = "utf-8-sig" if platform == "plain" else "utf-8"  # spreadsheets read UTF-8 by the mark
    write_whole(target, csv_text(rows).encode(encoding))
    graded = [result for result in grades.results.values() if result.score is not None]
    click.echo(f"Wrote {target}: {len(graded)} grades, {', '.join(assignments)}.")
    if waiting := sum(result.waiting for result in graded):
        click.echo(f"Without the manual grades that are still missing for {waiting} of them.", err=True)
    if ungraded := grades.ungraded():
        click.echo(f"Left empty, because nothing in it could be graded yet: {listed(ungraded)}.", err=True)
    _remark(remarks)


def _template_rows(path):
    from course.grading.export.cells import read_rows

    if not path:
        return None
    try:
        rows = read_rows(Path(path).read_text("utf-8"))
    except (OSError, UnicodeError) as error:
        raise Trouble(f"The template {path} cannot be read ({error}).") from error
    if not rows:
        raise Trouble(f"The template {path} is empty.")
    return rows


def _export_feedback(course, grades, assignments, platform, to):
    from course.grading.collect.store import Store
    from course.grading.coursefolder import step_folder
    from course.grading.export.cells import write_whole
    from course.grading.export.feedback import find_feedback, zip_feedback

    store = Store(step_folder(course, "submitted"))
    folder = step_folder(course, "feedback")
    found = written = 0
    for assignment in assignments:
        items = find_feedback(folder, store, grades.roster, assignment)
        found += len(items)
        if not items:
            continue
        data, files, remarks = zip_feedback(items, platform)
        _remark(remarks)
        if not files:
            continue
        stamp = f"{datetime.date.today():%Y%m%d}"
        target = Path(to or Path(course.root, "exports")) / f"feedback_{assignment}_{platform}_{stamp}.zip"
        write_whole(target, data)
        written += 1
        click.echo(f"Wrote {target}: feedback files of {files} students.")
    if not found:
        raise Trouble("There is no feedback yet; run `nbgrader generate_feedback` for the assignment first.")
    if not written:
        raise Trouble(f"No feedback file could be given a name that {platform} takes, so nothing was written.")


def _remark(remarks):
    from course.grading.export.remarks import SHOWN

    for remark in remarks[:SHOWN]:
        click.echo(remark, err=True)
    if len(remarks) > SHOWN:
        click.echo(f"... and {len(remarks) - SHOWN} more like these.", err=True)
