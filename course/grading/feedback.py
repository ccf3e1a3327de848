"""Feedback that says what to look at next, and gives nothing away.

Preprocessors for ``GenerateFeedback.preprocessors``, and its exporter. A student sees their own code, the messages and
the points; never a hidden test's text, a mark scheme, a path of the instructor's machine, or a script at work.
"""

import html
import os
import re
import sys
import tempfile
from pathlib import Path

import nbformat
from bleach import clean
from bleach.css_sanitizer import CSSSanitizer
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbformat.v4 import new_markdown_cell
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution, is_task

import course

SECRET = re.compile(
    r"^[^\n]*(?:BEGIN HIDDEN TESTS|BEGIN MARK SCHEME).*?(?:END HIDDEN TESTS|END MARK SCHEME)[^\n]*\n?",
    re.DOTALL | re.MULTILINE,
)
TAGS = [  # what Markdown makes, and what the course's own outputs use
    *("a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "figcaption"),
    *("figure", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "li", "ol", "p", "pre", "s", "span", "strong"),
    *("sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr", "ul"),
]

SCHEMES = ("http", "https", "mailto")
PICTURE = re.compile(r"data:image/(png|jpeg|gif);base64,")  # no SVG: it can carry scripts
ATTRIBUTES = ("title", "style")
ATTRIBUTES_OF = {
    "a": ("href",),
    "img": ("src", "alt", "width", "height"),
    "details": ("open",),
    "th": ("scope", "colspan", "rowspan"),
    "td": ("colspan", "rowspan"),
}


class HideTests(NbGraderPreprocessor):
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


class LookAtNext(NbGraderPreprocessor):
    """Puts on top what was lost and the hint that each test gave, first things first."""

    def preprocess(self, nb, resources):
        lines = []
        for cell in nb.cells:
            if cell.cell_type == "code" and is_grade(cell) and not is_solution(cell):
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
        nb.cells.insert(0, new_markdown_cell(text))
        return nb, resources


def escape(text):
    """Text as Markdown shows it verbatim."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|$~&])", r"\\\1", text)


class HideMachine(NbGraderPreprocessor):
    """Shortens paths of this machine in outputs to their last part, and drops widgets' state."""

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


def harmless(found):
    """The address of a link made of Markdown, which is cleaned of HTML alone; "#" for one that runs a script."""
    address = re.sub(r"[\x00-\x20]", "", html.unescape(found.group()))  # as browsers read it
    scheme = re.match(r"([a-z][a-z0-9+.-]*):", address, re.IGNORECASE)
    return found.group() if not scheme or scheme.group(1).lower() in SCHEMES else "#"


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

    def from_notebook_node(self, nb, resources=None, **keywords):
        page, resources = super().from_notebook_node(nb, resources, **keywords)
        head, body_tag, body = page.partition("<body")
        for theirs, ours in self.HEAD:
            head = head.replace(theirs, ours)
        return head + body_tag + re.sub(r'(?<=\bhref=")[^"]*', harmless, body), resources


def is_allowed(tag, name, value):
    """Whether a tag keeps an attribute; pictures in the page itself are those of explorers and plots."""
    if re.search(r"data\s*:", value, re.IGNORECASE) and name != "alt":
        return (tag, name) == ("img", "src") and bool(PICTURE.match(value))
    return name in ATTRIBUTES or name in ATTRIBUTES_OF.get(tag, ())


class SanitizeAnswers(SanitizeHTML):
    """Cleans HTML in outputs, and in text that the release does not hold word for word."""

    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.enabled = True  # nbconvert's own are not unless a configuration says so
        self.tags = TAGS

    def sanitize_html_tags(self, html_str):
        """HTML with what is listed here alone; nbconvert's own would take out pictures that lie in the page."""
        styles = CSSSanitizer()  # lets through colours, fonts and sizes, and nothing that covers the page
        protocols = (*SCHEMES, "data")  # of which is_allowed takes pictures only
        return clean(html_str, tags=self.tags, attributes=is_allowed, protocols=protocols, css_sanitizer=styles)

    def preprocess(self, nb, resources):
        self.released = released_texts(resources)
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, cell_index):
        if cell.cell_type == "markdown" and cell.source in self.released:
            return cell, resources
        return super().preprocess_cell(cell, resources, cell_index)


def released_texts(resources):
    """Texts of the Markdown cells of the release that this notebook came from; none where it cannot be found."""
    names = resources.get("nbgrader", {})
    path = Path("release") / names.get("assignment", "") / f"{resources.get('unique_key', '')}.ipynb"
    if not path.is_file():
        return set()
    return {cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"}


def feedback_preprocessors():
    """nbgrader's own list for feedback, with ours before the page is made."""
    # What is cleaned comes first: LookAtNext escapes what it quotes, which cleaning would take for HTML.
    return [GetGrades, SanitizeAnswers, LookAtNext, HideTests, HideMachine, LegiblePage]
