"""The nbgrader plugin: with ``c.Autograde.exporter_class`` set to it, autograde reads submissions through intake.

The exporter is where nbgrader turns a file into a notebook, so this is the one place that is ahead of everything that
fails on a damaged, renamed or duplicated notebook, for the command line and for formgrader's button alike.
"""

import fnmatch
import glob
import html
import json
import os
import shutil
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_markdown_cell
from nbgrader.converters import Autograde, NbGraderException

from course.grading.intake import interrupted
from course.grading.intake.folder import crowded, irregular_files, read_folder
from course.grading.intake.gradebook import clear_scores, graded_ids
from course.grading.intake.loading import load_assignment
from course.grading.intake.places import Places
from course.grading.intake.settling import settle
from course.grading.intake.verdicts import Intake, NotGradable, Verdict


class IntakeExporter(NotebookExporter):
    """Reads submissions through intake and every other notebook as nbgrader does."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._assignments = {}
        if isinstance(self.parent, Autograde):
            self._take_over(self.parent)

    def from_filename(self, filename, resources=None, **kwargs):
        """The notebook at filename; for one in submitted/ whatever of that folder turns out to be it."""
        about = (resources or {}).get("nbgrader", {})
        folder = Path(filename).parent
        if not about or folder != self._places.submitted(about["student"], about["assignment"]):
            return super().from_filename(filename, resources=resources, **kwargs)
        self._course.ignore = self._ignored
        verdict = self._places.verdict(about["student"], about["assignment"], about["notebook"])
        verdict.unlink(missing_ok=True)
        clear_scores(about["db_url"], about["notebook"], about["assignment"], about["student"])
        intake = self._settle(folder, about)
        self._log(intake, f"{about['student']}, {about['notebook']}")
        keep(intake.as_dict(), verdict)
        if intake.verdict is Verdict.NOT_GRADABLE:
            raise NotGradable(intake.reason, intake.ask)
        resources["metadata"] = {"name": about["notebook"], "path": str(folder)}
        return self.from_notebook_node(with_remarks(intake), resources=resources, **kwargs)

    def _take_over(self, autograde):
        """Visit every submission, and be told before and after each."""
        self._course, self._places = autograde.coursedir, Places(autograde.coursedir)
        self._ignored = self._course.ignore
        self._hooks = autograde.pre_convert_hook, autograde.post_convert_hook
        self._expect_every_submission(autograde)
        autograde.pre_convert_hook, autograde.post_convert_hook = self._before_submission, self._after_submission

    def _expect_every_submission(self, autograde):
        """Make nbgrader visit each submission once for each notebook of the assignment, whatever its files are called.

        nbgrader has matched ``*.ipynb`` before: it would pass over a submission without any, and skip renamed ones.
        """
        source = self._places.source(self._course.assignment_id)
        wanted = self._course.notebook_id
        names = sorted(path.name for path in source.glob("*.ipynb") if fnmatch.fnmatch(path.stem, wanted))
        if not names:
            raise NbGraderException(f"There is no notebook in {source}: the tests and the order of cells come from it.")
        for folder in glob.glob(str(self._places.submitted(self._course.student_id, self._course.assignment_id))):
            if os.path.isdir(folder):
                autograde.assignments[folder] = [os.path.join(folder, name) for name in names]
                self._clear_after_interruption(folder, names)

    def _clear_after_interruption(self, folder, names):
        """Remove what a killed run left of a submission in autograded/, so that it is graded again."""
        mark = self._places.mark(folder)
        if not interrupted.was_interrupted(mark):
            return
        self.log.warning("Grading of %s was interrupted; it starts anew", folder)
        graded = self._places.autograded(self._places.student(folder), self._course.assignment_id)
        if self._course.notebook_id == "*":
            shutil.rmtree(graded, ignore_errors=True)
        for name in names:
            (graded / name).unlink(missing_ok=True)
        interrupted.finish(mark)

    def _before_submission(self, notebooks, **about):
        """Keep nbgrader, which copies a submission's other files, from those refused later: links and crowds."""
        folder = Path(notebooks[0]).parent
        interrupted.begin(self._places.mark(folder))
        refused = [folder] if crowded(folder) else irregular_files(folder)
        self._course.ignore = [*self._ignored, *(glob.escape(path.name) for path in refused)]
        if self._hooks[0]:
            self._hooks[0](notebooks=notebooks, **about)

    def _after_submission(self, notebooks, **about):
        interrupted.finish(self._places.mark(Path(notebooks[0]).parent))
        if self._hooks[1]:
            self._hooks[1](notebooks=notebooks, **about)

    def _settle(self, folder, about):
        assignment = self._assignment(about)
        others = {path.name for path in self._places.source(about["assignment"]).glob("*.ipynb")}
        others.discard(f"{about['notebook']}.ipynb")
        try:
            files, remarks = read_folder(folder)
        except NotGradable as refusal:
            return Intake(Verdict.NOT_GRADABLE, reason=refusal.reason, ask=refusal.ask)
        return settle(assignment, {name: data for name, data in files.items() if name not in others}, remarks)

    def _assignment(self, about):
        """The Assignment, read once a run; its cells must be those that the gradebook got from the last release."""
        name = about["notebook"]
        if name not in self._assignments:
            path = self._places.source(about["assignment"]) / f"{name}.ipynb"
            known = graded_ids(about["db_url"], name, about["assignment"])
            self._assignments[name] = load_assignment(path, about["assignment"], known, self._course, self.parent)
        return self._assignments[name]

    def _log(self, intake, who):
        if intake.verdict is Verdict.NOT_GRADABLE:
            self.log.error("%s: %s. %s %s", who, intake.verdict, intake.reason, intake.ask)
        for remark in intake.remarks:
            self.log.warning("%s: %s", who, remark.told)
        for repair in intake.repairs:
            self.log.info("%s: %s", who, repair.text)


def keep(outcome, path):
    """Write the outcome as JSON: whole or not at all, also when the run is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(outcome, indent=1), encoding="ascii")
    draft.replace(path)


def with_remarks(intake):
    """The clean notebook with the remarks on top, where instructor and student see them."""
    if intake.remarks:
        lines = [_line(remark) for remark in intake.remarks]
        text = "\n".join(["**About the file that was handed in**", "", *lines])
        intake.notebook.cells.insert(0, new_markdown_cell(text, id="intake"))
    return intake.notebook


def _line(remark):
    """A remark as an item of a Markdown list that shows as it is: it can quote names that a student chose."""
    text = html.escape(remark.told[:400], quote=False)
    return "- " + text.replace("[", "&#91;").replace("`", "'").replace("_", "\\_")
