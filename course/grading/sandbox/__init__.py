"""Run submissions where they can harm neither the instructor's machine nor one another.

``execute.SandboxedExecute`` takes the place of nbgrader's Execute; ``provisioner.SandboxProvisioner``
starts kernels under bubblewrap; ``view`` says what they see and ``limits`` what they may use. In
nbgrader_config.py, for the command line and formgrader alike::

    c.Autograde.autograde_preprocessors = [
        "course.grading.sandbox.execute.SandboxedExecute",
        ...  # the rest of nbgrader's own list
    ]
    c.SandboxedExecute.timeout = 30  # seconds for one cell
    c.SandboxProvisioner.memory = 1536 * 1024**2
"""
