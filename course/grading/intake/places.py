"""Where nbgrader's course folder keeps what intake reads and writes."""

import re
from pathlib import Path

KEPT = ".intake"  # folder in autograded/ for what intake keeps; nbgrader does not visit names with a dot


class Places:
    """Paths in the course folder that an nbgrader CourseDirectory describes."""

    def __init__(self, course):
        self.course = course

    def source(self, assignment):
        return self._step(self.course.source_directory, ".", assignment)

    def submitted(self, student, assignment):
        return self._step(self.course.submitted_directory, student, assignment)

    def autograded(self, student, assignment):
        return self._step(self.course.autograded_directory, student, assignment)

    def student(self, folder):
        """The student whose submission to the course's current assignment a folder is."""
        submitted, assignment = self.course.submitted_directory, self.course.assignment_id
        pattern = self.course.format_path(submitted, "(?P<student>.*)", assignment, escape=True)
        return re.fullmatch(pattern, str(folder)).group("student")

    def verdict(self, student, assignment, notebook):
        """The JSON file with the outcome of intake for one notebook of a submission."""
        return self._kept(student, assignment) / f"{notebook}.json"

    def mark(self, folder):
        """The file that is there while a submission is graded."""
        return self.mark_of(self.student(folder), self.course.assignment_id)

    def mark_of(self, student, assignment):
        return self._kept(student, assignment) / "unfinished"

    def _step(self, step, student, assignment):
        return Path(self.course.format_path(step, student, assignment))

    def _kept(self, student, assignment):
        return Path(self.course.root) / self.course.autograded_directory / KEPT / assignment / student
