"""``course report``: what the class understood."""

from pathlib import Path

import click

from course.commands import course_folder
from course.trouble import Trouble


@click.command(short_help="Show what the class understood.")
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option("--to", help="Folder to write to; by default reports/ in the course folder.")
@course_folder
def command(assignments, to, course_dir):
    """Write report.html, a page that opens offline, and its numbers as CSV, for the graded ASSIGNMENTs.

    The page names no student and can be projected; totals.csv and look_alike.csv do name them.
    """
    from course.grading.coursefolder import open_course, open_gradebook, pick_assignments
    from course.grading.export.cells import write_whole
    from course.grading.many.submissions import new_since
    from course.grading.progress import Bar
    from course.grading.report.gather import read_grades, read_notebooks
    from course.grading.report.numbers import tables
    from course.grading.report.page import html_page
    from course.grading.report.summary import summarise

    course = open_course(course_dir)
    with open_gradebook(course) as gradebook:
        names = pick_assignments(course, assignments, [assignment.name for assignment in gradebook.assignments])
        classrooms = [read_grades(course, gradebook, name) for name in names]
        known = {name: {row.student.id for row in gradebook.assignment_submissions(name)} for name in names}
        news = [new_since(course, name, known[name]) for name in names]
    classrooms = [classroom for classroom in classrooms if classroom.students or classroom.assignment in assignments]
    if not any(classroom.students for classroom in classrooms):
        raise Trouble("Nothing has been graded yet, so there is nothing to report; grade first.")
    with Bar(sum(len(classroom.students) for classroom in classrooms), "notebooks") as progress:
        for classroom in classrooms:
            read_notebooks(course, classroom, progress.done)
    lessons = [summarise(classroom) for classroom in classrooms]
    folder = Path(to or Path(course.root, "reports"))
    students = {classroom.assignment: classroom.students for classroom in classrooms}
    page, numbers = html_page(lessons, course.course_id or Path(course.root).name), tables(lessons, students)
    try:
        write_whole(folder / "report.html", page.encode())
        for name, text in numbers.items():
            write_whole(folder / name, text.encode("utf-8-sig"))
    except OSError as error:
        raise Trouble(f"The report was not written ({error}); an earlier one may stand beside newer tables.") from error
    click.echo(f"Wrote {folder / 'report.html'} and {len(numbers)} tables beside it.")
    for new in filter(None, news):
        click.echo(new, err=True)
