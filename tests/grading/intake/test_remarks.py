"""What an instructor may want to see: graded all the same, with a remark for each."""

import copy
from io import BytesIO
from zipfile import ZipFile

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

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


def fresh_download_beside_the_answers(nb):
    return {FILE: nb.blank().data(), "02_how_it_works (1).ipynb": nb.data()}


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


def answers_moved(nb):
    nb["cells"].insert(3, nb["cells"].pop(nb.at("letter_question")))
    return nb


def upside_down(nb):
    nb["cells"].reverse()
    return nb


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


def an_answer_turned_into_markdown(nb):
    nb["cells"][nb.at("double")] = new_markdown_cell(
        "def double(x):\n    return 2 * x", metadata=nb.cell("double")["metadata"]
    )
    return nb


def an_answer_turned_raw_without_metadata(nb):
    nb["cells"][nb.at("double")] = new_raw_cell("def double(x):\n    return 2 * x")
    return nb


def an_answer_copied_the_last_wins(nb):
    first = copy.deepcopy(nb.cell("double"))
    first["source"] = "def double(x):\n    return 1"
    nb["cells"].insert(nb.at("double"), first)
    return nb


def an_answer_split_with_its_metadata(nb):
    at = nb.at("Scaler")
    first, second = copy.deepcopy(nb["cells"][at]), copy.deepcopy(nb["cells"][at])
    first["source"] = "class Scaler:\n    def __init__(self, factor):\n        self.factor = factor"
    second["source"] = "    def forward(self, x):\n        return self.factor * x"
    nb["cells"][at : at + 1] = [first, second]
    return nb


def an_answer_split_the_second_part_without_metadata(nb):
    at = nb.at("Scaler")
    nb["cells"][at]["source"] = "class Scaler:\n    def __init__(self, factor):\n        self.factor = factor"
    nb["cells"].insert(at + 1, new_code_cell("    def forward(self, x):\n        return self.factor * x"))
    return nb


def an_answer_split_the_first_part_without_metadata(nb):
    at = nb.at("Scaler")
    nb["cells"][at]["source"] = "    def forward(self, x):\n        return self.factor * x"
    nb["cells"].insert(
        at, new_code_cell("class Scaler:\n    def __init__(self, factor):\n        self.factor = factor")
    )
    return nb


def an_answer_split_after_the_docstring(nb):
    at = nb.at("double")
    first, second = copy.deepcopy(nb["cells"][at]), copy.deepcopy(nb["cells"][at])
    first["source"], second["source"] = 'def double(x):\n    """Twice x."""', "    return 2 * x"
    nb["cells"][at : at + 1] = [first, second]
    return nb


def metadata_lost_from_one_answer(nb):
    nb.cell("double")["metadata"] = {}
    return nb


def metadata_lost_from_all(nb):
    for cell in nb["cells"]:
        cell["metadata"] = {}
    return nb


def only_code_cells_typed_into_a_new_notebook(nb):
    nb["cells"] = [new_code_cell(cell["source"]) for cell in nb["cells"] if cell["cell_type"] == "code"]
    return nb


def two_answers_in_one_cell(nb):
    nb.cell("double")["source"] = "def double(x):\n    return 2 * x\n\ndef half(x):\n    return x / 2"
    nb["cells"].pop(nb.at("half"))
    return nb


def two_answers_in_one_cell_and_a_stub(nb):
    nb.cell("double")["source"] = "def double(x):\n    return 2 * x\n\ndef half(x):\n    return x / 2"
    nb["cells"][nb.at("half")] = nb.blank()["cells"][nb.at("half")]
    return nb


def answers_in_new_cells_the_stubs_left(nb):
    blank = nb.blank()
    for name in ("double", "half"):
        blank["cells"].append(new_code_cell(nb.cell(name)["source"]))
    for name in ("Scaler", "letter_question"):
        blank["cells"][blank.at(name)] = nb.cell(name)
    return blank


def answers_in_each_others_cells(nb):
    one, other = nb.cell("double"), nb.cell("half")
    one["source"], other["source"] = other["source"], one["source"]
    return nb


def an_older_release_without_an_exercise(nb):
    for grade_id in ("half", "test_half"):
        nb["cells"].pop(nb.at(grade_id))
    return nb


def an_older_release_with_other_words(nb):
    nb["cells"][2]["source"] = "Write `double`, one line, 5 minutes, 3 points."
    nb.cell("double")["source"] = 'def double(x):\n    """x, twice."""\n    return 2 * x'
    nb.cell("test_double")["source"] = "assert double(2) == 4"
    return nb


def an_older_release_with_another_stub(nb):
    nb.cell("double")["source"] = 'def double(x):\n    """x, twice."""\n    raise NotImplementedError()'
    nb.cell("test_double")["source"] = "assert double(2) == 4"
    return nb


def sources_that_are_not_text(nb):
    nb["cells"].insert(3, {"cell_type": "code", "metadata": {}, "source": 7})
    nb["cells"].insert(4, "not a cell")
    nb["cells"].insert(5, {"cell_type": None, "metadata": [], "source": [None, 3]})
    return nb


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


def an_answer_turned_into_fenced_markdown(nb):
    text = "```python\ndef double(x):\n    return 2 * x\n```"
    nb["cells"][nb.at("double")] = new_markdown_cell(text, metadata=nb.cell("double")["metadata"])
    return nb


