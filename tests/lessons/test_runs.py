"""Every lesson, solved, runs from top to bottom as a grader runs it: no error, nothing on stderr."""

import html
import os
import re

import nbformat
import pytest
from nbclient import NotebookClient

from tests.judging.lesson import SOURCE, lesson_names

OUTPUT_LIMIT = 2_000_000  # bytes of one cell's outputs: a page of pictures, not a flood


@pytest.fixture(scope="module", params=lesson_names())
def executed(request, tmp_path_factory):
    notebook = nbformat.read(SOURCE / request.param / f"{request.param}.ipynb", as_version=4)
    folder = tmp_path_factory.mktemp(request.param)
    environment = os.environ | {"NBGRADER_EXECUTION": "autograde"}
    client = NotebookClient(
        notebook, timeout=120, allow_errors=True, coalesce_streams=True, resources={"metadata": {"path": str(folder)}}
    )
    client.execute(env=environment)
    return notebook


def outputs(notebook):
    return [
        (number, output)
        for number, cell in enumerate(notebook.cells, start=1)
        if cell.cell_type == "code"
        for output in cell.outputs
    ]


def test_no_cell_fails(executed):
    errors = [(number, output.evalue) for number, output in outputs(executed) if output.output_type == "error"]
    assert errors == []


def test_nothing_goes_to_stderr(executed):
    assert [(number, output.text) for number, output in outputs(executed) if output.get("name") == "stderr"] == []


def test_every_graded_cell_says_that_it_ran_to_its_end(executed):
    for cell in executed.cells:
        meta = cell.metadata.get("nbgrader", {})
        if meta.get("grade") and cell.cell_type == "code":
            assert [output.name for output in cell.outputs] == ["stdout"], meta["grade_id"]


def test_outputs_stay_small(executed):
    assert [number for number, output in outputs(executed) if len(str(output)) >= OUTPUT_LIMIT] == []


def test_every_picture_has_a_text(executed):
    """Drawn, as those of explorers are, or told in words, as the lesson's own are while it is graded."""
    page = "".join(output.get("data", {}).get("text/html", "") for _, output in outputs(executed))
    drawn = [html.unescape(alt) for alt in re.findall(r'<img\b[^>]*? alt="([^"]*)"', page)]
    told = re.findall(r"not drawn while grading:</em> ([^<]*)</p>", page)
    assert page.count("<img") == len(drawn) and page.count("not drawn while grading") == len(told)
    assert len(drawn) + len(told) > 0
    assert [text for text in drawn + told if len(text) <= 20] == []
