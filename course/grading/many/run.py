"""Grade what has changed in a course folder: from submitted/ to the gradebook and autograded/."""

import contextlib
import dataclasses
import fcntl
from collections import Counter
from pathlib import Path

from nbgrader.api import MissingEntry
from nbgrader.converters import Autograde, NbGraderException
from sqlalchemy.exc import DataError, SQLAlchemyError

from course.grading.coursefolder import assignment_names, database_reason, pick_assignments
from course.grading.intake import Remark
from course.grading.intake.loading import load_assignment
from course.grading.intake.places import KEPT, Places
from course.grading.many.cluster import Cluster
from course.grading.many.folders import Folders
from course.grading.many.grader import Grader
from course.grading.many.pool import Pool
from course.grading.many.question import limited, question_ids
from course.grading.many.readiness import get_ready
from course.grading.many.store import Store
from course.grading.many.submissions import (
    lesson_digest,
    pick_students,
    read_submission,
    settings_of,
    student_folders,
)
from course.grading.sandbox.availability import SandboxUnavailable
from course.grading.stopping import Stop
from course.trouble import Trouble

NOT_GRADABLE = "not gradable. {} {}"


@dataclasses.dataclass
class Outcome:
    """What a run did: counts, and lines about what an instructor may want to look at."""

    counts: Counter = dataclasses.field(default_factory=Counter)
    problems: list = dataclasses.field(default_factory=list)  # (student, assignment, why no grade or a wrong one)
    remarks: list = dataclasses.field(default_factory=list)  # the same triple: what was seen in a graded submission


class Class:
    """The submissions of a course that a run has to grade. Raises Trouble before anything is graded or changed."""

    def __init__(self, course, gradebook, assignments, students, force, question, stop):
        self.course, self.gradebook, self.force = course, gradebook, force or question
        self.autograde = Autograde(coursedir=course, config=course.config)
        self.folders, self.store = Folders(course, self.autograde.permissions), Store(gradebook, self.autograde, stop)
        self.stop = stop
        names = pick_assignments(course, assignments, assignment_names(course))
        found = {name: student_folders(course, name) for name in names}
        if not assignments:
            found = {name: folders for name, folders in found.items() if folders} or found
        self.students = pick_students(found, students, list(found))
        self.found, self.assignments, self.digests = found, {}, {}
        for name in found:
            self.load(name)
        self.only = question_ids(self.assignments, question) if question else {}
        self.found = {name: found[name] for name, _ in self.only} or found

    def load(self, name):
        """Take in an assignment's source, which must be that of the release."""
        sources = sorted(Places(self.course).source(name).glob("*.ipynb"))
        if not sources:
            raise Trouble(f"There is no notebook of {name} in source/: the tests come from it.")
        try:
            known = {path: self.known_cells(path.stem, name) for path in sources}
            loaded = {path.stem: load_assignment(path, name, known[path], self.course) for path in sources}
            due = self.gradebook.find_assignment(name).duedate
        except MissingEntry as error:
            raise Trouble(f"The gradebook does not know {name}; run `nbgrader generate_assignment {name}`.") from error
        except NbGraderException as error:
            raise Trouble(str(error)) from error
        self.assignments[name] = loaded
        self.digests[name] = lesson_digest(sources, [str(due), settings_of(self.course)])

    def known_cells(self, notebook, assignment):
        return {cell.name for cell in self.gradebook.find_notebook(notebook, assignment).source_cells}

    def changed(self, outcome):
        """(student, assignment) of what to grade: the grade is missing, unfinished, or made from something else."""
        todo = []
        for name, folders in self.found.items():
            in_gradebook = self.store.students(name)
            for student in sorted(self.students & set(folders)):
                standing = None if self.force or student not in in_gradebook else self.folders.known(student, name)
                if standing and standing == self.read(student, name).digest:
                    outcome.counts["unchanged"] += 1
                    for refusal in self.folders.refusals(student, name):
                        outcome.problems.append((student, name, NOT_GRADABLE.format(*refusal)))
                else:
                    todo.append((student, name))
        return todo

    def read(self, student, assignment):
        folder = self.found[assignment][student]
        return read_submission(self.course, student, assignment, folder, self.digests[assignment])

    def submissions(self, todo):
        """Yield the Submission of each (student, assignment), read when its turn comes: a class may fill the memory."""
        for student, assignment in todo:
            try:
                yield self.read(student, assignment)
            except OSError as error:
                raise Trouble(
                    f"What {student} handed in for {assignment} cannot be read ({error}); what was graded so far is "
                    "stored, and the next run continues."
                ) from error

    def limited(self, result):
        """The Result with the one question only, where the others have grades that stand."""
        standing = self.folders.known(result.student, result.assignment)
        if not self.only or not result.graded or standing is None:
            return result
        folder, notebooks = self.folders.places.autograded(result.student, result.assignment), dict(result.notebooks)
        for (assignment, name), ids in self.only.items():
            if assignment == result.assignment and (folder / f"{name}.ipynb").is_file():
                text = (folder / f"{name}.ipynb").read_text(encoding="utf-8")
                notebooks[name] = limited(notebooks[name], text, ids)
        return dataclasses.replace(result, notebooks=notebooks, digest=standing)  # the others may still be out of date

    def put(self, submission, result):
        """Store a Result: gradebook and folder."""
        result = self.limited(result)
        with self.stop.deferred(), self.folders.changing(result):
            self.store.put(result)
            self.folders.put(result, submission)