def an_answer_split_and_copied(nb):
    """A first attempt with a helper in a cell of its own, then a second attempt that calls the helper."""
    at = nb.at("double")
    cells = [copy.deepcopy(nb["cells"][at]) for _ in range(3)]
    cells[0]["source"] = "def double(x):\n    return x"
    cells[1]["source"] = "def helper(x):\n    return x + x"
    cells[2]["source"] = "def double(x):\n    return helper(x)"
    nb["cells"][at : at + 1] = cells
    return nb


def a_comment_in_the_cell_and_the_answer_at_the_end(nb):
    nb["cells"].append(new_code_cell(nb.cell("double")["source"]))
    nb.cell("double")["source"] = "# see the end"
    return nb


def a_blank_release_beside_a_worked_copy_of_another_lesson(nb):
    other = nb.blank()
    other["cells"] = [new_code_cell("def double(x): return 2 * x", metadata=nb.cell("double")["metadata"])]
    other["cells"] += [
        new_code_cell("1", metadata={"nbgrader": {"grade_id": name, "solution": True}}) for name in ("a", "b", "c")
    ]
    return {FILE: nb.blank().data(), "03_practice.ipynb": other.data()}


def answers_of_another_release_with_other_ids(nb):
    for cell in nb["cells"]:
        if "nbgrader" in cell["metadata"]:
            cell["metadata"]["nbgrader"]["grade_id"] += "_v1"
    return nb


def the_written_answer_in_the_task(nb):
    cell = nb.cell("interpretation")
    cell["source"] = "The factor changed, I wrote it here."
    return nb


def the_answer_cell_deleted_and_a_new_one_made(nb):
    nb["cells"] = [cell for cell in nb["cells"] if "course" not in cell["metadata"]]
    nb["cells"].insert(nb.at("interpretation") + 1, new_markdown_cell("The factor changed."))
    nb["cells"].pop(nb.at("test_half"))
    return nb


ROWS = [
    (renamed_by_the_browser, FULL, "renamed"),
    (renamed_by_colab, FULL, "renamed"),
    (renamed_by_the_student, FULL, "renamed"),
    (renamed_beyond_recognition, FULL, "renamed"),
    (fresh_download_beside_the_answers, FULL, "several notebooks"),
    (another_lesson_beside_it, FULL, "file left out"),
    (damaged_copy_beside_it, FULL, "file left out"),
    (zip_renamed_to_ipynb, FULL, "renamed"),
    (answers_moved, FULL, "moved"),
    (upside_down, FULL, "moved"),
    (everything_graded_moved_to_the_top, FULL, "moved"),
    (a_test_deleted, FULL, "test missing"),
    (the_test_of_a_wrong_answer_deleted, 5, "test missing"),
    (all_tests_and_tasks_deleted, FULL, "test missing"),
    (a_test_changed, 5, "test changed"),
    (a_test_turned_into_markdown, FULL, "test turned"),
    (a_test_copied, FULL, "test copied"),
    (an_answer_turned_into_markdown, FULL, "solution turned"),
    (an_answer_turned_raw_without_metadata, FULL, "solution turned"),
    (an_answer_copied_the_last_wins, FULL, "copies"),
    (an_answer_split_with_its_metadata, FULL, "split"),
    (an_answer_split_the_second_part_without_metadata, FULL, "split"),
    (an_answer_split_the_first_part_without_metadata, FULL, "split"),
    (an_answer_split_after_the_docstring, FULL, "split"),
    (metadata_lost_from_one_answer, FULL, "metadata lost"),
    (metadata_lost_from_all, FULL, "metadata lost"),
    (only_code_cells_typed_into_a_new_notebook, FULL, "metadata lost"),
    (two_answers_in_one_cell, FULL, "answer elsewhere"),
    (two_answers_in_one_cell_and_a_stub, FULL, "answer elsewhere"),
    (answers_in_new_cells_the_stubs_left, FULL, "metadata lost"),
    (answers_in_each_others_cells, FULL, "moved"),
    (an_older_release_without_an_exercise, 6, "exercise missing"),
    (an_older_release_with_other_words, FULL, "test changed"),
    (an_older_release_with_another_stub, 5, "test changed"),
    (sources_that_are_not_text, FULL, "broken cells"),
    (an_answer_turned_into_fenced_markdown, FULL, "solution turned"),
    (an_answer_split_and_copied, FULL, "copies"),
    (a_comment_in_the_cell_and_the_answer_at_the_end, FULL, "metadata lost"),
    (a_blank_release_beside_a_worked_copy_of_another_lesson, 0, "file left out"),
    (rubbish_after_the_end, FULL, "text after the end"),
    (skip_tags, 5, "tag"),
    (points_and_flags_changed, 5, "flags"),
    (an_extra_graded_cell, FULL, "extra graded cell"),
    (answers_of_another_release_with_other_ids, FULL, "metadata lost"),
    (the_written_answer_in_the_task, FULL, "test changed"),
    (the_answer_cell_deleted_and_a_new_one_made, FULL, "test missing"),
]


@pytest.mark.parametrize("change, points, says", ROWS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_was_repaired_is_said(judge, change, points, says):
    intake = judge(change, Verdict.REMARKS, points)
    assert says in [remark.kind for remark in intake.remarks]
    assert all(remark.text.endswith(".") for remark in intake.remarks)


@pytest.mark.parametrize("change", [the_written_answer_in_the_task, the_answer_cell_deleted_and_a_new_one_made])
def test_a_written_answer_is_never_lost(judge, change):
    notebook = judge(change, Verdict.REMARKS, FULL).notebook
    assert any(cell.source.startswith("The factor changed") for cell in notebook.cells)


def test_a_remark_names_the_cell(judge):
    [remark] = judge(a_test_deleted, Verdict.REMARKS, FULL).remarks
    assert remark.cell == "test_half"
