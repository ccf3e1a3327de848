"""The same tables for ``nbgrader export --exporter course.grading.export.plugins.CanvasExporter``."""

from nbgrader.plugins.export import ExportPlugin

from course.grading.export.cells import csv_text, write_whole
from course.grading.export.results import read_grades
from course.grading.export.tables import TABLES


class PlatformExporter(ExportPlugin):
    """Writes the table of one platform to ``--to``, by default ``grades_<platform>.csv``."""

    platform = "plain"

    def export(self, gradebook):
        grades = read_grades(gradebook, list(self.assignment) or [a.name for a in gradebook.assignments])
        assignments = list(self.assignment) or grades.graded()
        if self.student:
            for student_id in set(grades.roster.students) - set(map(str, self.student)):
                del grades.roster.students[student_id]
        table = TABLES[self.platform](grades, assignments, absent=None)
        for remark in table.remarks:
            self.log.info(remark)
        write_whole(self.to or f"grades_{self.platform}.csv", csv_text(table.rows).encode())


class PlainExporter(PlatformExporter):
    """Plain CSV, safe to open in a spreadsheet."""


class CanvasExporter(PlatformExporter):
    """Canvas's gradebook CSV."""

    platform = "canvas"


class MoodleExporter(PlatformExporter):
    """CSV for Moodle's gradebook import."""

    platform = "moodle"


class GradescopeExporter(PlatformExporter):
    """CSV in Gradescope's columns."""

    platform = "gradescope"
