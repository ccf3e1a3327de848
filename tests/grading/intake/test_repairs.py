"""What editors, browsers and platforms do to a file: repaired and listed, never held against the student."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from course.grading.intake import Verdict

NAME = "02_how_it_works"
FILE = f"{NAME}.ipynb"
FULL = 7  # points of the small assignment's tests


def byte_order_mark(nb):
    return {FILE: b"\xef\xbb\xbf" + nb.data()}


def utf_16(nb):
    return {FILE: nb.data().decode().encode("utf-16")}


def latin_1(nb):
    nb.cell("double")["source"] = "def double(x):  # verdoppelt für uns\n    return 2 * x"
    return {FILE: nb.data().decode().encode("latin-1")}


def format_3(nb):
    for cell in nb["cells"]:
        cell.pop("id")
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["language"] = "python"
            cell["prompt_number"] = cell.pop("execution_count")
    return {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": nb["cells"]}]}


def ids_missing(nb):
    for cell in nb["cells"]:
        cell.pop("id")
    return nb


def ids_equal(nb):
    for cell in nb["cells"]:
        cell["id"] = "same"
    return nb


def ids_in_a_format_that_has_none(nb):
    nb["nbformat_minor"] = 2
    return nb


def version_not_a_number(nb):
    nb["nbformat"], nb["nbformat_minor"] = "four", None
    return nb


def colab(nb):
    nb["nbformat_minor"] = 0
    nb["metadata"] |= {"colab": {"provenance": []}, "accelerator": "GPU"}
    for number, cell in enumerate(nb["cells"]):
        cell["metadata"] |= {"id": cell.pop("id"), "executionInfo": {"user": {"displayName": "Jane"}}, "outputId": "x"}
        cell["metadata"]["colab"] = {"base_uri": f"https://localhost:{number}"}
    return nb


def vs_code(nb):
    nb["metadata"] = {"language_info": {"name": "python", "version": "3.12.1"}, "vscode": {"interpreter": {}}}
    for number, cell in enumerate(nb["cells"]):
        cell["id"] = f"{number:08x}"
    return nb


def widgets_without_state(nb):
    nb["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {}}
    return nb


def foreign_kernel(nb):
    nb["metadata"]["kernelspec"] = {"name": "my-env", "display_name": "My env", "language": "julia"}
    return nb


def much_old_output(nb):
    nb["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 20_000_000}]
    return nb


def magics_in_answers(nb):
    nb.cell("double")["source"] = "%%time\n!pip install einops\ndef double(x):\n    return 2 * x\n%timeit double(3)"
    nb.cell("half")["source"] = "def half(x):\n    %pip install torch\n    return (x\n    % 1e9) / 2"
    nb["cells"].insert(2, new_code_cell("!sleep 1000\n%matplotlib widget"))
    return nb


ROWS = [
    (byte_order_mark, FULL, "byte-order mark"),
    (utf_16, FULL, "byte-order mark"),
    (latin_1, FULL, "encoding"),
    (format_3, FULL, "format"),
    (ids_missing, FULL, "missing ids"),
    (ids_equal, FULL, "equal ids"),
    (ids_in_a_format_that_has_none, FULL, "format"),
    (version_not_a_number, FULL, "format"),
    (colab, FULL, "Colab"),
    (vs_code, FULL, "VS Code"),
    (widgets_without_state, FULL, "widget state"),
    (foreign_kernel, FULL, "kernel"),
    (much_old_output, FULL, "old output"),
    (magics_in_answers, FULL, "magics"),
]


@pytest.mark.parametrize("change, points, repair", ROWS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_programs_do_is_repaired_and_listed_without_a_remark(judge, change, points, repair):
    intake = judge(change, Verdict.GRADED, points)
    assert intake.remarks == ()
    assert repair in [found.kind for found in intake.repairs]


@pytest.mark.parametrize("minor", range(5))
def test_every_minor_version_of_format_4_is_read(judge, minor):
    def saved_by_an_older_program(nb):
        nb["nbformat_minor"] = minor
        for cell in nb["cells"]:
            cell.pop("id")
        return nb

    judge(saved_by_an_older_program, Verdict.GRADED, FULL)


def test_nothing_of_the_submissions_metadata_is_left(judge):
    for change in (colab, vs_code, widgets_without_state, foreign_kernel):
        text = nbformat.writes(judge(change, Verdict.GRADED, FULL).notebook)
        assert not [
            word for word in ("executionInfo", "vscode", "widgets", "my-env", "Jane", "localhost") if word in text
        ]
