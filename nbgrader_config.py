"""Configuration of nbgrader for this course; a reason above each line."""

c = get_config()  # noqa: F821

# The name that formgrader and exports show.
c.CourseDirectory.course_id = "attention"

# Lesson texts (*.py) hold the solutions and lie beside the notebooks: neither they nor anything a student
# names like a library (numpy.py) is ever copied along.
c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", "*.py", ".DS_Store", "~*"]

# The title and the set-up cell stand on top of every release, written once.
c.IncludeHeaderFooter.header = "source/header.ipynb"

# The stub says how to go on, and a call of it fails with a sentence instead of returning None.
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # replace this line by your answer"}

# A submission without one of the test cells gets the cell back and zero points for it, not a place in the manual queue.
c.OverwriteCells.add_missing_cells = True
