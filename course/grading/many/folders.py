"""autograded/<student>/<assignment>/: written beside, then put in place at once; and what a later run wants to know.

The mark of ``intake.interrupted`` is there from the first change to the last, so that a run that is killed in
between, by ``course grade`` or by nbgrader, is seen and repeated.
"""

import contextlib
import json
import os
import shutil
from pathlib import Path

from nbgrader.utils import find_all_files

from course.grading.intake import interrupted
from course.grading.intake.exporter import keep
from course.grading.intake.places import Places

RECORD = "graded.json"


class Folders:
    """Places results in the folder of a course; ``permissions`` are those of ``Autograde``."""

    def __init__(self, course, permissions):
        self.course, self.places = course, Places(course)
        self.permissions = int(str(permissions), 8)

    def known(self, student, assignment):
        """The digest of what stands in autograded/, or None where nothing does or grading was interrupted."""
        about = self.about(student, assignment)
        missing = about.get("gradable") and not self.places.autograded(student, assignment).is_dir()
        return None if missing else about.get("digest")

    def refusals(self, student, assignment):
        """Why a submission that is known cannot be graded, (reason, what to ask for) by notebook; none where it can."""
        if self.about(student, assignment).get("gradable", True):
            return []
        kept = sorted(self.record(student, assignment).parent.glob("*.json"))
        verdicts = [json.loads(path.read_text()) for path in kept if path.name != RECORD]
        return [(verdict["reason"], verdict["ask"]) for verdict in verdicts if verdict["reason"]]

    def about(self, student, assignment):
        """What the last run kept of a submission; nothing where it was interrupted."""
        if self.places.mark_of(student, assignment).exists():
            return {}
        try:
            return json.loads(self.record(student, assignment).read_text())
        except (FileNotFoundError, ValueError):
            return {}

    @contextlib.contextmanager
    def changing(self, result):
        """While the block runs, the submission counts as unfinished; an error leaves it so."""
        mark = self.places.mark_of(result.student, result.assignment)
        interrupted.begin(mark)
        self.record(result.student, result.assignment).unlink(missing_ok=True)
        yield
        draft = mark.with_name("graded.part")
        draft.write_text(json.dumps({"digest": result.digest, "gradable": result.graded}))
        draft.replace(self.record(result.student, result.assignment))
        interrupted.finish(mark)

    def put(self, result, submission):
        """Put graded notebooks, and the other files that nbgrader copies, in place of what was there."""
        student, assignment = result.student, result.assignment
        target = self.places.autograded(student, assignment)
        for name, graded in result.notebooks.items():
            keep(graded.intake, self.places.verdict(student, assignment, name))
        beside = self.places.mark_of(student, assignment).parent
        new, old = beside / "new", beside / "old"
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
        if result.graded:
            self.write(result, Path(submission.folder), new)
        if target.exists():
            target.rename(old)
        if result.graded:
            target.parent.mkdir(parents=True, exist_ok=True)
            new.rename(target)
        shutil.rmtree(old, ignore_errors=True)

    def write(self, result, submitted, folder):
        folder.mkdir(parents=True)
        ignored = [*self.course.ignore, "*.ipynb"]
        for source in (submitted, self.places.source(result.assignment)):
            for file in map(Path, find_all_files(str(source), ignored)):
                copy = folder / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)
        for name, graded in result.notebooks.items():
            (folder / f"{name}.ipynb").write_text(graded.text, encoding="utf-8")
        for parent, _, names in os.walk(folder):
            for name in names:
                os.chmod(Path(parent, name), self.permissions)

    def record(self, student, assignment):
        return self.places.mark_of(student, assignment).with_name(RECORD)
