"""Feedback that says what to look at next, and gives nothing away.

Preprocessors for ``GenerateFeedback.preprocessors``, and its exporter. A student sees their own code, the messages and
the points; never a hidden test's text, a mark scheme, a path of the instructor's machine, or a script at work.
"""

import os
import re
import sys
import tempfile
from pathlib import Path

from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets import Dict, List

import course
from course.grading.sanitizing import SanitizeAnswers, markdown2html

SECRET = re.compile(
    r"^[^\n]*(?:BEGIN HIDDEN TESTS|BEGIN MARK SCHEME).*?(?:END HIDDEN TESTS|END MARK SCHEME)[^\n]*\n?",
    re.DOTALL | re.MULTILINE,
)


class FeedbackPreprocessor(NbGraderPreprocessor):
    """Knows the setting that a page hands to all that make it, as GetGrades does: nbgrader would warn of it."""

    display_data_priority = List(NbGraderPreprocessor.display_data_priority.default_value).tag(config=True)


class HideTests(FeedbackPreprocessor):
    """Takes hidden tests and mark schemes out, and from a test's error all but its message."""

    def preprocess_cell(self, cell, resources, cell_index):
        if is_grade(cell) or is_task(cell):
            cell.source = SECRET.sub("", cell.source)
        if cell.cell_type == "code" and is_grade(cell) and not is_solution(cell):
            for output in cell.outputs:
                if output.output_type == "error":  # a traceback shows lines of the test
                    output.traceback = message_of(output).splitlines()
        return cell, resources


def message_of(output):
    """The text of an error, without its traceback: a check's three lines, or the exception in one."""
    if output.ename == "CheckFailed":
        return output.evalue
    return f"{output.ename}: {output.evalue}"


class LookAtNext(FeedbackPreprocessor):
    """Puts on top what was lost and the hint that each test gave, first things first."""

    def preprocess(self, nb, resources):
        lines, by_hand = [], []
        for cell in nb.cells:
            if is_task(cell) or (is_grade(cell) and is_solution(cell)):
                by_hand.append(read_by_hand(cell.metadata.nbgrader))
            elif cell.cell_type == "code" and is_grade(cell) and not is_solution(cell):
                errors = [output for output in cell.outputs if output.output_type == "error"]
                meta = cell.metadata.nbgrader  # with the score that GetGrades found
                most, points = meta["points"], meta.get("score") or 0
                if errors and points < most:
                    name = meta["grade_id"].removeprefix("test_")
                    words = [escape(line) for line in message_of(errors[0]).splitlines()[-2:]]
                    lines.append(
                        f"- **{escape(name)}** ({most - points:g} of {most:g} points lost)<br>" + "<br>".join(words)
                    )
        text = "## What to look at next\n\n" + "\n".join(lines) if lines else "## Every test passed\n\nNothing to mend."
        if by_hand:
            text += "\n\n### Read by a person\n\n" + "\n".join(by_hand)
        nb.cells.insert(0, new_markdown_cell(text))
        return nb, resources


def read_by_hand(meta):
    """A line on an answer that no test grades, from nbgrader's metadata with what GetGrades found."""
    score, remark = meta.get("score") or 0, " A comment stands below the answer." if meta.get("comment") else ""
    return f"- **{escape(meta['grade_id'])}**: {score:g} of {meta['points']:g} points so far.{remark}"


def escape(text):
    """Text as Markdown shows it verbatim."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|$~&])", r"\\\1", text)


class HideMachine(FeedbackPreprocessor):
    """Shortens paths of this machine in outputs to their last part, and drops widgets' state.

    A picture that comes without words is called one: nbconvert would warn of each, and nobody here can describe it.
    """

    def preprocess(self, nb, resources):
        nb.metadata.pop("widgets", None)  # without its state nbconvert stops, with it nothing is gained
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, cell_index):
        for output in cell.get("outputs", ()):
            for field in ("text", "evalue"):
                if isinstance(output.get(field), str):
                    output[field] = shorten_paths(output[field])
            if "traceback" in output:
                output.traceback = [shorten_paths(line) for line in output.traceback]
            for kind, value in output.get("data", {}).items():
                if kind.startswith("image/"):
                    output.metadata.setdefault(kind, {}).setdefault("alt", "A picture that this cell drew")
                if isinstance(value, str) and kind.startswith("text/"):
                    output.data[kind] = shorten_paths(value)
        return cell, resources


def shorten_paths(text):
    """Text in which every absolute path under a folder of this machine is cut to its last part."""
    package = str(Path(course.__file__).parents[1])
    folders = {sys.prefix, sys.base_prefix, package, tempfile.gettempdir(), str(Path.home()), os.getcwd(), *HOMES}
    starts = "|".join(re.escape(folder.rstrip("/\\")) for folder in sorted(folders, key=len, reverse=True))
    return re.sub(
        rf"(?<![\w.])(?:{starts})(?:[/\\][^\s/\\'\"<>:,;)\]]*)*",
        lambda path: "…/" + re.split(r"[/\\]", path.group())[-1],
        text,
    )


HOMES = ("/home", "/root", "/Users", "/tmp", "/var", "/opt", "/srv", "/mnt")


# Over nbgrader's page: letters that grow with a projector, lines that fold on a telephone, tests called by their names.
LEGIBLE = """
html body { font-size: max(16px, 1vw); }
div.input_area pre, div.output_area pre { font-size: 0.95em; white-space: pre-wrap; overflow-wrap: anywhere; }
div.rendered_html { overflow-x: auto; overflow-wrap: anywhere; }
div.nbgrader_cell .panel-heading { height: auto; overflow-wrap: anywhere; }
div.output img { max-width: 100%; height: auto; }
#toc a[href^="#test_"]::after { content: " " attr(href); }
.anchor-link { visibility: hidden; }
"""


class LegiblePage(CSSHTMLHeaderPreprocessor):
    """Gives the page its style."""

    def preprocess(self, nb, resources):
        nb, resources = super().preprocess(nb, resources)
        resources["inlining"]["css"].append(LEGIBLE)
        return nb, resources


class FeedbackExporter(HTMLExporter):
    """nbgrader's page in a language that it names, as wide as the telephone, and there before its formulas are.

    A screen reader chooses its voice by the language. MathJax comes from the network; where that is slow or absent
    the page does not wait, and formulas are read as TeX.
    """

    HEAD = (
        ("<html>", '<html lang="en">'),
        ("<head>", '<head>\n<meta name="viewport" content="width=device-width, initial-scale=1">'),
        ("<script src=", "<script defer src="),
    )

    # Before the preprocessors of feedback: LookAtNext escapes what it quotes, which cleaning would take for HTML.
    preprocessors = List([SanitizeAnswers]).tag(config=True)
    filters = Dict({"markdown2html": markdown2html}).tag(config=True)

    def from_notebook_node(self, nb, resources=None, **keywords):
        page, resources = super().from_notebook_node(nb, resources, **keywords)
        head, body_tag, body = page.partition("<body")
        for theirs, ours in self.HEAD:
            head = head.replace(theirs, ours)
        return head + body_tag + body, resources


def feedback_preprocessors():
    """nbgrader's own list for feedback, with ours before the page is made."""
    return [GetGrades, LookAtNext, HideTests, HideMachine, LegiblePage]
