"""What each student got for each assignment, read from nbgrader's gradebook."""

import datetime
from typing import NamedTuple

from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import or_

from course.grading.roster import Roster, Student, gradebook_roster


class Result(NamedTuple):
    """A student's grade for one assignment; ``waiting`` when part of it still needs a manual grade.

    ``score`` is None where no part has a grade, because the file could not be graded.
    """

    score: float | None
    penalty: float
    when: datetime.datetime | None
    seconds_late: float
    waiting: bool

    def final(self):
        """The score less the late penalty, never below zero; None without a score."""
        return None if self.score is None else max(0.0, self.score - self.penalty)


class Grades(NamedTuple):
    """The class list, the maximum of each assignment, and results by (student id, assignment)."""

    roster: Roster
    maximum: dict
    results: dict

    def final(self, student_id, assignment, absent=None):
        """The final score, ``absent`` without a submission, or None where it could not be graded."""
        result = self.results.get((student_id, assignment))
        return absent if result is None else result.final()

    def known(self, assignments, students=None):
        """How many grades there are for the assignments, of these students or of all."""
        return sum(
            result.score is not None and assignment in assignments and (students is None or student in students)
            for (student, assignment), result in self.results.items()
        )

    def graded(self):
        """The assignments for which there is any grade, in order."""
        return [assignment for assignment in self.maximum if self.known([assignment])]

    def waiting(self, assignments):
        """How many of these grades still need a manual grade."""
        return sum(r.waiting and r.score is not None for (_, name), r in self.results.items() if name in assignments)

    def ungraded(self, assignment):
        """Ids of the students who handed in what could not be graded, in order."""
        return sorted(student for (student, name), r in self.results.items() if name == assignment and r.score is None)

    def scored(self, assignment):
        """Ids of the students who have a score, in order."""
        return sorted(
            student for (student, name), r in self.results.items() if name == assignment and r.score is not None
        )

    def students(self, assignment):
        """Ids of the students whose submission the gradebook knows."""
        return {student for student, name in self.results if name == assignment}


def read_grades(gradebook, assignments, roster=None):
    """Grades of the assignments. A roster adds the names, e-mails and platform numbers that the gradebook lacks."""
    maximum, results = {}, {}
    for name in assignments:
        maximum[name] = gradebook.find_assignment(name).max_score
        submissions = gradebook.db.query(SubmittedAssignment).join(Assignment).filter(Assignment.name == name)
        extra = {s.id: (s.late_submission_penalty, s.total_seconds_late) for s in submissions}
        graded = _graded(gradebook, name)
        for row in gradebook.submission_dicts(name):
            penalty, late = extra[row["id"]]
            score = row["score"] if row["id"] in graded else None
            waiting = bool(row["needs_manual_grade"])
            results[row["student"], name] = Result(score, penalty, row["timestamp"], late, waiting)
    return Grades(_merged(gradebook_roster(gradebook), roster), maximum, results)


def _graded(gradebook, assignment):
    """Ids of the submissions of which any part has a grade; nbgrader counts the others as 0 points."""
    rows = (
        gradebook.db.query(SubmittedNotebook.assignment_id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(SubmittedAssignment, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .filter(Assignment.name == assignment, or_(Grade.auto_score.isnot(None), Grade.manual_score.isnot(None)))
    )
    return {submission for (submission,) in rows.distinct()}


def _merged(own, extra):
    """The gradebook's students and the roster's, each with what either knows; in the order of their names."""
    merged = dict(own.students)
    for student_id, student in extra.students.items() if extra else ():
        known = merged.get(student_id, Student(student_id))
        merged[student_id] = Student(
            student_id,
            student.first_name or known.first_name,
            student.last_name or known.last_name,
            student.email or known.email,
            student.lms_ids or known.lms_ids,
        )
    return Roster(
        sorted(merged.values(), key=lambda s: (s.last_name.casefold(), s.first_name.casefold(), s.student_id))
    )
