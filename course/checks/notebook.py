"""What connects an exam with the notebook in which it is written."""

import sys


def student_namespace(depth=2):
    """Globals of the cell that made the exam, where the student's names are."""
    return sys._getframe(depth).f_globals


def enrol(exam):
    """Name an exam to the examiner that runs it from another process: to earn points it must have held."""
    student = exam.namespace.get("__student__")
    if student is not None:
        student.exams.append(exam)
