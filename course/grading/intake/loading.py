"""Reads the source of an assignment for intake, and holds it against what the gradebook got from the last release."""

import nbformat
from nbgrader.converters import GenerateAssignment, NbGraderException

from course.grading.intake.assignment import Assignment


def load_assignment(path, assignment, known, course, parent=None):
    """The Assignment whose source is the notebook at ``path``. NbGraderException where its cells are not ``known``."""
    release = GenerateAssignment(coursedir=course, parent=parent, config=None if parent else course.config)
    source = nbformat.read(path, as_version=4)
    loaded = Assignment.from_source(path.stem, source, release.preprocessors, release, assignment)
    changed = known ^ loaded.nbgrader_ids
    if changed:
        raise NbGraderException(
            f"{path} is not what the gradebook holds ({', '.join(sorted(changed))}): "
            "run nbgrader generate_assignment first, or bring back the source of the release."
        )
    return loaded