@contextlib.contextmanager
def alone(course):
    """Keep a second ``course grade`` out of the same course folder."""
    place = Path(course.root) / course.autograded_directory / KEPT
    try:
        place.mkdir(parents=True, exist_ok=True)
        lock = open(place / "lock", "w")  # noqa: SIM115, closed below
    except OSError as error:
        raise Trouble(f"Graded notebooks cannot be written ({error}); nothing was changed.") from error
    with lock:
        try:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # this process's alone: none that it starts keeps it
        except (BlockingIOError, PermissionError) as error:
            raise Trouble("Another `course grade` is at work in this course folder; wait for it to end.") from error
        yield


def grade_class(
    course, gradebook, assignments, students, jobs, show, force=False, question=None, stop=None, scheduler=None
):
    """Grade what has changed; the Outcome. ``show(total)`` makes a context with ``done()`` and ``tell(line)``.

    ``scheduler`` is the address of a Dask cluster, which grades in the place of ``jobs`` processes here.
    """
    stop = stop or Stop()
    with alone(course):
        outcome = Outcome()
        try:
            class_ = Class(course, gradebook, assignments, students, force, question, stop)
            todo = class_.changed(outcome)
        except OSError as error:
            raise Trouble(f"The course folder cannot be read ({error}); nothing was changed.") from error
        if not todo:
            return outcome
        if not scheduler:
            prepare_sandbox(course)
        stop.begun = True
        if scheduler:
            pool = Cluster(course, class_.assignments, scheduler)
        else:
            pool = Pool(Grader(course, class_.assignments), min(jobs, len(todo)))
        try:
            with show(len(todo)) as progress:
                for submission, result in pool.results(class_.submissions(todo)):
                    keep(class_, submission, result, outcome, progress)
        finally:
            pool.stop()
        return outcome


def prepare_sandbox(course):
    """Make sure of the sandbox before anything changes, and start the warm process that all forks come from."""
    try:
        get_ready(course)
    except SandboxUnavailable as reason:
        raise Trouble(str(reason)) from reason


def keep(class_, submission, result, outcome, progress):
    """Store one Result and tell what is to be told of it."""
    if not result.failure:
        try:
            class_.put(submission, result)
        except DataError as error:  # the others can be stored
            reason = f"the gradebook does not take it ({database_reason(error)})"
            result = dataclasses.replace(result, failure=reason)
        except SQLAlchemyError as error:
            reason = database_reason(error)
            raise Trouble(f"The gradebook cannot be written ({reason}); {so_far(outcome)}.") from error
        except OSError as error:
            raise Trouble(f"A graded notebook cannot be written ({error}); {so_far(outcome)}.") from error
    kind = "graded" if result.graded else "failed" if result.failure else "not gradable"
    outcome.counts[kind] += 1
    for found, lines in ((outcome.problems, problems(result)), (outcome.remarks, remarks(result))):
        for line in lines:
            found.append((result.student, result.assignment, line))
            progress.tell(f"{result.student}, {result.assignment}: {line}")
    progress.done()


def so_far(outcome):
    return f"{outcome.counts['graded']} submissions are graded and stored, and the next run continues with the others"


def problems(result):
    """Sentences on why there is no grade, or not the right one."""
    if result.failure:
        return [result.failure]
    lines = []
    for graded in result.notebooks.values():
        if not graded.gradable:
            lines.append(NOT_GRADABLE.format(graded.intake["reason"], graded.intake["ask"]))
        if graded.faults:
            lines.append(f"by a mistake of the course these tests could not be run: {', '.join(graded.faults)}")
    return lines


def remarks(result):
    """Sentences on a graded submission: cells that were stopped, and what intake found."""
    lines = []
    for graded in result.notebooks.values() if result.graded else ():
        for cell, ending in graded.stopped:
            lines.append(f"{cell} was stopped ({ending})")
        lines += [Remark(**remark).told for remark in graded.intake["remarks"]]
    return lines
