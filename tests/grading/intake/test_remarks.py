"""What an instructor may want to see: graded all the same, with a remark for each."""

import copy
from io import BytesIO
from zipfile import ZipFile

import pytest
from nbformat.v4 import new_code_cell

from course.grading.intake import Verdict

NAME = "02_how_it_works"
FILE = f"{NAME}.ipynb"
FULL = 7  # points of the small assignment's tests


def renamed_by_the_browser(nb):
    return {"02_how_it_works (1).ipynb": nb.data()}


def renamed_by_colab(nb):
    return {"Copy of 02_how_it_works.ipynb": nb.data()}


def renamed_by_the_student(nb):
    return {"02_how_it_works-Jane.ipynb": nb.data()}


def renamed_beyond_recognition(nb):
    return {"final FINAL.ipynb.txt": nb.data()}


def another_lesson_beside_it(nb):
    return {FILE: nb.data(), "scratch.ipynb": b'{"cells": []}'}


def damaged_copy_beside_it(nb):
    return {FILE: nb.data(), "02_how_it_works (1).ipynb": nb.data()[:500]}


def zip_renamed_to_ipynb(nb):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr(f"../../{FILE}", nb.data())
        archive.writestr(f"__MACOSX/._{FILE}", b"\0\5\26\7")
    return {FILE: packed.getvalue()}


def everything_graded_moved_to_the_top(nb):
    nb["cells"].sort(key=lambda cell: not cell["metadata"].get("nbgrader", {}).get("grade"))
    return nb


def a_test_deleted(nb):
    nb["cells"].pop(nb.at("test_half"))
    return nb


def the_test_of_a_wrong_answer_deleted(nb):
    nb["cells"].pop(nb.at("test_double"))
    nb.cell("double")["source"] = "def double(x):\n    return 3"
    return nb


def all_tests_and_tasks_deleted(nb):
    nb["cells"] = [cell for cell in nb["cells"] if not cell["metadata"].get("nbgrader", {}).get("locked")]
    return nb


def a_test_changed(nb):
    nb.cell("test_double")["source"] = "assert True"
    nb.cell("double")["source"] = "def double(x):\n    return 3"
    return nb


def a_test_turned_into_markdown(nb):
    cell = nb.cell("test_double")
    cell["cell_type"] = "markdown"
    del cell["outputs"], cell["execution_count"]
    return nb


def a_test_copied(nb):
    nb["cells"].append(copy.deepcopy(nb.cell("test_double")))
    return nb


def sources_that_are_not_text(nb):
    nb["cells"].insert(3, {"cell_type": "code", "metadata": {}, "source": 7})
    nb["cells"].insert(4, "not a cell")
    nb["cells"].insert(5, {"cell_type": None, "metadata": [], "source": [None, 3]})
    return nb


def a_blank_release_beside_a_worked_copy_of_another_lesson(nb):
    other = nb.blank()
    other["cells"] = [new_code_cell("def double(x): return 2 * x", metadata=nb.cell("double")["metadata"])]
    other["cells"] += [
        new_code_cell("1", metadata={"nbgrader": {"grade_id": name, "solution": True}}) for name in ("a", "b", "c")
    ]
    return {FILE: nb.blank().data(), "03_practice.ipynb": other.data()}


def rubbish_after_the_end(nb):
    return {FILE: nb.data() + b"\n}}}"}


def skip_tags(nb):
    nb.cell("double")["source"] = "def double(x):\n    return 3"
    for cell in nb["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]
    return nb


def points_and_flags_changed(nb):
    nb.cell("double")["source"] = "def double(x):\n    return 3"
    nb.cell("test_half")["metadata"]["nbgrader"]["points"] = 100
    nb.cell("test_double")["metadata"]["nbgrader"] |= {"solution": True, "locked": False}
    return nb


def an_extra_graded_cell(nb):
    nb["cells"].append(copy.deepcopy(nb.cell("test_double")))
    nb["cells"][-1]["metadata"]["nbgrader"] |= {"grade_id": "test_bonus", "points": 50}
    return nb


ROWS = [
    (renamed_by_the_browser, FULL, "renamed"),
    (renamed_by_colab, FULL, "renamed"),
    (renamed_by_the_student, FULL, "renamed"),
    (renamed_beyond_recognition, FULL, "renamed"),
    (another_lesson_beside_it, FULL, "file left out"),
    (damaged_copy_beside_it, FULL, "file left out"),
    (zip_renamed_to_ipynb, FULL, "renamed"),
    (everything_graded_moved_to_the_top, FULL, "moved"),
    (a_test_deleted, FULL, "test missing"),
    (the_test_of_a_wrong_answer_deleted, 5, "test missing"),
    (all_tests_and_tasks_deleted, FULL, "test missing"),
    (a_test_changed, 5, "test changed"),
    (a_test_turned_into_markdown, FULL, "test turned"),
    (a_test_copied, FULL, "test copied"),
    (sources_that_are_not_text, FULL, "broken cells"),
    (a_blank_release_beside_a_worked_copy_of_another_lesson, 0, "file left out"),
    (rubbish_after_the_end, FULL, "text after the end"),
    (skip_tags, 5, "tag"),
    (points_and_flags_changed, 5, "flags"),
    (an_extra_graded_cell, FULL, "extra graded cell"),
]


@pytest.mark.parametrize("change, points, says", ROWS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_was_repaired_is_said(judge, change, points, says):
    intake = judge(change, Verdict.REMARKS, points)
    assert says in [remark.kind for remark in intake.remarks]
    assert all(remark.text.endswith(".") for remark in intake.remarks)


def test_a_remark_names_the_cell(judge):
    [remark] = judge(a_test_deleted, Verdict.REMARKS, FULL).remarks
    assert remark.cell == "test_half"
    assert remark.told == f"test_half: {remark.text}"
