"""Every way in which a notebook comes back, one row each: what was done to it, the verdict, the points, what is said.

Points count the tests of the small assignment in ``conftest.py``: 7 for a right submission.
"""

import copy
import json
import re
from io import BytesIO
from zipfile import ZipFile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from course.grading.intake import Verdict, settle

NAME = "02_how_it_works"
FILE = f"{NAME}.ipynb"
TESTS = ["test_double", "test_half", "test_Scaler_one", "test_Scaler_many", "test_letter_question"]
FULL = 7


def _json(notebook):
    return json.loads(nbformat.writes(notebook))


def _bytes(content):
    return json.dumps(content, indent=1, ensure_ascii=False).encode()


def _find(content, grade_id):
    """Index of a cell in a notebook or its JSON."""
    return next(
        i for i, cell in enumerate(content["cells"]) if cell["metadata"].get("nbgrader", {}).get("grade_id") == grade_id
    )


def _cell(content, grade_id):
    return content["cells"][_find(content, grade_id)]


CASES = {}


def case(verdict, points, says="", repairs=""):
    """Registers one row: a function from the JSON of a right submission to the files handed in."""

    def register(change):
        CASES[change.__name__] = (change, verdict, points, says, repairs)
        return change

    return register


GRADED, REMARKS, NOT = Verdict.GRADED, Verdict.REMARKS, Verdict.NOT_GRADABLE

# Honest controls: nothing is said


@case(GRADED, FULL)
def untouched_by_anyone(nb):
    return nb


@case(GRADED, FULL)
def outputs_and_counts(nb):
    for number, cell in enumerate(nb["cells"]):
        if cell["cell_type"] == "code":
            cell["execution_count"] = number
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["fine\n"]}]
    return nb


@case(GRADED, FULL)
def own_experiments_and_notes(nb):
    nb["cells"].insert(5, new_code_cell("trial = [double(x) for x in range(3)]\nprint(trial)"))
    nb["cells"].insert(6, new_markdown_cell("I wonder why."))
    return nb


@case(GRADED, FULL)
def helper_in_a_cell_of_its_own(nb):
    _cell(nb, "double")["source"] = "def double(x):\n    return helper(x)"
    nb["cells"].insert(_find(nb, "double"), new_code_cell("def helper(x):\n    return x + x"))
    return nb


@case(GRADED, FULL)
def helper_below_the_answer(nb):
    _cell(nb, "double")["source"] = "def double(x):\n    return helper(x)"
    nb["cells"].insert(_find(nb, "double") + 1, new_code_cell("def helper(x):\n    return x + x"))
    return nb


@case(GRADED, FULL)
def import_added_to_the_given_imports(nb):
    nb["cells"][1]["source"] = "import math\nimport operator"
    _cell(nb, "double")["source"] = "def double(x):\n    return operator.mul(2, x)"
    return nb


@case(GRADED, FULL)
def demonstration_played_with(nb):
    nb["cells"][8]["source"] = "demonstration = [n * n for n in range(40)]\nprint(demonstration)"
    return nb


@case(GRADED, FULL)
def prose_deleted(nb):
    nb["cells"] = [cell for cell in nb["cells"] if cell["cell_type"] == "code" or cell["metadata"]]
    return nb


@case(GRADED, FULL)
def windows_line_ends(nb):
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    return nb


@case(GRADED, 0)
def nothing_answered(nb, released):
    return _json(released)


@case(GRADED, 5)
def one_answer_wrong(nb):
    _cell(nb, "double")["source"] = "def double(x):\n    return 3 * x"
    return nb


@case(GRADED, 5)
def one_answer_emptied(nb):
    _cell(nb, "double")["source"] = ""
    return nb


@case(GRADED, 5)
def syntax_error_in_one_answer(nb):
    _cell(nb, "double")["source"] = "def double(x)\n    return 2 * x"
    return nb


# What programs do to a file: repaired and listed, no remark


@case(GRADED, FULL, repairs="byte-order mark")
def byte_order_mark(nb):
    return {FILE: b"\xef\xbb\xbf" + _bytes(nb)}


@case(GRADED, FULL, repairs="byte-order mark")
def utf_16(nb):
    return {FILE: _bytes(nb).decode().encode("utf-16")}


@case(GRADED, FULL, repairs="encoding")
def latin_1(nb):
    _cell(nb, "double")["source"] = "def double(x):  # verdoppelt für uns\n    return 2 * x"
    return {FILE: _bytes(nb).decode().encode("latin-1")}


