"""Release a course folder as ``nbgrader generate_assignment`` does."""

import contextlib

from nbgrader.apps import NbGraderAPI
from traitlets.config.loader import PyFileConfigLoader

from tests.judging.lesson import lesson_names


def release_lessons(folder):
    """Release every lesson of the course folder, with the settings of its nbgrader_config.py."""
    with contextlib.chdir(folder):
        nbgrader = NbGraderAPI(config=PyFileConfigLoader("nbgrader_config.py", path=str(folder)).load_config())
        for name in lesson_names():
            outcome = nbgrader.generate_assignment(name)
            assert outcome["success"], outcome["error"] or outcome["log"]
