"""nbgrader's Execute, in the sandbox: one exercise's disaster stays its own.

It stands in nbgrader's place in ``Autograde.autograde_preprocessors``; ``Execute.timeout``,
``timeout_func`` and ``startup_timeout`` hold here too. Each cell runs under limits. Where one ends
its kernel, a new kernel runs the earlier cells again, without those that ended one, and grading goes
on with the next cell. All cells together have limits too: a notebook can have thousands.
"""

import os
import shutil
import time
from dataclasses import dataclass

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.converters import Autograde
from nbgrader.preprocessors import Execute
from traitlets import Bool, Int, Type, default

from course.grading.sandbox import messages
from course.grading.sandbox.availability import SandboxUnavailable, require_sandbox
from course.grading.sandbox.kernel import ConfinedKernelManager, Kernel, UnconfinedKernelManager
from course.grading.sandbox.outputs import error_output
from course.grading.sandbox.provisioner import SandboxProvisioner

STOPPED_BEFORE = 1  # seconds for a cell that ran too long the first time: what it defined came before
TOGETHER = 8  # times the output limit of one cell that the cells of a notebook may leave in it
UNCONFINED = "Graded without a sandbox: this submission's code ran with the instructor's rights."


def is_executed(cell):
    """Tags are a student's to set, so none keeps a cell from running."""
    return cell.cell_type == "code" and cell.source.strip() != ""


def is_test(cell):
    """Whether the cell is a test and nothing else: it defines nothing that a later cell needs."""
    marks = cell.metadata.get("nbgrader", {})
    return bool(marks.get("grade")) and not marks.get("solution")


@dataclass
class Past:
    """A cell that has run: whether a new kernel may run it again, and for how long (s)."""

    cell: NotebookNode
    name: str
    repeat: bool
    limit: float | None