@case(GRADED, FULL, repairs="format")
def format_3(nb):
    for cell in nb["cells"]:
        cell.pop("id")
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["language"] = "python"
            cell["prompt_number"] = cell.pop("execution_count")
    return {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": nb["cells"]}]}


@pytest.mark.parametrize("minor", range(5))
def test_each_minor_version_of_format_4_is_read(assignment, solved, points, minor):
    nb = _json(solved)
    nb["nbformat_minor"] = minor
    for cell in nb["cells"]:
        cell.pop("id")
    intake = settle(assignment, {FILE: _bytes(nb)})
    assert intake.verdict is GRADED
    assert points(intake.notebook) == (FULL, TESTS)


@case(GRADED, FULL, repairs="missing ids")
def ids_missing(nb):
    for cell in nb["cells"]:
        cell.pop("id")
    return nb


@case(GRADED, FULL, repairs="equal ids")
def ids_equal(nb):
    for cell in nb["cells"]:
        cell["id"] = "same"
    return nb


@case(GRADED, FULL, repairs="format")
def ids_in_a_format_that_has_none(nb):
    nb["nbformat_minor"] = 2
    return nb


@case(GRADED, FULL, repairs="format")
def version_not_a_number(nb):
    nb["nbformat"], nb["nbformat_minor"] = "four", None
    return nb


@case(GRADED, FULL, repairs="Colab")
def colab(nb):
    nb["nbformat_minor"] = 0
    nb["metadata"] |= {"colab": {"provenance": []}, "accelerator": "GPU"}
    for number, cell in enumerate(nb["cells"]):
        cell["metadata"] |= {"id": cell.pop("id"), "executionInfo": {"user": {"displayName": "Jane"}}, "outputId": "x"}
        cell["metadata"]["colab"] = {"base_uri": f"https://localhost:{number}"}
    return nb


@case(GRADED, FULL, repairs="VS Code")
def vs_code(nb):
    nb["metadata"] = {"language_info": {"name": "python", "version": "3.12.1"}, "vscode": {"interpreter": {}}}
    for number, cell in enumerate(nb["cells"]):
        cell["id"] = f"{number:08x}"
    return nb


@case(GRADED, FULL, repairs="widget state")
def widgets_without_state(nb):
    nb["metadata"]["widgets"] = {"application/vnd.jupyter.widget-state+json": {}}
    return nb


@case(GRADED, FULL, repairs="kernel")
def foreign_kernel(nb):
    nb["metadata"]["kernelspec"] = {"name": "my-env", "display_name": "My env", "language": "julia"}
    return nb


@case(GRADED, FULL, repairs="old output")
def much_old_output(nb):
    nb["cells"][1]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 20_000_000}]
    return nb


@case(GRADED, FULL, repairs="magics")
def magics_in_answers(nb):
    _cell(nb, "double")["source"] = "%%time\n!pip install einops\ndef double(x):\n    return 2 * x\n%timeit double(3)"
    _cell(nb, "half")["source"] = "def half(x):\n    %pip install torch\n    return (x\n    % 1e9) / 2"
    nb["cells"].insert(2, new_code_cell("!sleep 1000\n%matplotlib widget"))
    return nb


# What needs a look: repaired, with a remark


@case(REMARKS, FULL, "renamed")
def renamed_by_the_browser(nb):
    return {"02_how_it_works (1).ipynb": _bytes(nb)}


@case(REMARKS, FULL, "renamed")
def renamed_by_colab(nb):
    return {"Copy of 02_how_it_works.ipynb": _bytes(nb)}


@case(REMARKS, FULL, "renamed")
def renamed_by_the_student(nb):
    return {"02_how_it_works-Jane.ipynb": _bytes(nb)}


@case(REMARKS, FULL, "renamed")
def renamed_beyond_recognition(nb):
    return {"final FINAL.ipynb.txt": _bytes(nb)}


@case(REMARKS, FULL, "several notebooks")
def fresh_download_beside_the_answers(nb, released):
    return {FILE: _bytes(_json(released)), "02_how_it_works (1).ipynb": _bytes(nb)}


@case(REMARKS, FULL, "several notebooks")
def another_lesson_beside_it(nb):
    return {FILE: _bytes(nb), "scratch.ipynb": _bytes({**nb, "cells": []})}


