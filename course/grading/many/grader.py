"""The pure function of grading: an assignment and one submission -> a Result. No file is written, no database asked."""

import time
from dataclasses import dataclass, field

from nbconvert.exporters import NotebookExporter
from nbformat import reads
from nbgrader.converters import Autograde
from nbgrader.preprocessors import (
    AssignLatePenalties,
    CheckCellMetadata,
    Execute,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)
from nbgrader.utils import compute_checksum, determine_grade, is_grade, is_solution, is_task
from traitlets.utils.importstring import import_item

from course.grading.examination import ExaminedExecute
from course.grading.intake import Intake, Verdict, settle
from course.grading.intake.exporter import with_remarks
from course.grading.sandbox.execute import SandboxedExecute
from course.grading.warm.execute import warmed

# Steps that talk to the gradebook: intake has done the first two, and ``store`` does the others.
WITH_GRADEBOOK = (OverwriteCells, OverwriteKernelspec, SaveAutoGrades, AssignLatePenalties)
# Intake has put the source's own cells in place, whose metadata a release has checked.
CHECKED = (CheckCellMetadata,)


@dataclass(frozen=True)
class Graded:
    """One notebook of a submission: what intake said of it, its text once graded, points and comments by grade id."""

    intake: dict
    text: str | None = None
    scores: dict = field(default_factory=dict)  # None where a person has to look
    comments: dict = field(default_factory=dict)
    stopped: tuple = ()  # (cell, why)
    faults: tuple = ()  # tests that failed by the course's own mistake
    only: frozenset = frozenset()  # grade ids; where there are any, all others keep their points

    @property
    def gradable(self):
        return self.text is not None


@dataclass(frozen=True)
class Result:
    """What came of a submission, by notebook; ``failure`` is a sentence where grading itself failed."""

    student: str
    assignment: str
    digest: str
    timestamp: str | None
    notebooks: dict
    seconds: float = 0.0
    failure: str = ""

    @classmethod
    def failed(cls, submission, why):
        """The Result of a Submission that could not be graded, by no fault of whoever handed it in."""
        return cls(*submission.key, {}, failure=why)

    @property
    def graded(self):
        return not self.failure and all(notebook.gradable for notebook in self.notebooks.values())


class Grader:
    """Grades submissions of one course folder; ``assignments`` are {assignment: {notebook: intake's Assignment}}."""

    def __init__(self, course, assignments):
        self.assignments = assignments
        self.autograde = Autograde(coursedir=course, config=course.config)
        # The notebook is held to its format once, behind all steps.
        self.exporter = NotebookExporter(
            parent=self.autograde, config=self.autograde.config, optimistic_validation=True
        )
        for step in steps(self.autograde):
            self.exporter.register_preprocessor(step)

    def grade(self, submission):
        """The Result of a Submission."""
        started, notebooks, failure = time.monotonic(), {}, ""
        try:
            for name, assignment in self.assignments[submission.assignment].items():
                notebooks[name] = self.grade_notebook(submission, name, assignment)
        except Exception as error:
            failure = f"grading failed ({type(error).__name__}: {error})"
        return Result(*submission.key, notebooks, time.monotonic() - started, failure)

    def grade_notebook(self, submission, name, assignment):
        intake = self.settle(submission, name, assignment)
        if intake.verdict is Verdict.NOT_GRADABLE:
            return Graded(intake.as_dict())
        about = {"student": submission.student, "assignment": submission.assignment, "notebook": name}
        resources = {
            "unique_key": name,
            "nbgrader": {**about, "db_url": ""},
            "metadata": {"name": name, "path": submission.folder},
        }
        text, _ = self.exporter.from_notebook_node(with_remarks(intake), resources=resources)
        notebook = reads(text, as_version=4)
        scores = {
            cell.metadata.nbgrader.grade_id: determine_grade(cell)[0] for cell in notebook.cells if is_grade(cell)
        }
        comments = {
            cell.metadata.nbgrader.grade_id: comment(cell)
            for cell in notebook.cells
            if is_solution(cell) or is_task(cell)
        }
        told = notebook.metadata.get("course_grading", {})
        stopped = tuple((event["cell"], event["ending"]) for event in told.get("stopped", ()))
        faults = tuple(fault["cell"] for fault in told.get("faults", ()))
        return Graded(intake.as_dict(), text, scores, comments, stopped, faults)

    def settle(self, submission, name, assignment):
        if submission.refusal:
            reason, ask = submission.refusal
            return Intake(Verdict.NOT_GRADABLE, reason=reason, ask=ask)
        others = {f"{other}.ipynb" for other in self.assignments[submission.assignment] if other != name}
        files = {file: data for file, data in submission.files.items() if file not in others}
        return settle(assignment, files, submission.remarks)


def steps(autograde):
    """The configured steps of sanitising and grading that are left to do, with a warm sandbox for Execute."""
    configured = [*autograde.sanitize_preprocessors, *autograde.autograde_preprocessors]
    classes = [import_item(step) if isinstance(step, str) else step for step in configured]
    return [in_sandbox(step) for step in classes if not issubclass(step, WITH_GRADEBOOK + CHECKED)]


def in_sandbox(step):
    """The step itself, or what runs students' code in its place."""
    if issubclass(step, Execute):
        return warmed(step if issubclass(step, SandboxedExecute) else ExaminedExecute)
    return step


def comment(cell):
    """nbgrader's own comment on an answer: whether there is none."""
    unchanged = cell.metadata.nbgrader.get("checksum") == compute_checksum(cell) and not is_task(cell)
    return "No response." if unchanged else None
