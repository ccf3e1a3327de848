"""Answers that were moved, copied, split, retyped or come from another release: found, and said."""

import copy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_raw_cell

from course.grading.intake import Verdict

NAME = "02_how_it_works"
FILE = f"{NAME}.ipynb"
FULL = 7  # points of the small assignment's tests


def fresh_download_beside_the_answers(nb):
    return {FILE: nb.blank().data(), "02_how_it_works (1).ipynb": nb.data()}


def answers_moved(nb):
    nb["cells"].insert(3, nb["cells"].pop(nb.at("letter_question")))
    return nb


def upside_down(nb):
    nb["cells"].reverse()
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


def an_answer_turned_into_fenced_markdown(nb):
    text = "```python\ndef double(x):\n    return 2 * x\n```"
    nb["cells"][nb.at("double")] = new_markdown_cell(text, metadata=nb.cell("double")["metadata"])
    return nb


def an_answer_in_two_cells_the_second_builds_on_the_first(nb):
    for name, more in (
        ("double", "double = (lambda old: lambda x: old(x))(double)"),
        ("Scaler", "class Scaler(Scaler):\n    def forward(self, x):\n        return self.factor * x"),
    ):
        nb["cells"].insert(nb.at(name) + 1, {**copy.deepcopy(nb.cell(name)), "id": f"more-{name}", "source": more})
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
    (fresh_download_beside_the_answers, FULL, "several notebooks"),
    (answers_moved, FULL, "moved"),
    (upside_down, FULL, "moved"),
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
    (answers_in_new_cells_the_stubs_left, FULL, "answer elsewhere"),
    (answers_in_each_others_cells, FULL, "moved"),
    (an_older_release_without_an_exercise, 6, "exercise missing"),
    (an_older_release_with_other_words, FULL, "test changed"),
    (an_older_release_with_another_stub, 5, "test changed"),
    (an_answer_turned_into_fenced_markdown, FULL, "solution turned"),
    (an_answer_split_and_copied, FULL, "copies"),
    (an_answer_in_two_cells_the_second_builds_on_the_first, FULL, "split"),
    (a_comment_in_the_cell_and_the_answer_at_the_end, FULL, "answer elsewhere"),
    (answers_of_another_release_with_other_ids, FULL, "metadata lost"),
    (the_written_answer_in_the_task, FULL, "test changed"),
    (the_answer_cell_deleted_and_a_new_one_made, FULL, "test missing"),
]


@pytest.mark.parametrize("change, points, says", ROWS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_answer_is_found_and_it_is_said_how(judge, change, points, says):
    intake = judge(change, Verdict.REMARKS, points)
    assert says in [remark.kind for remark in intake.remarks]
    assert all(remark.text.endswith(".") for remark in intake.remarks)


@pytest.mark.parametrize("change", [the_written_answer_in_the_task, the_answer_cell_deleted_and_a_new_one_made])
def test_a_written_answer_is_never_lost(judge, change):
    notebook = judge(change, Verdict.REMARKS, FULL).notebook
    assert any(cell.source.startswith("The factor changed") for cell in notebook.cells)
