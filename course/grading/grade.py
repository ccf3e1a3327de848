"""One submission graded, without a gradebook: an assignment and the files handed in -> a Graded."""

from dataclasses import dataclass

from nbformat import NotebookNode
from nbgrader.utils import determine_grade, is_grade

from course.grading.intake import Intake, Remark, Verdict, settle


@dataclass(frozen=True)
class Graded:
    """What came of one submission.

    ``notebook`` is None where nothing could be graded; ``intake`` then says why. ``scores`` are points by grade id,
    None for what a person grades, and ``most`` the points that can be had.
    """

    intake: Intake
    notebook: NotebookNode | None
    scores: dict[str, float | None]
    most: dict[str, float]

    @property
    def remarks(self) -> tuple[Remark, ...]:
        """What the instructor may want to look at."""
        return self.intake.remarks


def grade(assignment, files, executor, remarks=()):
    """Settle the files, a dict from file name to bytes, and run what they come to.

    ``executor`` is an ExaminedExecute with the lesson's imports as ``setup``, or a subclass that takes the student's
    process from elsewhere; it confines that process. Nothing is written.
    """
    intake = settle(assignment, files, remarks)
    if intake.verdict is Verdict.NOT_GRADABLE:
        return Graded(intake, None, {}, {})
    notebook, _ = executor.preprocess(intake.notebook, {})
    found = {cell.metadata.nbgrader.grade_id: determine_grade(cell) for cell in notebook.cells if is_grade(cell)}
    scores, most = ({name: pair[i] for name, pair in found.items()} for i in (0, 1))
    return Graded(intake, notebook, scores, most)
