"""What one submission costs: seconds to grade it, and seconds to write its grades; ``python -m bench.measure_grading``.

Grades a made-up class of lesson 2, one submission after the other in one process, by nbgrader in a cold kernel and as
``course grade`` does, and writes a row for each to ``bench/grading_times.csv``; then writes grades of as many
submissions into a new gradebook, with a commit for each cell, as nbgrader does, and with one for each submission. Any
other pipeline can put its rows into the same file under its own name. Run it on a quiet machine.
"""

import csv
import functools
import os
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

import click
import nbformat
from nbgrader.api import Gradebook

from bench.processes import Meter
from course.grading import demo
from course.grading.coursefolder import open_course, open_gradebook
from course.grading.many.grader import Grader
from course.grading.many.run import Class, Outcome
from course.grading.sandbox import autograde_preprocessors
from course.grading.stopping import Stop
from course.grading.warm.execute import import_course, warm_process

TIMES = Path(__file__).parent / "grading_times.csv"
COLUMNS = ("pipeline", "step", "seconds", "cpu_seconds")


def timed(action, meter):
    """(seconds, CPU seconds) of one call, with all processes that it starts."""
    meter.look()
    started, cpu = time.perf_counter(), meter.used()
    action()
    meter.look()
    return time.perf_counter() - started, meter.used() - cpu


def prepare(root, folder):
    """A course folder with the release of the demonstration's lesson and its made-up class; the students' names."""
    for name in ("nbgrader_config.py", "pyproject.toml", "source"):
        copy = shutil.copytree if (root / name).is_dir() else shutil.copyfile
        copy(root / name, folder / name)
    demo.nbgrader(folder, f"Releasing {demo.LESSON}", "generate_assignment", demo.LESSON)
    notebook = f"{demo.LESSON}/{demo.LESSON}.ipynb"
    released = nbformat.read(folder / "release" / notebook, as_version=4)
    solutions = demo.solutions_of(nbformat.read(root / "source" / notebook, as_version=4))
    students = []
    for student, _, name, text in demo.made_up_class(released, solutions)[:-1]:  # the last one cannot be graded
        place = folder / "submitted" / student / demo.LESSON
        place.mkdir(parents=True)
        (place / name).write_text(text, encoding="utf-8")
        students.append(student)
    return students


def nbgrader_grades(folder, students):
    """{student: call that grades it}, by nbgrader's own API, as formgrader's button uses it, in a cold kernel."""
    from nbgrader.apps.api import NbGraderAPI

    config = open_course(folder).config
    config.Autograde.autograde_preprocessors = autograde_preprocessors("course.grading.examination.ExaminedExecute")
    api = NbGraderAPI(open_course(folder), config=config)

    def grade(student):
        if not (outcome := api.autograde(demo.LESSON, student))["success"]:
            raise click.ClickException(outcome.get("log") or outcome["error"])

    return {student: functools.partial(grade, student) for student in students}


def warm_grades(folder, students):
    """{student: call that grades it}, as one process of ``course grade`` does, without writing anything down."""
    course = open_course(folder)
    with open_gradebook(course) as gradebook:
        class_ = Class(course, gradebook, [demo.LESSON], students, True, None, Stop())
    import_course()
    warm_process()
    grader = Grader(course, class_.assignments)
    submissions = {submission.student: submission for submission in class_.submissions(class_.changed(Outcome()))}
    return {student: functools.partial(grader.grade, submissions[student]) for student in students}


def grading_times(grades, repeats):
    """(seconds, CPU seconds) of each call of ``grades``, made ``repeats`` times."""
    rows = []
    with Meter(os.getpid()) as meter:
        for student, grade in list(grades.items()) * repeats:
            rows.append(timed(grade, meter))
            click.echo(f"  {student}: {rows[-1][0]:.2f} s, {rows[-1][1]:.2f} CPU s", err=True)
    return rows


def writing_times(folder, each_cell, count=60, cells=12):
    """(seconds, CPU seconds) of storing one submission's grades in a new SQLite gradebook."""
    gradebook = Gradebook(f"sqlite:///{folder}/writes_{each_cell}.db")
    gradebook.add_assignment("a")
    gradebook.add_notebook("a", "a")
    for number in range(cells):
        gradebook.add_grade_cell(f"test_{number}", "a", "a", max_score=2, cell_type="code")
        gradebook.add_solution_cell(f"cell_{number}", "a", "a")

    def store(student):
        commit = gradebook.db.commit
        if not each_cell:
            gradebook.db.commit = gradebook.db.flush
        gradebook.add_student(student)
        submission = gradebook.add_submission("a", student)
        for grade in submission.notebooks[0].grades:
            grade.auto_score, grade.needs_manual_grade = 2.0, False
            gradebook.db.commit()
        gradebook.db.commit = commit
        gradebook.db.commit()

    with Meter(os.getpid()) as meter:
        rows = [timed(lambda number=number: store(f"s{number}"), meter) for number in range(count)]
    gradebook.close()
    gradebook.engine.dispose()
    return rows


@click.command()
@click.option("--repeats", default=4, show_default=True, help="How often the seven submissions are graded.")
@click.option("--step", type=click.Choice(["grade", "write", "both"]), default="both", show_default=True)
def main(repeats, step):
    os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # nbgrader starts its tools by name
    os.environ["OMP_NUM_THREADS"] = "1"  # as `course grade` sets it
    root = Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        rows = []
        if step != "write":
            students = prepare(root, folder)
            for pipeline, calls in (("nbgrader", nbgrader_grades), ("course grade", warm_grades)):
                rows += [(pipeline, "grade", *row) for row in grading_times(calls(folder, students), repeats)]
        if step != "grade":
            rows += [("a commit for each cell", "write", *row) for row in writing_times(folder, each_cell=True)]
            rows += [("one commit", "write", *row) for row in writing_times(folder, each_cell=False)]
    replaced = {row[:2] for row in rows}
    kept = [row for row in read_rows() if (row[0], row[1]) not in replaced]
    with TIMES.open("w", newline="") as stream:
        csv.writer(stream).writerows([COLUMNS, *kept, *((*row[:2], *(f"{x:.4f}" for x in row[2:])) for row in rows)])
    for key in sorted(replaced):
        seconds = [row[2] for row in rows if row[:2] == key]
        click.echo(f"{', '.join(key)}: median {statistics.median(seconds):.3f} s over {len(seconds)} submissions")


def read_rows():
    """Rows of the file of times, without its header."""
    if not TIMES.exists():
        return []
    with TIMES.open(newline="") as stream:
        return list(csv.reader(stream))[1:]


if __name__ == "__main__":
    main()
