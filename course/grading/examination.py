"""The executor of a graded notebook: the student's cells run in the sandbox, the tests in this process.

It stands in the place of nbgrader's Execute. What a test calls is asked of the student's kernel and answered with
plain values, so that no code of a student's meets a test's text or an expected value, and credit needs an exam that
ran all its checks here.
"""

import contextlib
import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_markdown_cell, new_output
from nbgrader.converters import Autograde
from traitlets import Unicode

from course.checks.failure import CheckFailed
from course.checks.scratch import refusal
from course.grading.examiner import Student, StudentGone, run_test
from course.grading.intake.second_look import ready_made
from course.grading.printable import printable
from course.grading.sandbox import messages
from course.grading.sandbox.exchange import Ended
from course.grading.sandbox.execute import SandboxedExecute, is_test
from course.grading.sandbox.outputs import error_output

FAULT = "CourseFault"
UNPROVED = "it ended without an Exam or a Question of course.checks that ran all its checks"
EXCUSE = "this test is faulty, which is a mistake of the course and not yours; your answer has not been examined."


class ExaminedExecute(SandboxedExecute):
    """Runs a submission's cells in its kernel and examines them from here."""

    setup = Unicode(help="The lesson's imports, which a test may use; unless given, the source's first code cell.")

    def preprocess(self, nb, resources, km=None):
        self.imports = self.setup or first_code(self.source_notebook(resources))
        self.answers = {
            cell.metadata.nbgrader.grade_id: cell
            for cell in nb.cells
            if cell.metadata.get("nbgrader", {}).get("solution")
        }
        self.faults = []
        nb, resources = super().preprocess(nb, resources, km)
        if self.faults:
            nb.metadata.course_grading["faults"] = self.faults
            which = ", ".join(fault["cell"] for fault in self.faults)
            nb.cells.insert(0, new_markdown_cell(f"**Faulty tests, a mistake of the course: {which}**"))
        return nb, resources

    def source_notebook(self, resources):
        """The source of the lesson that is graded, from the course folder."""
        autograde = getattr(self.parent, "parent", None)
        if not isinstance(autograde, Autograde):
            raise ValueError("there is no course folder to find the lesson's imports in: give ExaminedExecute a setup")
        about, course = resources["nbgrader"], autograde.coursedir
        folder = course.format_path(course.source_directory, ".", about["assignment"])
        return nbformat.read(Path(folder) / f"{about['notebook']}.ipynb", as_version=4)

    def prepare(self):
        """Let the kernel import what answers for it, before a student's code runs and on nobody's time."""
        exchange = self.kernel.exchange(self.startup_timeout, self.output_limit)
        with contextlib.suppress(CheckFailed):
            Student(self.asking(exchange, self.startup_timeout)).values("__name__")
        run = exchange.finish()
        if not run.alive:
            raise RuntimeError(f"a new kernel did not answer the examiner ({run.ending}): is the machine overloaded?")

    def run_cell(self, cell, name):
        if is_test(cell):
            self.examine(cell, name)
        else:
            super().run_cell(cell, name)

    def examine(self, cell, name):
        """Run one test here, ask the kernel what it asks, and write what came of it into the cell."""
        kernel, limit = self.ready_kernel(), self.time_limit(cell)
        exchange = kernel.exchange(limit, self.output_limit)
        student = Student(self.unasked(name) if self.is_over() else self.asking(exchange, limit))
        try:
            printed, failure, proved = run_test(cell.source, self.imports, student)
            fault = None if failure or proved else UNPROVED
            failure = failure and self.with_cause(failure, student)
        except Exception as error:  # not one of the student's: an exam turns those into failures
            printed, failure, fault = "", None, f"{type(error).__name__}: {error}"
        run = exchange.finish()
        if run.ending != "finished":
            self.record(name, run.ending)
        if not run.alive:
            self.recover()
        if fault:
            self.report_fault(name, fault)
        cell.execution_count = None
        cell.outputs = outputs(name, printed, failure or self.second_look(student), fault)

    def unasked(self, name):
        """As ``asking``, where the time of the whole submission is used up."""
        self.record(name, "total")

        def ask(request):
            raise StudentGone(messages.no_result("total", self.submission_timeout, self.limits, self.output_limit))

        return ask

    def asking(self, exchange, limit):
        """The function that asks a student's process, and says in words why there is no answer."""

        def ask(request):
            try:
                return exchange.ask(request)
            except Ended as end:
                reason = messages.no_result(end.ending, limit, self.limits, self.output_limit)
                raise StudentGone(reason) from None

        return ask

    def second_look(self, student):
        """The failure of an answer whose text shows that it calls what its exam forbids, or None.

        The exam has watched its calls, but in the student's process, where a watch can be switched off.
        """
        for exam in student.exams:
            if getattr(exam, "from_scratch", False):
                answer = self.answers.get(exam.name)
                found = ready_made(answer.source, self.imports, exam.name) if answer else None
                if found:
                    return refusal(found)
        return None

    def with_cause(self, failure, student):
        """The failure, hinting at the error in the answer's own cell where the answer is missing because of it."""
        name = student.exams[0].name if student.exams else ""
        shown = self.answers[name].outputs if name in self.answers else []
        errors = [output for output in shown if output.output_type == "error"]
        if not errors or is_defined(name, student):
            return failure
        error = f"{errors[-1].ename}: {errors[-1].evalue}".partition("\n")[0]
        error = re.sub(r" ?\(<[^>]*>, (line \d+)\)", r" in \1", error)  # the file is a name that IPython made up
        return CheckFailed(failure.seen, f"Its cell ended with {error}; mend that first.", failure.progress)

    def report_fault(self, name, reason):
        """A test that is the course's mistake earns nothing, and it is said whose mistake it is."""
        self.log.error("%s is a faulty test, a mistake of the course: %s", name, reason)
        self.faults.append({"cell": name, "reason": reason})


def is_defined(name, student):
    """Whether a student's process has the name; taken to have it where it does not answer."""
    try:
        return bool(student.values(name))
    except CheckFailed:
        return True


def first_code(notebook):
    """The text of a notebook's first code cell: in a lesson's source, its imports."""
    return next((cell.source for cell in notebook.cells if cell.cell_type == "code"), "")


def outputs(name, printed, failure, fault):
    """A test cell's outputs: those of a notebook where it ran, without the traceback."""
    if fault:
        return [error_output(FAULT, f"{name}: {EXCUSE}")]
    shown = [new_output("stream", name="stdout", text=printable(printed))] if printed else []
    if failure:
        text = printable(str(failure))
        shown.append(new_output("error", ename="CheckFailed", evalue=text, traceback=text.splitlines()))
    return shown
