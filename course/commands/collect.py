"""``course collect``: submissions from a learning platform's export into submitted/."""

import datetime

import click

from course.commands import course_folder
from course.trouble import Trouble

PLACE_THEM = (
    "To place notebooks, complete the roster (its column lms_id takes a platform's numbers and user names) and run "
    "this again, or put each where it belongs, submitted/<student>/<lesson>/<lesson>.ipynb."
)


@click.command(short_help="Sort a platform's export into submitted/.")
@click.argument("archives", nargs=-1, required=True, metavar="ARCHIVE...")
@click.option("--assignment", "-a", multiple=True, help="Collect this assignment only; repeat for several.")
@click.option("--roster", help="CSV of the class (any platform's): maps names and numbers to student ids.")
@click.option(
    "--keep",
    type=click.Choice(["last", "first", "on-time"]),
    default="last",
    show_default=True,
    help="The attempt to grade. Every attempt is kept under submitted/.attempts.",
)
@click.option("--due", help="Due date and local time, as '2026-03-31 23:59'; otherwise the gradebook's.")
@course_folder
def command(archives, assignment, roster, keep, due, course_dir):
    """Put the submissions in each ARCHIVE where nbgrader looks for them.

    ARCHIVE is what Moodle, Canvas, Gradescope, Blackboard, Google Classroom or nbgrader's exchange exports: a zip
    or tar archive, a folder, or a single notebook. Nothing collected earlier is lost. Exit status: 0 all placed,
    1 some could not be placed, 2 nothing could be read from an archive.
    """
    from course.grading.collect.lessons import course_lessons
    from course.grading.collect.run import Collector
    from course.grading.collect.store import Store
    from course.grading.coursefolder import assignment_names, open_course, pick_assignments, step_folder
    from course.grading.progress import Bar
    from course.grading.stopping import stoppable

    course = open_course(course_dir)
    wanted = pick_assignments(course, assignment)
    lessons = course_lessons(course, assignment_names(course))
    if not lessons:
        raise Trouble(f"{course.root} holds no lesson, in release/ or source/, to collect submissions for.")
    people, dates = _people_and_dates(course, roster)
    if due:
        dates = dict.fromkeys(wanted, _due(due))
    store = Store(step_folder(course, "submitted"))
    collector = Collector(store, lessons, wanted, people, closed=bool(roster), keep=keep, due=dates, show=Bar)
    with stoppable("Stopped. What was collected is kept; the same command goes on from there.") as stop:
        stop.begun = True
        try:
            outcome = collector.collect(archives)
        except OSError as error:
            raise Trouble(f"Collecting stopped ({error}); nothing is lost, so mend this and run it again.") from error
        if roster and (outcome.placed or outcome.standing):
            _add_class(course, people)
    _report(outcome, people)
    raise SystemExit(2 if outcome.failed else 1 if outcome.unplaced else 0)


def _people_and_dates(course, roster):
    """The class list, from the CSV or else the gradebook, and each assignment's due date (UTC)."""
    from course.grading.coursefolder import has_gradebook, open_gradebook
    from course.grading.roster import Roster, gradebook_roster, read_roster

    people = read_roster(roster) if roster else Roster([])
    if not has_gradebook(course):
        return people, {}
    with open_gradebook(course) as gradebook:
        dates = {a.name: a.duedate.replace(tzinfo=datetime.UTC) for a in gradebook.assignments if a.duedate}
        return people if roster else gradebook_roster(gradebook), dates


def _add_class(course, people):
    """Give the gradebook, where there is one, the class with its names, so that whoever is absent is counted, too."""
    from course.grading.coursefolder import has_gradebook, open_gradebook
    from course.grading.roster import add_names

    if not has_gradebook(course):
        return
    try:
        with open_gradebook(course) as gradebook:
            add_names(gradebook, people.students.values())
    except Trouble as trouble:
        click.echo(f"The students' names are not in the gradebook yet: {trouble.message}", err=True)


def _due(text):
    try:
        due = datetime.datetime.fromisoformat(text)
        if len(text.strip()) <= len("2026-03-31"):
            raise ValueError("no time of day")  # midnight, when the day begins, is seldom meant
        return due.astimezone(datetime.UTC)
    except (ValueError, OverflowError) as error:
        raise Trouble(f"The due date {text!r} is not a date and time; write it as '2026-03-31 23:59'.") from error


def _report(outcome, people):
    from course.grading.wording import listed, plural

    for line in filter(None, [people.source, *outcome.read]):
        click.echo(line)
    for assignment in sorted({*outcome.placed, *outcome.standing}):
        placed = outcome.placed[assignment]
        click.echo(
            f"{assignment}: {plural(outcome.kept[assignment], 'new attempt')}, "
            f"{plural(len(placed), 'submission')} put in place, {outcome.standing[assignment]} in place already"
        )
        if undated := outcome.undated[assignment]:
            click.echo(f"{assignment}: the export does not say when {undated} of these came in, so none counts as late")
        missing = outcome.missing.get(assignment, ())
        unsettled = [people.label(student) for student in missing if student in outcome.open]
        absent = [people.label(student) for student in missing if student not in outcome.open]
        if absent:
            click.echo(f"{assignment}: nothing from {plural(len(absent), 'student')} of the roster: {listed(absent)}")
        if unsettled:
            number = plural(len(unsettled), "student")
            click.echo(f"{assignment}: see what is not placed for {number} of the roster: {listed(unsettled)}")
        for line in placed:
            click.echo(f"  {line}")
    if outcome.unplaced:
        click.echo(f"Not placed: {len(outcome.unplaced)}", err=True)
        for refusal in outcome.unplaced:
            click.echo(f"  {refusal.path}: {refusal.reason}", err=True)
        click.echo(PLACE_THEM, err=True)
    for sentence in outcome.failed:
        click.echo(f"Error: {sentence}", err=True)
