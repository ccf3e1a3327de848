"""The nbgrader plugin: with ``c.Autograde.exporter_class`` set to it, autograde reads submissions through intake.

The exporter is where nbgrader turns a file into a notebook, so this is the one place that is ahead of everything that
fails on a damaged, renamed or duplicated notebook, for the command line and for formgrader's button alike.
"""

import fnmatch
import glob
import html
import json
import os
import re
import shutil
from pathlib import Path

import nbformat
from nbconvert.exporters import NotebookExporter
from nbformat.v4 import new_markdown_cell
from nbgrader.converters import Autograde, GenerateAssignment, NbGraderException

from course.grading.intake import interrupted
from course.grading.intake.assignment import Assignment
from course.grading.intake.folder import irregular_files, read_folder
from course.grading.intake.gradebook import clear_scores, graded_ids
from course.grading.intake.settling import settle
from course.grading.intake.verdicts import Intake, NotGradable, Verdict

KEPT = ".intake"  # folder in autograded/ for what intake keeps; nbgrader does not visit names with a dot


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
        if not about or folder != self._submitted(about["student"], about["assignment"]):
            return super().from_filename(filename, resources=resources, **kwargs)
        self.parent.coursedir.ignore = self._ignored
        clear_scores(about["db_url"], about["notebook"], about["assignment"], about["student"])
        intake = self._settle(folder, about)
        self._tell(intake, about)
        if intake.verdict is Verdict.NOT_GRADABLE:
            raise NotGradable(intake.reason, intake.ask)
        resources["metadata"] = {"name": about["notebook"], "path": str(folder)}
        return self.from_notebook_node(_with_remarks(intake), resources=resources, **kwargs)

    def _take_over(self, autograde):
        """Visit every submission, and be told before and after each."""
        self._ignored = autograde.coursedir.ignore
        self._hooks = autograde.pre_convert_hook, autograde.post_convert_hook
        self._expect_every_submission(autograde)
        autograde.pre_convert_hook, autograde.post_convert_hook = self._before_submission, self._after_submission

    def _expect_every_submission(self, autograde):
        """Make nbgrader visit each submission once for each notebook of the assignment, whatever its files are called.

        nbgrader has matched ``*.ipynb`` before: it would pass over a submission without any, and skip renamed ones.
        """
        course = autograde.coursedir
        source = Path(course.format_path(course.source_directory, ".", course.assignment_id))
        names = sorted(path.name for path in source.glob("*.ipynb") if fnmatch.fnmatch(path.stem, course.notebook_id))
        if not names:
            raise NbGraderException(f"There is no notebook in {source}: the tests and the order of cells come from it.")
        for folder in glob.glob(str(self._submitted(course.student_id, course.assignment_id))):
            if os.path.isdir(folder):
                autograde.assignments[folder] = [os.path.join(folder, name) for name in names]
                self._clear_after_interruption(folder, names)

    def _clear_after_interruption(self, folder, names):
        """Remove what a killed run left of a submission in autograded/, so that it is graded again."""
        course, mark = self.parent.coursedir, self._mark(folder)
        if not interrupted.was_interrupted(mark):
            return
        graded = Path(course.format_path(course.autograded_directory, self._student(folder), course.assignment_id))
        self.log.warning("Grading of %s was interrupted; it starts anew", folder)
        if course.notebook_id == "*":
            shutil.rmtree(graded, ignore_errors=True)
        for name in names:
            (graded / name).unlink(missing_ok=True)
        interrupted.finish(mark)

    def _before_submission(self, notebooks, **about):
        """Keep nbgrader, which copies a submission's other files, from following the links that are refused later."""
        folder = Path(notebooks[0]).parent
        interrupted.begin(self._mark(folder))
        self.parent.coursedir.ignore = [*self._ignored, *(glob.escape(path.name) for path in irregular_files(folder))]
        self._call(self._hooks[0], notebooks=notebooks, **about)

    def _after_submission(self, notebooks, **about):
        interrupted.finish(self._mark(Path(notebooks[0]).parent))
        self._call(self._hooks[1], notebooks=notebooks, **about)

    def _call(self, hook, **about):
        """Call a hook that the configuration had set."""
        if hook:
            hook(**about)

    def _mark(self, folder):
        course = self.parent.coursedir
        kept = Path(course.root) / course.autograded_directory / KEPT
        return kept / course.assignment_id / self._student(folder) / "unfinished"

    def _student(self, folder):
        """The student whose submission a folder is."""
        course = self.parent.coursedir
        pattern = course.format_path(course.submitted_directory, "(?P<student>.*)", course.assignment_id, escape=True)
        return re.match(pattern, str(folder)).group("student")

    def _submitted(self, student, assignment):
        course = self.parent.coursedir
        return Path(course.format_path(course.submitted_directory, student, assignment))

    def _settle(self, folder, about):
        assignment = self._assignment(about)
        others = {f"{path.stem}.ipynb" for path in self._source(about).parent.glob("*.ipynb")} - {
            self._source(about).name
        }
        try:
            files, remarks = read_folder(folder)
        except NotGradable as refusal:
            return Intake(Verdict.NOT_GRADABLE, reason=refusal.reason, ask=refusal.ask)
        return settle(assignment, {name: data for name, data in files.items() if name not in others}, remarks)

    def _source(self, about):
        course = self.parent.coursedir
        return (
            Path(course.format_path(course.source_directory, ".", about["assignment"])) / f"{about['notebook']}.ipynb"
        )

    def _assignment(self, about):
        """The Assignment, read once a run; its cells must be those that the gradebook got from the last release."""
        key = about["assignment"], about["notebook"]
        if key not in self._assignments:
            source = nbformat.read(self._source(about), as_version=4)
            release = GenerateAssignment(coursedir=self.parent.coursedir, parent=self.parent)
            assignment = Assignment.from_source(
                about["notebook"], source, release.preprocessors, parent=release, assignment=about["assignment"]
            )
            stored = graded_ids(about["db_url"], about["notebook"], about["assignment"])
            if stored != assignment.nbgrader_ids:
                raise NbGraderException(
                    f"The cells of {self._source(about)} are not those of the gradebook "
                    f"({', '.join(sorted(stored ^ assignment.nbgrader_ids))}): run nbgrader generate_assignment first."
                )
            self._assignments[key] = assignment
        return self._assignments[key]

    def _tell(self, intake, about):
        """Log the outcome and keep it as JSON."""
        who = f"{about['student']}, {about['notebook']}"
        if intake.verdict is Verdict.NOT_GRADABLE:
            self.log.error("%s: %s. %s %s", who, intake.verdict, intake.reason, intake.ask)
        for remark in intake.remarks:
            self.log.warning("%s: %s %s", who, remark.text, f"({remark.cell})" if remark.cell else "")
        for repair in intake.repairs:
            self.log.info("%s: %s", who, repair.text)
        course = self.parent.coursedir
        path = verdict_path(Path(course.root) / course.autograded_directory, **about)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".part")
        draft.write_text(json.dumps(intake.as_dict(), indent=1, ensure_ascii=False), encoding="utf-8")
        draft.replace(path)  # whole or not at all, also when the run is killed


def verdict_path(autograded, assignment, student, notebook, **_):
    """Where the outcome of intake for one notebook is kept."""
    return Path(autograded) / KEPT / assignment / student / f"{notebook}.json"


def _with_remarks(intake):
    """The clean notebook with the remarks on top, where instructor and student see them."""
    if not intake.remarks:
        return intake.notebook
    lines = [
        f"- {_harmless(remark.text)}{f' (`{_harmless(remark.cell)}`)' if remark.cell else ''}"
        for remark in intake.remarks
    ]
    text = "\n".join(["**About the file that was handed in**", "", *lines])
    intake.notebook.cells.insert(0, new_markdown_cell(text, id="intake"))
    return intake.notebook


def _harmless(text):
    """Text that Markdown shows as it is: it can quote names that a student chose."""
    return html.escape(text[:300], quote=False).replace("[", "&#91;").replace("`", "'")
