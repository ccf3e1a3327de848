"""From what a student handed in to a notebook that can be graded, before any of its code runs.

``reading`` turns bytes into cells, ``assignment`` knows the source's cells and what was released, ``matching`` finds
which is which, ``answers`` settles what the student wrote in each place, ``rebuilding`` writes the notebook in source
order, and ``settling`` does all of it and ends in one verdict. ``exporter`` is the plugin that connects it to nbgrader.
"""

from course.grading.intake.assignment import Assignment
from course.grading.intake.settling import settle
from course.grading.intake.verdicts import Intake, NotGradable, Remark, Verdict

__all__ = ["Assignment", "Intake", "NotGradable", "Remark", "Verdict", "settle"]
