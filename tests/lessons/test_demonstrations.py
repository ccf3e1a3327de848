"""What a lesson does with an answer once it is written works with every right answer, not with the solution alone."""

import contextlib
import io
import re
import warnings

import pytest

from tests.judging.bank import read_bank
from tests.judging.lesson import lesson_names, read_lesson
from tests.judging.verdict import everything_put_back


def code_cells(lesson):
    """Source of every code cell that is not graded, in order, and the grade id of those that hold a solution."""
    for cell in lesson.notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and not meta.get("grade"):
            yield cell.source, meta.get("grade_id")


def run_quietly(source, name, namespace):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        exec(compile(source, f"<{name}>", "exec"), namespace)


def trouble(lesson):
    """Run the lesson once, solved, and each cell that calls an answer with all right ones: a sentence per failure."""
    namespace, written, found = {"__name__": "__main__"}, [], []
    for source, grade_id in code_cells(lesson):
        called = [name for name in written if re.search(rf"\b{name}\b", source)] if grade_id is None else []
        for answer in (a for name in called for a in read_bank(lesson.name, name) if a.is_right):
            before = dict(namespace)
            try:
                with everything_put_back():
                    run_quietly(answer.code, answer.name, namespace)
                    run_quietly(source, "cell", namespace)
            except Exception as error:
                found.append(f"{answer}: {type(error).__name__}: {error} in\n{source}")
            namespace.clear()
            namespace.update(before)  # the same dict: what the cells define looks names up in it
        with everything_put_back():
            run_quietly(source, grade_id or "cell", namespace)
        written += [grade_id] * (grade_id is not None)
    return found


@pytest.mark.parametrize("lesson_name", lesson_names())
def test_cells_that_call_an_answer_take_every_right_one(lesson_name, monkeypatch, tmp_path):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    monkeypatch.chdir(tmp_path)
    assert trouble(read_lesson(lesson_name)) == []
