"""Who runs the notebook: a person, or nbgrader."""

import os


def is_grading():
    """Whether nbgrader is running the notebook (it sets this variable since version 0.9)."""
    return os.environ.get("NBGRADER_EXECUTION") == "autograde"
