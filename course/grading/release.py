"""What a release needs beyond nbgrader: stubs that suit questions, a header that knows its lesson, Colab's settings.

Preprocessors for ``GenerateAssignment.preprocessors``; each does one thing to one notebook.
"""

import re
import tomllib
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import ClearSolutions, IncludeHeaderFooter, NbGraderPreprocessor
from traitlets import Dict, Unicode

import course
from course.handin import STUB, graded_cells

COLAB = "https://colab.research.google.com/github"


class ClearAnswers(ClearSolutions):
    """Replaces a solution inside a function by a line that raises, and one at the top level by nothing.

    A question's cell reads ``answer = ""`` above its solution region: that line is the stub, and a line
    that raises below it would stop the notebook.
    """

    code_stub = Dict({"python": STUB}).tag(config=True)

    def _replace_solution_region(self, cell, language):
        if cell.cell_type == "code":
            begin, end = self.begin_solution_delimeter, self.end_solution_delimeter
            at_top_level = re.compile(rf"^### {begin}.*?^### {end}[^\n]*\n?", re.DOTALL | re.MULTILINE)
            source, found = at_top_level.subn("", cell.source)
            cell.source = source.rstrip("\n") if found else source
            return super()._replace_solution_region(cell, language) or bool(found)
        return super()._replace_solution_region(cell, language)


class FillFields(NbGraderPreprocessor):
    """Fills the fields of header and footer: ``@VERSION@``, ``@REQUIREMENT@``, ``@BADGE@``, ``@LESSON@``, ``@GRADED@``.

    Without a repository in ``[project.urls]`` there is no badge, and without ``[tool.course] requirement``
    there is nothing to install: both are left out, and a line in the log says so.
    """

    pyproject = Unicode("pyproject.toml", help="Where version, repository and requirement are set").tag(config=True)

    def preprocess(self, nb, resources):
        assignment, notebook = resources["nbgrader"]["assignment"], resources["unique_key"]
        fields = header_fields(Path(self.pyproject), assignment, notebook)
        fields |= {"@LESSON@": notebook, "@GRADED@": " ".join(graded_cells(nb))}
        if not fields["@BADGE@"]:
            self.log.info("No Repository in [project.urls] of %s: the release has no Colab badge", self.pyproject)
        for cell in nb.cells:
            for name, text in fields.items():
                cell.source = cell.source.replace(name, text)
            cell.source = cell.source.rstrip("\n")
        return nb, resources


def header_fields(pyproject, assignment, notebook):
    """Texts for the header's fields, by field."""
    settings, version = tomllib.loads(pyproject.read_text(encoding="utf-8")), course.__version__
    requirement = settings.get("tool", {}).get("course", {}).get("requirement", "").format(version=version)
    repository = settings["project"].get("urls", {}).get("Repository", "")
    return {
        "@VERSION@": version,
        "@REQUIREMENT@": requirement,
        "@BADGE@": badge(repository, version, assignment, notebook) if repository else "",
    }


def badge(repository, version, assignment, notebook):
    """Markdown of the Colab badge for a released notebook at the version's tag."""
    found = re.fullmatch(r"https://github\.com/([^/]+/[^/]+?)(\.git)?/?", repository)
    if not found:
        raise ValueError(f"Repository is {repository!r}, but Colab opens only https://github.com/OWNER/NAME")
    path = f"{COLAB}/{found.group(1)}/blob/v{version}/release/{assignment}/{notebook}.ipynb"
    return f"[![Open this lesson in Google Colab](https://colab.research.google.com/assets/colab-badge.svg)]({path})"


class ColabSettings(NbGraderPreprocessor):
    """Opens Colab's table of contents and asks it to keep generative help out of graded work."""

    def preprocess(self, nb, resources):
        nb.metadata["colab"] = {"toc_visible": True, "generative_ai_disabled": True}
        return nb, resources


def release_preprocessors():
    """nbgrader's own list for a release, with ours put where they belong."""
    ours = {ClearSolutions: [ClearAnswers], IncludeHeaderFooter: [IncludeHeaderFooter, FillFields, ColabSettings]}
    return [new for old in GenerateAssignment.preprocessors.default_args[0] for new in ours.get(old, [old])]
