"""Cells and exams in a fork: what they leave in the notebook, and that each comes to an end."""

import json

import pytest

from course.checks import wire
from course.grading.sandbox.exchange import Ended


def kinds(run):
    return [output.output_type for output in run.outputs.kept]


def test_outputs_are_those_of_a_notebook(start):
    run = start().run("print('a'); import sys; print('b', file=sys.stderr); display(1); 2", 9, 9999)
    assert [(o.output_type, o.get("name"), o.get("text")) for o in run.outputs.kept[:2]] == [
        ("stream", "stdout", "a\n"),
        ("stream", "stderr", "b\n"),
    ]
    assert kinds(run)[2:] == ["display_data", "execute_result"]
    assert run.outputs.kept[3].execution_count == run.reply["execution_count"] == 1
    assert run.succeeded


def test_a_plot_is_shown_once(start):
    run = start().run("import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()", 20, 10**6)
    assert kinds(run) == ["display_data"] and "image/png" in run.outputs.kept[0].data


def test_a_plot_left_to_the_end_of_its_cell_is_drawn_for_its_picture_only(start):
    kernel = start()
    source = """import matplotlib.figure, matplotlib.pyplot as plt
class Counted(matplotlib.figure.Figure):
    draws = 0
    def draw(self, renderer):
        self.draws += 1
        super().draw(renderer)
figure = plt.figure(FigureClass=Counted)"""
    assert kinds(kernel.run(source, 20, 10**6)) == ["display_data"]
    again = kernel.run("once = figure.draws; display(figure); print(once, figure.draws - once)", 20, 10**6)
    left, shown = again.outputs.kept[-1].text.split()
    assert left == shown


def test_a_display_is_updated_and_cleared(start):
    source = "h = display(1, display_id=True); h.update(2)\nfrom IPython.display import clear_output\n"
    assert start().run(source, 9, 9999).outputs.kept[0].data["text/plain"] == "2"
    assert start().run(source + "clear_output()", 9, 9999).outputs.kept == []


def test_code_of_a_cell_belongs_to_main(start):
    kernel = start()
    run = kernel.run("import inspect\ndef f(): pass\nprint(inspect.getmodule(f.__code__).__name__)", 20, 9999)
    assert run.outputs.kept[0].text == "__main__\n"


def test_a_picture_of_the_course_is_told_and_not_drawn(start):
    source = "import matplotlib.pyplot as plt\nfrom course import plots\n"
    run = start().run(source + "plots.heatmap([[1.0, 2.0]], 'x', 'y', 'Two numbers')", 20, 10**6)
    [shown] = run.outputs.kept
    assert set(shown.data) == {"text/html", "text/plain"}
    assert "<img" not in shown.data["text/html"] and "not drawn while grading" in shown.data["text/html"]
    assert shown.data["text/plain"].startswith("Two numbers: heatmap of 1 rows")


def test_what_is_too_large_for_a_message_is_cut_or_left_out_in_words(start):
    run = start().run("print('x' * 70_000_000)", 30, 9999)
    assert len(run.outputs.kept[0].text) == 9999 and run.outputs.cut
    run = start().run("display({'text/plain': 'x' * 70_000_000}, raw=True); print('on')", 30, 9999)
    assert "left out" in run.outputs.kept[0].text and run.outputs.kept[0].text.endswith("on\n") and run.succeeded


@pytest.mark.parametrize(
    "source, name",
    [
        ("1 / 0", "ZeroDivisionError"),
        ("def f(:", "SyntaxError"),
        ("exit()", "ExitRefused"),
        ("raise SystemExit(3)", "SystemExit"),
        ("input()", "StdinNotImplementedError"),
        ("raise BaseException('x')", "BaseException"),
    ],
)
def test_an_error_is_shown_and_the_next_cell_runs(start, source, name):
    kernel = start()
    run = kernel.run(source, 9, 9999)
    assert run.ending == "finished" and not run.succeeded
    assert next(o.ename for o in run.outputs.kept if o.output_type == "error") == run.reply["ename"] == name
    assert kernel.run("print(1)", 9, 9999).succeeded


@pytest.mark.parametrize(
    "source, ending, alive",
    [
        ("while True: pass", "time", True),
        ("import time\nwhile True:\n    try: time.sleep(9)\n    except BaseException: pass", "time", False),
        ("import os; os._exit(0)", "died", False),
        ("import ctypes; ctypes.string_at(0)", "died", False),
        ("keep = []\nwhile True: keep.append(bytearray(b'x' * 2**24))", "memory", None),
        ("while True: print('x' * 1000)", "output", None),
        ("import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(60)", "processes", None),
    ],
)
def test_a_disaster_ends_within_its_limits(start, source, ending, alive):
    kernel = start()
    run = kernel.run(source, 2 if ending == "time" else 30, 64 * 1024)  # seconds: a busy machine is slow to fork
    memory_refused = run.ending == "finished" and run.reply["ename"] == "MemoryError"
    assert run.ending == ending or (ending == "memory" and memory_refused)
    assert alive in (None, run.alive)
    assert run.outputs.received < 100 * 64 * 1024


@pytest.mark.parametrize("junk", ["b'\\xff' * 100", "b'\\0\\0\\0\\2[]'", "b'\\0\\0\\0\\1{'"])
def test_junk_on_the_channel_ends_the_fork_and_nothing_else(start, junk):
    source = "import os, stat\nfor n in range(3, 20):\n    try:\n        if stat.S_ISSOCK(os.fstat(n).st_mode): "
    run = start().run(source + f"os.write(n, {junk})\n    except OSError: pass", 3, 9999)
    assert run.ending == "died" and not run.alive


def test_a_forged_reply_ends_its_own_cell_only(start):
    kernel = start()
    forged = json.dumps({"request": 1, "reply": {"status": "ok"}}).encode()
    data = len(forged).to_bytes(4, "big") + forged
    source = "import os, stat, time\nfor n in range(3, 20):\n    try:\n        if stat.S_ISSOCK(os.fstat(n).st_mode): "
    assert kernel.run(source + f"os.write(n, {data})\n    except OSError: pass", 3, 9999).reply == {"status": "ok"}
    assert kernel.run("print('next')", 3, 9999).outputs.kept[0].text == "next\n"


def question(name):
    order = {"name": name, "from_scratch": False, "layer": None, "method": "value", "arguments": [], "keywords": {}}
    return wire.dumps(order)


def test_an_exam_asks_for_the_notebook_s_names(start):
    kernel = start()
    kernel.run("answer = 42", 9, 9999)
    exchange = kernel.exchange(9, 9999)
    assert wire.loads(exchange.ask(question("answer"))) == {"result": {"answer": 42}}
    assert wire.loads(exchange.ask(question("missing"))) == {"result": {}}
    assert exchange.finish().alive


def test_an_answer_that_never_comes_ends_the_fork(start):
    kernel = start()
    kernel.run("import time\nclass Slow(dict):\n    def items(self): time.sleep(60)\nanswer = Slow()", 9, 9999)
    exchange = kernel.exchange(1, 9999)
    with pytest.raises(Ended) as end:
        exchange.ask(question("answer"))
    assert end.value.ending == "time"
    assert not exchange.finish().alive