class SandboxedExecute(Execute):
    """Runs a submission cell by cell in confined kernels and records what each cell came to."""

    unconfined = Bool(
        help="Run students' code without a sandbox and mark every graded notebook so. "
        "The environment variable COURSE_UNCONFINED=1 does the same."
    ).tag(config=True)
    output_limit = Int(2 * 1024**2, help="Bytes of output that one cell may leave in the notebook.").tag(config=True)
    submission_timeout = Int(
        900,
        allow_none=True,
        help="Seconds after which no further cell or test of a submission is started; None for no limit.",
    ).tag(config=True)
    confined_manager = Type(ConfinedKernelManager, help="Makes the kernels that run students' code.").tag(config=True)

    @default("unconfined")
    def _unconfined_from_environment(self):
        return os.environ.get("COURSE_UNCONFINED", "") not in ("", "0")

    def preprocess(self, nb, resources, km=None):
        """Run every code cell of ``nb`` in place, in order, whatever becomes of the others."""
        self.folder = resources.get("metadata", {}).get("path") or None
        if not self.unconfined:
            self.require_sandbox(resources)
        self.limits = SandboxProvisioner(config=self.config).limits
        self.kernel, self.history, self.events = self.make_kernel(), [], []
        self.room = TOGETHER * self.output_limit
        try:
            nb.metadata["language_info"] = self.kernel.start().language_info()
            self.prepare()
            self.started = time.monotonic()
            for index, cell in enumerate(nb.cells):
                if is_executed(cell):
                    self.run_cell(cell, messages.cell_name(cell, index))
        finally:
            self.kernel.stop()
        self.mark(nb)
        return nb, resources

    def require_sandbox(self, resources):
        """Stop all grading where no sandbox can be made, leaving nothing behind that looks graded."""
        try:
            require_sandbox(self.folder)
        except SandboxUnavailable:
            converter = getattr(self.parent, "parent", None)
            if isinstance(converter, Autograde):  # which would take the half-made folder for a graded one
                about, course = resources["nbgrader"], converter.coursedir
                shutil.rmtree(course.format_path(course.autograded_directory, about["student"], about["assignment"]))
            raise

    def make_kernel(self):
        """The process of the student's code, not started yet."""
        manager = UnconfinedKernelManager if self.unconfined else self.confined_manager
        return Kernel(manager, self.folder, self.startup_timeout, self.config)

    def prepare(self):
        """Do what a new kernel needs before the first cell; a subclass may."""

    def ready_kernel(self):
        """The kernel, alive: one that died since the last cell was ended by something that this cell left running."""
        if not self.kernel.is_alive():
            self.blame_last_cell()
            self.recover()
        return self.kernel

    def run_cell(self, cell, name):
        """Run one cell, write its outputs, and have a kernel ready for the next."""
        if self.is_over():
            cell.outputs = [error_output(messages.STOPPED, self.sentence("total", name, cell))]
            cell.execution_count = None
            self.record(name, "total")
            return
        kernel, limit = self.ready_kernel(), self.time_limit(cell)
        run = kernel.run(cell.source, limit, self.output_limit)
        self.write(cell, name, run)
        finished = run.ending == "finished"
        self.history.append(Past(cell, name, repeat=run.alive, limit=limit if finished else STOPPED_BEFORE))
        if not run.alive:
            self.recover()

    def time_limit(self, cell):
        """Seconds for ``cell``; None where the configuration sets no limit."""
        return self._get_timeout(cell)

    def is_over(self):
        """Whether the time of the whole submission is used up."""
        return self.submission_timeout is not None and time.monotonic() > self.started + self.submission_timeout

    def recover(self):
        """Start the kernel anew and repeat what made its state, without the cells that ended a kernel.

        A cell that ends the kernel while it is repeated is left out too, so this comes to an end.
        """
        self.kernel.restart()
        self.prepare()
        for past in self.history:
            if past.repeat and not is_test(past.cell) and not self.is_over():
                run = self.kernel.run(past.cell.source, past.limit, self.output_limit)
                if not run.alive:
                    past.repeat = False
                    self.record(past.name, run.ending)
                    return self.recover()
        return None

    def blame_last_cell(self):
        """Mark the last cell of a student that ran as the one that left the process dying."""
        ending = self.kernel.ended_for() or "died"
        for past in reversed(self.history):
            if past.repeat and not is_test(past.cell):
                past.repeat = False
                text = self.sentence(ending, past.name, past.cell)
                past.cell.outputs.append(error_output(messages.STOPPED, text))
                self.record(past.name, ending)
                return

    def sentence(self, ending, name, cell):
        time_limit = self.submission_timeout if ending == "total" else self.time_limit(cell)
        return messages.stopped(ending, name, time_limit, self.limits, self.output_limit)

    def write(self, cell, name, run):
        """Put the outputs of ``run`` into ``cell``; a cell that did not run to its end always shows an error."""
        outputs, reply = run.outputs, run.reply or {}
        if outputs.cut:
            outputs.note(messages.cut(name, self.output_limit))
        self.room -= min(outputs.received, self.output_limit)
        if self.room < 0 and outputs.received:
            outputs.leave_out()
            outputs.note(messages.left_out(name, TOGETHER * self.output_limit))
        if run.ending != "finished":
            outputs.fail(messages.STOPPED, self.sentence(run.ending, name, cell))
            self.record(name, run.ending)
        elif not run.succeeded:
            if note := messages.explanation(reply, name, self.limits):
                outputs.note(note)
            if not outputs.has_error():  # lost in a flood, or never sent
                outputs.fail(str(reply.get("ename", messages.STOPPED)), str(reply.get("evalue", "")))
        cell.outputs = outputs.kept
        count = reply.get("execution_count")
        cell.execution_count = count if isinstance(count, int) else None

    def record(self, name, ending):
        if ending == "total" and ending in (event["ending"] for event in self.events):
            return  # told of the first cell, and meant of all that follow
        self.log.warning("%s: stopped (%s)", name, ending)
        self.events.append({"cell": name, "ending": ending})

    def mark(self, nb):
        """Say in the notebook how it was run, for reports and for whoever reads it."""
        nb.metadata["course_grading"] = {"confined": not self.unconfined, "stopped": self.events}
        if self.unconfined:
            self.log.warning(UNCONFINED)
            nb.cells.insert(0, new_markdown_cell(f"**{UNCONFINED}**"))