@case(GRADED, FULL)
def checkpoints_beside_it(nb):
    return {FILE: _bytes(nb), f".ipynb_checkpoints/{NAME}-checkpoint.ipynb": b"{", "notes.txt": b"hello"}


@case(REMARKS, FULL, "unreadable file")
def damaged_copy_beside_it(nb):
    return {FILE: _bytes(nb), "02_how_it_works (1).ipynb": _bytes(nb)[:500]}


@case(REMARKS, FULL, "renamed")
def zip_renamed_to_ipynb(nb):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr(f"../../{FILE}", _bytes(nb))
        archive.writestr(f"__MACOSX/._{FILE}", b"\0\5\26\7")
    return {FILE: packed.getvalue()}


@case(REMARKS, FULL, "moved")
def answers_moved(nb):
    nb["cells"].insert(3, nb["cells"].pop(_find(nb, "letter_question")))
    return nb


@case(REMARKS, FULL, "moved")
def upside_down(nb):
    nb["cells"].reverse()
    return nb


@case(REMARKS, FULL, "moved")
def everything_graded_moved_to_the_top(nb):
    tests = [nb["cells"].pop(_find(nb, test)) for test in TESTS]
    nb["cells"] = tests + nb["cells"]
    return nb


@case(REMARKS, FULL, "test missing")
def a_test_deleted(nb):
    nb["cells"].pop(_find(nb, "test_half"))
    return nb


@case(REMARKS, 5, "test missing")
def the_test_of_a_wrong_answer_deleted(nb):
    nb["cells"].pop(_find(nb, "test_double"))
    _cell(nb, "double")["source"] = "def double(x):\n    return 3"
    return nb


@case(REMARKS, FULL, "test missing")
def all_tests_and_tasks_deleted(nb):
    nb["cells"] = [cell for cell in nb["cells"] if not cell["metadata"].get("nbgrader", {}).get("locked")]
    return nb


@case(REMARKS, 5, "test changed")
def a_test_changed(nb):
    _cell(nb, "test_double")["source"] = "assert True"
    _cell(nb, "double")["source"] = "def double(x):\n    return 3"
    return nb


@case(REMARKS, FULL, "test turned")
def a_test_turned_into_markdown(nb):
    cell = _cell(nb, "test_double")
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]
    return nb


@case(REMARKS, FULL, "test copied")
def a_test_copied(nb):
    nb["cells"].append(copy.deepcopy(_cell(nb, "test_double")))
    return nb


@case(REMARKS, FULL, "solution turned")
def an_answer_turned_into_markdown(nb):
    nb["cells"][_find(nb, "double")] = new_markdown_cell(
        "def double(x):\n    return 2 * x", metadata=_cell(nb, "double")["metadata"]
    )
    return nb


@case(REMARKS, FULL, "solution turned")
def an_answer_turned_raw_without_metadata(nb):
    nb["cells"][_find(nb, "double")] = new_raw_cell("def double(x):\n    return 2 * x")
    return nb


@case(REMARKS, FULL, "copies")
def an_answer_copied_the_last_wins(nb):
    first = copy.deepcopy(_cell(nb, "double"))
    first["source"] = "def double(x):\n    return 1"
    nb["cells"].insert(_find(nb, "double"), first)
    return nb


@case(GRADED, FULL)
def the_stub_kept_below_the_answer(nb, released):
    nb["cells"].insert(_find(nb, "double") + 1, _json(released)["cells"][_find(nb, "double")])
    return nb


@case(REMARKS, FULL, "split")
def an_answer_split_with_its_metadata(nb):
    at = _find(nb, "Scaler")
    first, second = copy.deepcopy(nb["cells"][at]), copy.deepcopy(nb["cells"][at])
    first["source"] = "class Scaler:\n    def __init__(self, factor):\n        self.factor = factor"
    second["source"] = "    def forward(self, x):\n        return self.factor * x"
    nb["cells"][at : at + 1] = [first, second]
    return nb


@case(REMARKS, FULL, "split")
def an_answer_split_the_second_part_without_metadata(nb):
    at = _find(nb, "Scaler")
    nb["cells"][at]["source"] = "class Scaler:\n    def __init__(self, factor):\n        self.factor = factor"
    nb["cells"].insert(at + 1, new_code_cell("    def forward(self, x):\n        return self.factor * x"))
    return nb


