"""Marks a submission while it is graded, so that the next run sees which one an interrupted run left half done.

nbgrader passes over every submission that has a folder in autograded/, also one whose grading was killed.
"""

import os


def begin(mark):
    """Write the mark of a submission, with the process that grades it."""
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.write_text(str(os.getpid()))


def finish(mark):
    mark.unlink(missing_ok=True)


def was_interrupted(mark):
    """Whether a submission is marked by a process that is gone."""
    try:
        os.kill(int(mark.read_text()), 0)
    except FileNotFoundError:
        return False
    except (ValueError, ProcessLookupError):  # killed while it wrote the mark, or afterwards
        return True
    except PermissionError:  # alive, of another user
        return False
    return False
