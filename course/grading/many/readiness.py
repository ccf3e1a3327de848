"""What a process does once before it grades, or forks others that do."""

from course.grading.sandbox.availability import require_sandbox
from course.grading.sandbox.execute import SandboxedExecute
from course.grading.warm.execute import import_checks, warm_process


def get_ready(course):
    """Import the checks, make sure of the sandbox, and start the warm process that all students' processes come from.

    SandboxUnavailable where students' code cannot be confined and ``course`` does not allow to run it all the same.
    """
    import_checks()
    if not SandboxedExecute(config=course.config).unconfined:
        require_sandbox(course.root)
        warm_process()
