"""Honest submissions, as they come: every one is graded and nothing is said about it."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from course.grading.intake import Verdict

NAME = "02_how_it_works"
FILE = f"{NAME}.ipynb"
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
FULL = 7  # points of the small assignment's tests


def untouched_by_anyone(nb):
    return nb


def outputs_and_counts(nb):
    for number, cell in enumerate(nb["cells"]):
        if cell["cell_type"] == "code":
            cell["execution_count"] = number
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": ["fine\n"]}]
    return nb


def own_experiments_and_notes(nb):
    nb["cells"].insert(5, new_code_cell("trial = [double(x) for x in range(3)]\nprint(trial)"))
    nb["cells"].insert(6, new_markdown_cell("I wonder why."))
    return nb


def helper_in_a_cell_of_its_own(nb):
    nb.cell("double")["source"] = "def double(x):\n    return helper(x)"
    nb["cells"].insert(nb.at("double"), new_code_cell("def helper(x):\n    return x + x"))
    return nb


def helper_below_the_answer(nb):
    nb.cell("double")["source"] = "def double(x):\n    return helper(x)"
    nb["cells"].insert(nb.at("double") + 1, new_code_cell("def helper(x):\n    return x + x"))
    return nb


def import_added_to_the_given_imports(nb):
    nb["cells"][1]["source"] = "import math\nimport operator"
    nb.cell("double")["source"] = "def double(x):\n    return operator.mul(2, x)"
    return nb


def demonstration_played_with(nb):
    nb["cells"][8]["source"] = "demonstration = [n * n for n in range(40)]\nprint(demonstration)"
    return nb


def prose_deleted(nb):
    nb["cells"] = [cell for cell in nb["cells"] if cell["cell_type"] == "code" or cell["metadata"]]
    return nb


def windows_line_ends(nb):
    for cell in nb["cells"]:
        cell["source"] = "".join(cell["source"]).replace("\n", "\r\n")
    return nb


def answers_defined_in_other_ways(nb):
    nb.cell("double")["source"] = "from operator import index\n\ntry:\n    double = lambda x: x + x\nfinally:\n    pass"
    nb.cell("half")["source"] = "if index(1):\n    def half(x):\n        return x / 2"
    nb.cell("letter_question")["source"] = "letter_question: str = 'B'"
    return nb


def nothing_answered(nb):
    return nb.blank()


def one_answer_wrong(nb):
    nb.cell("double")["source"] = "def double(x):\n    return 3 * x"
    return nb


def one_answer_emptied(nb):
    nb.cell("double")["source"] = ""
    return nb


def syntax_error_in_one_answer(nb):
    nb.cell("double")["source"] = "def double(x)\n    return 2 * x"
    return nb


def checkpoints_beside_it(nb):
    return {FILE: nb.data(), f".ipynb_checkpoints/{NAME}-checkpoint.ipynb": b"{", "notes.txt": b"hello"}


def the_stub_kept_below_the_answer(nb):
    nb["cells"].insert(nb.at("double") + 1, {**nb.blank().cell("double"), "id": "copy"})
    return nb


def a_written_answer_over_several_cells(nb):
    at = next(i for i, cell in enumerate(nb["cells"]) if "course" in cell["metadata"])
    nb["cells"].insert(at + 1, new_code_cell("shown = Scaler(2).forward(1)\nprint(shown)"))
    nb["cells"].insert(at + 2, new_markdown_cell("So the factor matters."))
    return nb


def a_written_answer_with_a_picture(nb):
    cell = next(cell for cell in nb["cells"] if "course" in cell["metadata"])
    cell["source"] = "![figure](attachment:figure.png)"
    cell["attachments"] = {"figure.png": {"image/png": PICTURE}}
    return nb


ROWS = [
    (untouched_by_anyone, FULL),
    (outputs_and_counts, FULL),
    (own_experiments_and_notes, FULL),
    (helper_in_a_cell_of_its_own, FULL),
    (helper_below_the_answer, FULL),
    (import_added_to_the_given_imports, FULL),
    (demonstration_played_with, FULL),
    (prose_deleted, FULL),
    (windows_line_ends, FULL),
    (checkpoints_beside_it, FULL),
    (the_stub_kept_below_the_answer, FULL),
    (a_written_answer_over_several_cells, FULL),
    (a_written_answer_with_a_picture, FULL),
    (answers_defined_in_other_ways, FULL),
    (nothing_answered, 0),
    (one_answer_wrong, 5),
    (one_answer_emptied, 5),
    (syntax_error_in_one_answer, 5),
]


@pytest.mark.parametrize("change, points", ROWS, ids=lambda value: getattr(value, "__name__", ""))
def test_an_honest_submission_is_graded_and_nothing_is_said(judge, change, points):
    intake = judge(change, Verdict.GRADED, points)
    assert (intake.remarks, intake.repairs) == ((), ())


def test_what_a_student_wrote_reaches_the_reader(judge):
    cells = judge(a_written_answer_over_several_cells, Verdict.GRADED, FULL).notebook.cells
    task = next(i for i, cell in enumerate(cells) if cell.metadata.get("nbgrader", {}).get("task"))
    assert [cell.source for cell in cells[task + 1 : task + 4]] == [
        "The factor changed, because I set it.",
        "shown = Scaler(2).forward(1)\nprint(shown)",
        "So the factor matters.",
    ]


def test_a_pasted_picture_stays_and_anything_that_can_run_goes(judge):
    def with_a_script(nb):
        a_written_answer_with_a_picture(nb)
        cell = next(cell for cell in nb["cells"] if "course" in cell["metadata"])
        cell["attachments"] |= {"a.svg": {"image/svg+xml": PICTURE}, "b.png": {"image/png": "<script>"}}
        return nb

    notebook = judge(with_a_script, Verdict.GRADED, FULL).notebook
    [cell] = [cell for cell in notebook.cells if cell.get("attachments")]
    assert cell.attachments == {"figure.png": {"image/png": PICTURE}}


def test_a_helper_stays_between_the_cells_where_it_stood(judge):
    texts = [cell.source for cell in judge(helper_below_the_answer, Verdict.GRADED, FULL).notebook.cells]
    answer, helper, test = (
        next(i for i, text in enumerate(texts) if text.startswith(start))
        for start in ("def double", "def helper", "assert double")
    )
    assert answer < helper < test
