"""What travels to a worker and back, complete in itself: lessons and submissions there, results here.

Lessons and submissions are made by the instructor's machine and read by workers, which run what it sends anyway.
Results come back as JSON, so that reading one runs nothing.
"""

import copy
import dataclasses
import json
import pickle
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config

from course.grading.intake.places import Places
from course.grading.many.grader import Graded, Result
from course.grading.sandbox.execute import SandboxedExecute
from course.grading.sandbox.view import submission_files


@dataclasses.dataclass(frozen=True)
class Lessons:
    """What all submissions of a run share."""

    settings: Config  # of nbgrader_config.py
    unconfined: bool
    assignments: dict  # {assignment: {notebook: intake's Assignment}}
    sources: dict  # {assignment: {file: bytes}}

    def lay_out(self, folder):
        """A course folder with nothing but the sources in ``folder``: its CourseDirectory."""
        settings = copy.deepcopy(self.settings)
        settings.CourseDirectory.root = str(folder)
        directory = CourseDirectory(config=settings)
        for assignment, files in self.sources.items():
            place = Places(directory).source(assignment)
            place.mkdir(parents=True)
            for name, content in files.items():
                (place / name).write_bytes(content)
        return directory


def pack_lessons(directory, assignments):
    """Lessons as bytes. Settings of the course folder, the gradebook's address and password among them, stay here."""
    import cloudpickle  # with distributed; settings may hold functions that only nbgrader_config.py knows

    settings = copy.deepcopy(directory.config)
    settings.pop("CourseDirectory", None)
    sources = {name: source_files(Places(directory).source(name)) for name in assignments}
    return cloudpickle.dumps(Lessons(settings, is_unconfined(directory), assignments, sources))


def is_unconfined(directory):
    """Whether this course folder, or the environment here, allows to run students' code without a sandbox."""
    return SandboxedExecute(config=directory.config).unconfined


def source_files(folder):
    return {path.name: path.read_bytes() for path in folder.glob("*.ipynb")}


def unpack_lessons(content):
    return pickle.loads(content)


def pack_submission(submission):
    """A Submission as bytes, with the data files that lie beside its notebook. OSError where one cannot be read."""
    beside = {}
    if not submission.refusal:
        beside = {file.name: file.read_bytes() for file in submission_files(submission.folder)}
    return pickle.dumps((dataclasses.replace(submission, folder=""), beside))


def unpack_submission(content, folder):
    """The Submission, its data files in ``folder``."""
    submission, beside = pickle.loads(content)
    for name, data in beside.items():
        Path(folder, name).write_bytes(data)
    return dataclasses.replace(submission, folder=str(folder))


def pack_result(result):
    """What a worker found out about a submission, as JSON."""
    notebooks = {}
    for name, graded in result.notebooks.items():
        notebooks[name] = {key: value for key, value in vars(graded).items() if key != "only"}
    return json.dumps({"notebooks": notebooks, "seconds": result.seconds, "failure": result.failure}).encode()


def unpack_result(reply, submission):
    """The Result of a Submission from what a worker says; whose it is, is not the worker's to say."""
    notebooks = {}
    for name, graded in reply["notebooks"].items():
        graded |= {"stopped": tuple(map(tuple, graded["stopped"])), "faults": tuple(graded["faults"])}
        notebooks[name] = Graded(**graded)
    return Result(*submission.key, notebooks, reply["seconds"], reply["failure"])
