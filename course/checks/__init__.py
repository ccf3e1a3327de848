"""Checks whose failure is a hint.

``Exam`` runs the checks of one exercise, ``Question`` those of a question with letters. The modules
``heads``, ``attention``, ``encodings``, ``layers``, ``scratch_layers``, ``order`` and ``figures`` hold the
checks; a test cell chooses among them and gives the sizes. ``compare`` has what they are made of.
"""

from course.checks.compare import check_close, check_shape, check_true
from course.checks.exam import Check, Exam, check
from course.checks.failure import CheckFailed
from course.checks.questions import Question

__all__ = ["Check", "CheckFailed", "Exam", "Question", "check", "check_close", "check_shape", "check_true"]
