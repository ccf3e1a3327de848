"""Configuration of nbgrader for this course; a reason above each line."""

from course.grading.feedback import feedback_preprocessors
from course.grading.release import release_preprocessors
from course.grading.sandbox import autograde_preprocessors

c = get_config()  # noqa: F821

# The name that formgrader and exports show.
c.CourseDirectory.course_id = "attention"

# Lesson texts (*.py) hold the solutions and lie beside the notebooks: neither they nor anything a student
# names like a library (numpy.py) is ever copied along.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.py", ".DS_Store", "~*"]

# The title and the set-up cell stand on top of every release, written once.
c.IncludeHeaderFooter.header = "source/header.ipynb"

# What to do before handing in stands at the end of every release, written once.
c.IncludeHeaderFooter.footer = "source/footer.ipynb"

# Stubs that suit functions and questions alike, and a header with this lesson's badge and version.
c.GenerateAssignment.preprocessors = release_preprocessors()

# Every file that is handed in ends in one verdict: repaired, put in the source's order, with the source's tests.
c.Autograde.exporter_class = "course.grading.intake.exporter.IntakeExporter"

# Students' code runs in a sandbox and is examined from outside of it; docs/grading.md says what that guarantees. From
# the second submission on, each starts in a moment, forked from a process that has imported everything.
c.Autograde.autograde_preprocessors = autograde_preprocessors("course.grading.warm.execute.WarmExaminedExecute")

# In formgrader nothing runs that a student wrote or displayed: its pages may do all that their reader may.
c.HTMLExporter.preprocessors = ["course.grading.sanitizing.SanitizeAnswers"]
c.HTMLExporter.filters = {"markdown2html": "course.grading.sanitizing.markdown2html"}

# Feedback says what to look at next and shows no hidden test, no path of this machine.
c.GenerateFeedback.preprocessors = feedback_preprocessors()

# The page names its language, fits a telephone, and does not wait for the network.
c.GenerateFeedback.exporter_class = "course.grading.feedback.FeedbackExporter"