@case(REMARKS, FULL, "split")
def an_answer_split_the_first_part_without_metadata(nb):
    at = _find(nb, "Scaler")
    nb["cells"][at]["source"] = "    def forward(self, x):\n        return self.factor * x"
    nb["cells"].insert(
        at, new_code_cell("class Scaler:\n    def __init__(self, factor):\n        self.factor = factor")
    )
    return nb


@case(REMARKS, FULL, "split")
def an_answer_split_after_the_docstring(nb):
    at = _find(nb, "double")
    first, second = copy.deepcopy(nb["cells"][at]), copy.deepcopy(nb["cells"][at])
    first["source"], second["source"] = 'def double(x):\n    """Twice x."""', "    return 2 * x"
    nb["cells"][at : at + 1] = [first, second]
    return nb


@case(REMARKS, FULL, "metadata lost")
def metadata_lost_from_one_answer(nb):
    _cell(nb, "double")["metadata"] = {}
    return nb


@case(REMARKS, FULL, "metadata lost")
def metadata_lost_from_all(nb):
    for cell in nb["cells"]:
        cell["metadata"] = {}
    return nb


@case(REMARKS, FULL, "metadata lost")
def only_code_cells_typed_into_a_new_notebook(nb):
    nb["cells"] = [new_code_cell(cell["source"]) for cell in nb["cells"] if cell["cell_type"] == "code"]
    return nb


@case(REMARKS, FULL, "answer elsewhere")
def two_answers_in_one_cell(nb):
    _cell(nb, "double")["source"] = "def double(x):\n    return 2 * x\n\ndef half(x):\n    return x / 2"
    nb["cells"].pop(_find(nb, "half"))
    return nb


@case(REMARKS, FULL, "answer elsewhere")
def two_answers_in_one_cell_and_a_stub(nb, released):
    _cell(nb, "double")["source"] = "def double(x):\n    return 2 * x\n\ndef half(x):\n    return x / 2"
    nb["cells"][_find(nb, "half")] = _json(released)["cells"][_find(nb, "half")]
    return nb


@case(REMARKS, FULL, "metadata lost")
def answers_in_new_cells_the_stubs_left(nb, released):
    blank = _json(released)
    for name in ("double", "half"):
        blank["cells"].append(new_code_cell(_cell(nb, name)["source"]))
    for name in ("Scaler", "letter_question"):
        blank["cells"][_find(blank, name)] = _cell(nb, name)
    return blank


@case(REMARKS, FULL, "moved")
def answers_in_each_others_cells(nb):
    one, other = _cell(nb, "double"), _cell(nb, "half")
    one["source"], other["source"] = other["source"], one["source"]
    return nb


@case(REMARKS, 6, "exercise missing")
def an_older_release_without_an_exercise(nb):
    for grade_id in ("half", "test_half"):
        nb["cells"].pop(_find(nb, grade_id))
    return nb


@case(REMARKS, FULL, "test changed")
def an_older_release_with_other_words(nb):
    nb["cells"][2]["source"] = "Write `double`, one line, 5 minutes, 3 points."
    _cell(nb, "double")["source"] = 'def double(x):\n    """x, twice."""\n    return 2 * x'
    _cell(nb, "test_double")["source"] = "assert double(2) == 4"
    return nb


@case(REMARKS, 5, "test changed")
def an_older_release_with_another_stub(nb):
    _cell(nb, "double")["source"] = 'def double(x):\n    """x, twice."""\n    raise NotImplementedError()'
    _cell(nb, "test_double")["source"] = "assert double(2) == 4"
    return nb


@case(REMARKS, FULL, "broken cells")
def sources_that_are_not_text(nb):
    nb["cells"].insert(3, {"cell_type": "code", "metadata": {}, "source": 7})
    nb["cells"].insert(4, "not a cell")
    nb["cells"].insert(5, {"cell_type": None, "metadata": [], "source": [None, 3]})
    return nb


@case(REMARKS, FULL, "text after the end")
def rubbish_after_the_end(nb):
    return {FILE: _bytes(nb) + b"\n}}}"}


@case(REMARKS, 5, "tag")
def skip_tags(nb):
    _cell(nb, "double")["source"] = "def double(x):\n    return 3"
    for test in TESTS:
        _cell(nb, test)["metadata"]["tags"] = ["skip-execution"]
    return nb


@case(REMARKS, 5, "flags")
def points_and_flags_changed(nb):
    _cell(nb, "double")["source"] = "def double(x):\n    return 3"
    _cell(nb, "test_half")["metadata"]["nbgrader"]["points"] = 100
    _cell(nb, "test_double")["metadata"]["nbgrader"] |= {"solution": True, "locked": False}
    return nb


