"""What a student learns before handing in: lost and doubled tests, blanks, failing checks; or that all is ready."""

import os
import sys
import time
import types

import nbclient
import nbformat
import pytest
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course import commands, handin


def solution(text, name="double"):
    return new_code_cell(
        text, metadata={"nbgrader": {"grade_id": name, "solution": True, "grade": False, "task": False}}
    )


def test_cell(text="assert double(2) == 4", name="test_double"):
    meta = {"grade_id": name, "solution": False, "grade": True, "task": False}
    return new_code_cell(text, metadata={"nbgrader": meta})


test_cell.__test__ = False
RIGHT = solution("def double(x):\n    return 2 * x")
LAST = new_code_cell('from course import handin\n\nhandin.check(globals(), lesson="x", graded="test_double")')


def lesson(*cells):
    notebook = new_notebook(cells=[*cells, LAST])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.from_dict(notebook)


def test_ready_notebook_has_no_findings():
    findings = handin.examine(lesson(RIGHT, test_cell()))
    assert findings == handin.Findings([], [])
    assert handin.describe(findings).startswith("Ready")


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([RIGHT], "The test cell test_double is missing"),
        ([RIGHT, test_cell(), test_cell()], "The test cell test_double stands 2 times"),
        ([solution(f"def double(x):\n    {handin.STUB}"), test_cell()], "double has no answer yet"),
        (
            [
                RIGHT,
                test_cell(),
                new_markdown_cell("*Write your answer here.*", metadata={"course": {"answer_to": "why"}}),
            ],
            "The answer to why is not written yet",
        ),
    ],
)
def test_what_is_missing_is_named(cells, sentence):
    assert any(sentence in found for found in handin.missing(lesson(*cells)))


def test_lost_last_cell_is_named():
    notebook = lesson(RIGHT, test_cell())
    notebook.cells.pop()
    assert any("last cell of the lesson is gone" in found for found in handin.missing(notebook))


def test_failing_cells_are_named_with_their_message():
    check = "from course.checks import CheckFailed\nraise CheckFailed('a shape.', 'Transpose it.', 'double: shape ✗')"
    found = handin.failing(lesson(RIGHT, test_cell(check)))
    assert len(found) == 1
    assert "test_double fails." in found[0]
    assert "Hint: Transpose it." in found[0]


def test_a_blank_is_named_once_and_not_again_by_each_cell_that_uses_it():
    blank = solution(f"def double(x, y=0):\n    {handin.STUB}")
    exam = "Exam('double', averages.average_by_hand(weights=[1.0], values=[[1.0]], expected=[1.0])).run()"
    check = test_cell(f"from course.checks import Exam, averages\n{exam}")
    uses, fails = new_code_cell("double(2)"), new_code_cell("raise NotImplementedError('of my own')")
    written = "from course.checks import CheckFailed\nraise CheckFailed('half raises NotImplementedError.')"
    found = handin.examine(lesson(blank, check, uses, fails, test_cell(written, "test_half")))
    assert found.missing == ["double has no answer yet."]
    assert len(found.failing) == 2 and "of my own" in found.failing[0] and "half raises" in found.failing[1]
    assert handin.CHECKING not in os.environ
    own = solution("def double(x):\n    raise NotImplementedError")
    assert len(handin.failing(lesson(own, uses))) == 1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("while True:\n    pass", "cell 3 takes more than 3 s; look for a loop that does not end."),
        ("import os\nos._exit(1)", "cell 3 ends the kernel; look for exit(), or for a tensor that no memory holds."),
    ],
)
def test_a_cell_that_does_not_come_back_is_named_with_what_failed_above_it(source, sentence, monkeypatch):
    monkeypatch.setattr(handin, "CELL_SECONDS", 3)
    cells = new_markdown_cell("# A title"), new_code_cell("1 / 0"), new_code_cell(source), new_code_cell("2 / 0")
    above, itself = handin.failing(lesson(*cells))
    assert above.startswith("cell 2 fails.") and "ZeroDivisionError" in above
    assert itself == f"{sentence} The cells below it were not run."


