"""Run submissions where they can harm neither the instructor's machine nor one another.

``execute.SandboxedExecute`` takes the place of nbgrader's Execute; ``provisioner.SandboxProvisioner``
starts kernels under bubblewrap; ``view`` says what they see and ``limits`` what they may use. In
nbgrader_config.py, for the command line and formgrader alike::

    c.Autograde.autograde_preprocessors = autograde_preprocessors()
    c.SandboxedExecute.timeout = 30  # seconds for one cell
    c.SandboxProvisioner.memory = 1536 * 1024**2
"""


def autograde_preprocessors(execute="course.grading.sandbox.execute.SandboxedExecute"):
    """nbgrader's own steps of grading, with ``execute``, a class or its dotted name, in the place of its Execute."""
    from nbgrader.converters import Autograde
    from nbgrader.preprocessors import Execute

    return [execute if step is Execute else step for step in Autograde().autograde_preprocessors]
