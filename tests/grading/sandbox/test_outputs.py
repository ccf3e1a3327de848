"""What a kernel sends becomes outputs that a notebook can hold."""

import json

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from course.grading.sandbox.outputs import LONGEST_ERROR, MOST, Outputs


def message(kind, **content):
    return {"header": {"msg_type": kind}, "content": content, "metadata": {}, "buffers": []}


def collect(*messages, limit=1000, size=10):
    outputs = Outputs(limit)
    for item in messages:
        outputs.add(item, size)
    notebook = new_notebook(cells=[new_code_cell("", outputs=outputs.kept)])
    nbformat.validate(notebook)
    json.dumps(notebook, ensure_ascii=False).encode("utf-8")
    return outputs


def show(text, display_id=None, kind="display_data"):
    transient = {"display_id": display_id} if display_id else {}
    return message(kind, data={"text/plain": text}, metadata={}, transient=transient)


def test_streams_of_one_name_are_joined():
    outputs = collect(*(message("stream", name=n, text=n[-1]) for n in ("stdout", "stdout", "stderr", "stdout")))
    assert [(output.name, output.text) for output in outputs.kept] == [
        ("stdout", "tt"),
        ("stderr", "r"),
        ("stdout", "t"),
    ]


def test_a_display_is_updated_in_its_place():
    outputs = collect(show("old", "a"), show("other"), show("new", "a", kind="update_display_data"))
    assert [output.data["text/plain"] for output in outputs.kept] == ["new", "other"]


def test_clearing_can_wait_for_the_next_output():
    assert collect(show("a"), message("clear_output", wait=False)).kept == []
    waiting = collect(show("a"), message("clear_output", wait=True))
    assert len(waiting.kept) == 1
    waiting.add(show("b"), 1)
    assert [output.data["text/plain"] for output in waiting.kept] == ["b"]


def test_a_display_that_was_cleared_is_updated_nowhere():
    cleared = message("clear_output", wait=False)
    outputs = collect(show("old", "a"), cleared, show("other"), show("new", "a", kind="update_display_data"))
    assert [output.data["text/plain"] for output in outputs.kept] == ["other"]


def test_what_passes_the_limit_is_counted_and_left_out():
    outputs = collect(*[show("x")] * 5, limit=25)
    assert (len(outputs.kept), outputs.received, outputs.cut) == (2, 50, True)


def test_the_beginning_of_a_long_text_is_kept():
    outputs = collect(message("stream", name="stdout", text="x" * 90), limit=30, size=100)
    assert outputs.kept[0].text == "x" * 30


def test_an_error_is_kept_after_the_limit():
    outputs = collect(show("x"), message("error", ename="E", evalue="v", traceback=["t"]), limit=5)
    assert [output.output_type for output in outputs.kept] == ["error"]


def test_the_number_of_outputs_is_limited():
    assert len(collect(*[show("x")] * (MOST + 5), limit=10**6).kept) == MOST


@pytest.mark.parametrize(
    "forged",
    [
        message("stream", name="stdout", text=3),
        message("stream", name="stdout", text="\ud800"),
        message("stream", name="other", text={"a": 1}),
        message("display_data", data=[], metadata={}),
        message("display_data", data={"text/plain": "\udfff"}, metadata={}),
        message("execute_result", data={}, metadata={}, execution_count="one"),
        message("error", ename=1, evalue=2, traceback=3),
    ],
)
def test_an_output_that_no_notebook_can_hold_is_left_out(forged):
    assert collect(forged).kept == []


def failure(text, size=10):
    return message("error", ename="ValueError", evalue=text, traceback=[f"ValueError: {text}"]), size


def test_a_long_error_is_shortened_and_is_no_flood():
    outputs = Outputs(1000)
    outputs.add(*failure("x" * 10**6, size=2 * 10**6))
    [kept] = outputs.kept
    assert kept.evalue.startswith("xxx") and len(json.dumps(kept)) < 3 * LONGEST_ERROR
    assert not outputs.cut


def test_of_many_errors_the_first_are_kept_within_the_limit():
    outputs = Outputs(1000)
    for _ in range(50):
        outputs.add(*failure("x", size=100))
    assert len(outputs.kept) <= 11 and outputs.cut


def test_streams_in_turn_are_limited_in_number_too():
    assert (
        len(collect(*(message("stream", name=n, text="x") for n in ["stdout", "stderr"] * MOST), limit=10**6).kept)
        == MOST
    )


def test_what_goes_on_with_the_last_of_many_outputs_is_kept():
    printed = [message("stream", name="stdout", text="x")] * 3
    outputs = collect(*[show("x")] * (MOST - 1), *printed, limit=10**6)
    assert (len(outputs.kept), outputs.kept[-1].text) == (MOST, "xxx")
