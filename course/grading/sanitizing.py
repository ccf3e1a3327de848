"""What students wrote or displayed, made harmless for a page: it is shown and runs nothing.

A preprocessor and a filter for an HTMLExporter. Feedback is read by students. formgrader's pages are the instructor's:
a script in one could do all that they may, run code on their server included.
"""

import functools
import html
import re
from pathlib import Path

import nbformat
from bleach import clean
from bleach.css_sanitizer import ALLOWED_CSS_PROPERTIES, CSSSanitizer
from jinja2 import pass_context
from nbconvert.exporters import HTMLExporter
from nbconvert.preprocessors.sanitize import SanitizeHTML
from nbformat import NotebookNode

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
# Colours, fonts and sizes, and with what explorers arrange their pictures; nothing that puts a thing over another.
STYLES = ALLOWED_CSS_PROPERTIES | {"max-width", "gap", "flex", "flex-wrap", "align-items", "overflow-wrap"}
STYLES |= {"padding-left", "padding-right", "border-left"}
PICTURES = ("image/png", "image/jpeg")


def is_allowed(tag, name, value):
    """Whether a tag keeps an attribute; pictures in the page itself are those of explorers and plots."""
    if re.search(r"data\s*:", value, re.IGNORECASE) and name != "alt":
        return (tag, name) == ("img", "src") and bool(PICTURE.match(value))
    return name in ATTRIBUTES or name in ATTRIBUTES_OF.get(tag, ())


def of_a_picture(details):
    """Its size and alternative text; nbconvert would copy whatever calls itself a width into a tag as it stands."""
    details = details if isinstance(details, dict) else {}
    sizes = {name: details[name] for name in ("width", "height") if type(details.get(name)) in (int, float)}
    return sizes | ({"alt": details["alt"]} if isinstance(details.get("alt"), str) else {})


class SanitizeAnswers(SanitizeHTML):
    """Cleans HTML in outputs, and in text that the release does not hold word for word."""

    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.enabled = True  # nbconvert's own are not unless a configuration says so
        self.tags = TAGS

    def sanitize_html_tags(self, html_str):
        """HTML with what is listed here alone; nbconvert's own would take out pictures that lie in the page."""
        styles = CSSSanitizer(allowed_css_properties=STYLES)
        protocols = (*SCHEMES, "data")  # of which is_allowed takes pictures only
        return clean(html_str, tags=self.tags, attributes=is_allowed, protocols=protocols, css_sanitizer=styles)

    def preprocess(self, nb, resources):
        self.released = released_texts(resources)
        return super().preprocess(nb, resources)

    def sanitize_code_outputs(self, outputs):
        """Outputs without data that is not listed, and without metadata that a page would copy into its tags."""
        for output in super().sanitize_code_outputs(outputs):
            if "metadata" in output:
                each = {kind: of_a_picture(output.metadata[kind]) for kind in PICTURES if kind in output.metadata}
                output.metadata = NotebookNode(of_a_picture(output.metadata) | each)
        return outputs

    def preprocess_cell(self, cell, resources, cell_index):
        if cell.cell_type == "markdown" and cell.source in self.released:
            return cell, resources
        return super().preprocess_cell(cell, resources, cell_index)


def released_texts(resources):
    """Texts of the Markdown cells of the release that this notebook came from; none where it cannot be found.

    formgrader names assignment and notebook in its own way.
    """
    about = resources.get("nbgrader", {})
    assignment = about.get("assignment", resources.get("assignment_id", ""))
    path = Path("release", assignment, f"{about.get('notebook', resources.get('notebook_id', ''))}.ipynb")
    if not path.is_file():
        return set()
    return {cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown"}


def harmless(found):
    """The address of a link made of Markdown, which is cleaned of HTML alone; "#" for one that runs a script."""
    address = re.sub(r"[\x00-\x20]", "", html.unescape(found.group()))  # as browsers read it
    scheme = re.match(r"([a-z][a-z0-9+.-]*):", address, re.IGNORECASE)
    return found.group() if not scheme or scheme.group(1).lower() in SCHEMES else "#"


@functools.cache
def nbconvert_itself():
    return HTMLExporter()


@pass_context
def markdown2html(context, source):
    """Markdown as nbconvert's filter of this name makes HTML of it, with links that run nothing."""
    page = nbconvert_itself().markdown2html(context, source)
    return re.sub(r'(?<=\bhref=")[^"]*', harmless, page)
