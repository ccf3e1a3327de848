"""``course grade``: grade a class."""

import os
import sys

import click

from course.commands import course_folder
from course.trouble import Trouble


@click.command(short_help="Grade what has changed since the last time.")
@click.argument("assignments", nargs=-1, metavar="[ASSIGNMENT]...")
@click.option("--student", "-s", "students", multiple=True, help="Grade this student only; repeat for several.")
@click.option("--question", "-q", help="Grade this question only, again, and leave the points of all others.")
@click.option("--jobs", "-j", type=click.IntRange(1), help="Submissions graded at once; by default one a core.")
@click.option("--scheduler", metavar="ADDRESS", help="Grade on a Dask cluster, not on this machine.")
@click.option("--force", is_flag=True, help="Grade also what has not changed since it was graded.")
@course_folder
def command(assignments, students, question, jobs, scheduler, force, course_dir):
    """Grade the submissions to ASSIGNMENTs, or to all, that have changed since they were last graded.

    Gradebook and autograded/ are left as `nbgrader autograde` leaves them. A run that was stopped, even by force, is
    continued by the next. Exit status: 0 when every submission has a grade, 1 when some cannot be graded, 2 when
    nothing could be done.
    """
    if jobs and scheduler:
        raise click.UsageError("--jobs is for this machine and --scheduler for others; give one of them.")
    from course.grading.stopping import stoppable

    with stoppable("Stopped; what was graded so far is stored, and the next run continues.") as stop:
        outcome = run(assignments, students, question, jobs, scheduler, force, course_dir, stop)
    for line in summary(outcome):
        click.echo(line)
    sys.exit(1 if outcome.problems else 0)


def run(assignments, students, question, jobs, scheduler, force, course_dir, stop):
    """Grade, and return the Outcome."""
    if sys.platform != "linux":  # it forks, and has its processes end with it, as only Linux can
        raise Trouble(
            f"`course grade` works on Linux, and this is {sys.platform}; grade with `nbgrader autograde`, "
            "or on a Linux machine."
        )
    from course.grading.many.worker import GRADING

    os.environ.update(GRADING)
    from course.grading.coursefolder import database_of, has_gradebook, open_course, open_gradebook, shown
    from course.grading.many.run import grade_class
    from course.grading.progress import Bar

    course = open_course(course_dir)
    os.chdir(course.root)
    if not has_gradebook(course):
        raise Trouble(
            f"There is no gradebook at {shown(database_of(course))} yet; "
            "release the assignment first with `make release`."
        )
    jobs = jobs or len(os.sched_getaffinity(0))
    with open_gradebook(course) as gradebook:
        return grade_class(course, gradebook, assignments, students, jobs, Bar, force, question, stop, scheduler)


def summary(outcome):
    """Lines that say how many, who, what and why."""
    from course.grading.wording import cut

    kinds = ("graded", "unchanged", "not gradable", "failed")
    yield ", ".join(f"{outcome.counts[kind]} {kind}" for kind in kinds if outcome.counts[kind] or kind == "graded")
    for title, found in (("To be looked at", outcome.problems), ("Graded, with remarks", outcome.remarks)):
        if found:
            yield f"{title}:"
            yield from (
                f"  {line}"
                for line in cut(
                    f"{student}, {assignment}: {why}"
                    for student, assignment, why in sorted(found, key=lambda one: (one[1], one[0]))
                )
            )
