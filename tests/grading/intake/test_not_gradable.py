"""What cannot be graded: the reason is said, and what to ask the student for."""

import pytest
from nbformat.v4 import new_code_cell

from course.grading.intake import Verdict

NAME = "02_how_it_works"
FILE = f"{NAME}.ipynb"


def an_empty_file(nb):
    return {FILE: b""}


def only_zeros(nb):
    return {FILE: bytes(4096)}


def no_file(nb):
    return {}


def a_web_page(nb):
    return {FILE: b"\n<!DOCTYPE html>\n<html><body>double</body></html>"}


def cut_off(nb):
    return {FILE: nb.data()[: len(nb.data()) // 2]}


def edited_as_text(nb):
    return {FILE: nb.data().replace(b'"cells": [', b'"cells" [', 1)}


def conflict_markers(nb):
    text = nb.data().decode()
    return {
        FILE: text.replace(' "cells": [', '<<<<<<< HEAD\n "cells": [\n=======\n "cells": [\n>>>>>>> mine', 1).encode()
    }


def a_python_export(nb):
    return {f"{NAME}.py": b"#!/usr/bin/env python\n# In[1]:\n\ndef double(x):\n    return 2 * x\n"}


def plain_text(nb):
    return {FILE: b"here is my homework"}


def a_pdf(nb):
    return {f"{NAME}.pdf": b"%PDF-1.7 ..."}


def a_damaged_zip(nb):
    return {FILE: b"PK\x03\x04" + b"x" * 100}


def json_of_something_else(nb):
    return {FILE: b'{"name": "double"}'}


def a_list(nb):
    return {FILE: b"[1, 2, 3]"}


def nested(nb):
    return {FILE: b"[" * 200_000}


def no_cells(nb):
    return {**nb, "cells": []}


def someone_elses_notebook(nb):
    return {**nb, "cells": [new_code_cell("print('hello')")]}


def another_lesson(nb):
    nb["cells"] = [new_code_cell("def other(x): return x", metadata=nb.cell("double")["metadata"])]
    nb["cells"][0]["metadata"]["nbgrader"]["grade_id"] = "other"
    return nb


def another_lesson_that_shares_an_exercise(nb):
    cells = [new_code_cell(f"def other_{i}(x): return x + {i}") for i in range(9)]
    nb["cells"] = [*cells, new_code_cell("def half(x):\n    return x / 2")]
    return nb


def too_many_cells(nb):
    return {**nb, "cells": nb["cells"] + [new_code_cell("1")] * 5000}


ROWS = [
    (an_empty_file, "The file is empty"),
    (only_zeros, "The file is empty"),
    (no_file, "No file was handed in"),
    (a_web_page, "web page"),
    (cut_off, "breaks off"),
    (edited_as_text, "damaged in line"),
    (conflict_markers, "merge"),
    (a_python_export, "Python script"),
    (plain_text, "not a notebook"),
    (a_pdf, "PDF"),
    (a_damaged_zip, "zip"),
    (json_of_something_else, "no cells"),
    (a_list, "not a notebook"),
    (nested, "nested too deeply"),
    (no_cells, "The notebook is empty"),
    (someone_elses_notebook, "few or none of its exercises"),
    (another_lesson, "is not 02_how_it_works"),
    (another_lesson_that_shares_an_exercise, "few or none of its exercises"),
    (too_many_cells, "more than"),
]


@pytest.mark.parametrize("change, says", ROWS, ids=lambda value: getattr(value, "__name__", ""))
def test_the_reason_and_what_to_ask_for_are_said(judge, change, says):
    intake = judge(change, Verdict.NOT_GRADABLE)
    assert says in intake.reason
    assert intake.ask.startswith("Ask ")
    assert intake.notebook is None
