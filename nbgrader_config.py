"""Configuration of nbgrader for this course; a reason above each line."""

from course.grading.feedback import feedback_preprocessors
from course.grading.release import release_preprocessors

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

# A submission without one of the test cells gets the cell back and zero points for it, not a place in the manual queue.
c.OverwriteCells.add_missing_cells = True

# Feedback says what to look at next and shows no hidden test, no path of this machine, no script at work.
c.GenerateFeedback.preprocessors = feedback_preprocessors()