@case(REMARKS, FULL, "extra graded cell")
def an_extra_graded_cell(nb):
    nb["cells"].append(copy.deepcopy(_cell(nb, "test_double")))
    nb["cells"][-1]["metadata"]["nbgrader"] |= {"grade_id": "test_bonus", "points": 50}
    return nb


# What cannot be graded: the reason, and what to ask for


@case(NOT, None, "The file is empty")
def an_empty_file(nb):
    return {FILE: b""}


@case(NOT, None, "The file is empty")
def only_zeros(nb):
    return {FILE: bytes(4096)}


@case(NOT, None, "No file was handed in")
def no_file(nb):
    return {}


@case(NOT, None, "web page")
def a_web_page(nb):
    return {FILE: b"\n<!DOCTYPE html>\n<html><body>double</body></html>"}


@case(NOT, None, "breaks off")
def cut_off(nb):
    return {FILE: _bytes(nb)[: len(_bytes(nb)) // 2]}


@case(NOT, None, "damaged in line")
def edited_as_text(nb):
    return {FILE: _bytes(nb).replace(b'"cells": [', b'"cells" [', 1)}


@case(NOT, None, "merge")
def conflict_markers(nb):
    text = _bytes(nb).decode()
    return {
        FILE: text.replace(' "cells": [', '<<<<<<< HEAD\n "cells": [\n=======\n "cells": [\n>>>>>>> mine', 1).encode()
    }


@case(NOT, None, "Python script")
def a_python_export(nb):
    return {f"{NAME}.py": b"#!/usr/bin/env python\n# In[1]:\n\ndef double(x):\n    return 2 * x\n"}


@case(NOT, None, "not a notebook")
def plain_text(nb):
    return {FILE: b"here is my homework"}


@case(NOT, None, "PDF")
def a_pdf(nb):
    return {f"{NAME}.pdf": b"%PDF-1.7 ..."}


@case(NOT, None, "zip")
def a_damaged_zip(nb):
    return {FILE: b"PK\x03\x04" + b"x" * 100}


@case(NOT, None, "no cells")
def json_of_something_else(nb):
    return {FILE: b'{"name": "double"}'}


@case(NOT, None, "not a notebook")
def a_list(nb):
    return {FILE: b"[1, 2, 3]"}


@case(NOT, None, "nested too deeply")
def nested(nb):
    return {FILE: b"[" * 200_000}


@case(NOT, None, "The notebook is empty")
def no_cells(nb):
    return {**nb, "cells": []}


@case(NOT, None, "No exercise")
def someone_elses_notebook(nb):
    return {**nb, "cells": [new_code_cell("print('hello')")]}


@case(NOT, None, "is not 02_how_it_works")
def another_lesson(nb):
    for cell in nb["cells"]:
        cell["metadata"].get("nbgrader", {})["grade_id"] = "other_" + cell["metadata"].get("nbgrader", {}).get(
            "grade_id", ""
        )
    return nb


@case(NOT, None, "more than")
def too_many_cells(nb):
    return {**nb, "cells": nb["cells"] + [new_code_cell("1")] * 5000}


@pytest.mark.parametrize("name", CASES)
def test_a_submission_ends_in_its_verdict(name, assignment, released, solved, points):
    change, verdict, expected, says, repairs = CASES[name]
    blank = copy.deepcopy(assignment.graded)
    for slot, cell in zip(assignment.slots, blank.cells, strict=True):
        cell.source = slot.released
    wants_blank = "released" in change.__code__.co_varnames
    files = change(_json(solved), blank) if wants_blank else change(_json(solved))
    if "cells" in files or "worksheets" in files:
        files = {FILE: _bytes(files)}
    intake = settle(assignment, files)
    told = " ".join([f"{r.kind} {r.text}" for r in intake.remarks] + [intake.reason])
    assert intake.verdict is verdict, told
    assert says in told
    assert repairs in [repair.kind for repair in intake.repairs] or not repairs
    if verdict is NOT:
        assert intake.notebook is None and intake.reason and intake.ask
        return
    if verdict is GRADED:
        assert not intake.remarks
    nbformat.validate(intake.notebook)
    assert points(intake.notebook) == (expected, TESTS)
    assert not re.search(r"localhost|vscode|executionInfo|widgets|skip-execution", nbformat.writes(intake.notebook))