def test_a_question_without_an_answer_is_told_as_an_exercise_without_one():
    open_question = "from course.checks import Question\nQuestion('order_question', letters='ABCD').run()"
    cells = new_code_cell('order_question = ""'), new_code_cell(open_question)
    assert handin.failing(lesson(*cells)) == ["order_question has no answer yet."]


def test_command_ends_with_status(tmp_path):
    ready, blank, damaged = tmp_path / "ready.ipynb", tmp_path / "blank.ipynb", tmp_path / "damaged.ipynb"
    nbformat.write(lesson(RIGHT, test_cell()), ready)
    nbformat.write(lesson(solution("def double(x):\n    return x"), test_cell()), blank)
    damaged.write_text('{"cells": [')
    results = {path.stem: CliRunner().invoke(commands.course, ["check", str(path)]) for path in (ready, blank, damaged)}
    assert {name: result.exit_code for name, result in results.items()} == {"ready": 0, "blank": 1, "damaged": 1}
    assert "test_double fails" in results["blank"].output
    assert "not a notebook" in results["damaged"].output


def test_while_grading_the_last_cell_does_nothing(monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    handin.check({}, "x", "test_double")
    assert capsys.readouterr().out == ""


def test_notebook_finds_its_own_file(tmp_path, monkeypatch):
    path = tmp_path / "x.ipynb"
    nbformat.write(lesson(RIGHT, test_cell()), path)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    saved = nbformat.read(path, as_version=4)
    assert handin.this_notebook({}) is None
    assert handin.this_notebook({"__vsc_ipynb_file__": str(path)}) == saved
    assert handin.this_notebook({"__session__": str(path)}) == saved
    monkeypatch.setenv("JPY_SESSION_NAME", str(path))
    assert handin.this_notebook({}) == saved


def test_it_says_how_long_ago_the_notebook_was_saved(tmp_path, monkeypatch, capsys):
    path = tmp_path / "x.ipynb"
    nbformat.write(lesson(RIGHT, test_cell()), path)
    monkeypatch.setattr(handin, "failing", lambda notebook: [])
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    handin.check({"__session__": str(path)}, "x", "test_double")
    assert capsys.readouterr().out.startswith("Looking at the notebook as saved a moment ago.\n")
    before = time.time() - 180
    os.utime(path, (before, before))
    handin.check({"__session__": str(path)}, "x", "test_double")
    assert "saved 3 minutes ago: if you have changed it since, save it, and run this" in capsys.readouterr().out


def test_on_colab_the_notebook_is_asked_for_as_it_is(monkeypatch, capsys):
    shown = lesson(solution(f"def double(x):\n    {handin.STUB}"), test_cell())
    message = types.SimpleNamespace(blocking_request=lambda name, **_: {"ipynb": {"get_ipynb": shown}[name]})
    monkeypatch.setitem(sys.modules, "google", types.ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", types.SimpleNamespace(_message=message))
    monkeypatch.setattr(handin, "failing", lambda notebook: [])
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    handin.check({}, "x", "test_double")
    out = capsys.readouterr().out
    assert "double has no answer yet." in out
    assert "To hand in: File > Download > Download .ipynb, and keep the name x.ipynb." in out


def test_a_run_that_cannot_begin_is_not_taken_for_one_without_failures(monkeypatch):
    async def without_a_kernel(client, **_):
        raise RuntimeError("no kernel")

    monkeypatch.setattr(nbclient.NotebookClient, "async_execute", without_a_kernel)
    with pytest.raises(RuntimeError, match="no kernel"):
        handin.failing(lesson(RIGHT))
    assert handin.CHECKING not in os.environ


def test_a_byte_order_mark_is_passed_over():
    assert handin.read("\ufeff" + nbformat.writes(lesson(RIGHT))).cells[0].source == RIGHT.source


def test_without_a_file_it_says_what_to_do(monkeypatch, capsys):
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    handin.check({}, "02_how_it_works", "test_double")
    out = capsys.readouterr().out
    assert "python -m course check 02_how_it_works.ipynb" in out
    assert "keep the name 02_how_it_works.ipynb" in out
