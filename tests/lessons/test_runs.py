"""Every lesson, solved, runs from top to bottom as a grader runs it: no error, nothing on stderr."""

import os

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


def test_outputs_stay_small_and_pictures_have_a_text(executed):
    for _, output in outputs(executed):
        assert len(str(output)) < OUTPUT_LIMIT
        if "image/png" in output.get("data", {}):
            assert len(output.data.get("text/plain", "")) > 20, "a picture without a description"
