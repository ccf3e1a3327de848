"""Cells in a fork: what they leave in the notebook, and that each comes to an end."""

import signal

import pytest

from course.grading.warm import channel


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
        ("figure", "NameError"),  # of what the warm process drew, the name is forgotten
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
    if run.ending == "finished":  # the system refused before the watcher looked
        assert run.reply["ename"] == {"memory": "MemoryError", "processes": "BlockingIOError"}[ending]
    else:
        assert run.ending == ending
    assert alive in (None, run.alive)
    assert run.outputs.received < 100 * 64 * 1024


def test_a_forgotten_breakpoint_is_passed_over(start):
    run = start().run("breakpoint(); import pdb; pdb.set_trace(); print('on')", 9, 9999)
    assert run.succeeded and run.outputs.kept[0].text.endswith("on\n")


def test_what_was_printed_stands_before_the_error(start):
    assert kinds(start().run("print('a'); 1 / 0", 9, 9999)) == ["stream", "error"]


def test_a_process_of_the_notebook_says_nothing_in_its_place(start):
    source = """import multiprocessing, subprocess
print('once')
def work():
    print('elsewhere', flush=True)
    raise SystemExit(3)
process = multiprocessing.get_context('fork').Process(target=work)
process.start(); process.join()
print(process.exitcode, subprocess.run(['false']).returncode)"""
    assert start().run(source, 20, 9999).outputs.kept[0].text == "once\n3 1\n"


def test_an_interrupt_that_comes_too_late_means_nothing(start):
    kernel = start()
    kernel.run("kept = 1", 9, 9999)
    kernel.fork.signal(signal.SIGINT)
    assert kernel.run("print(kept)", 9, 9999).outputs.kept[0].text == "1\n"


def test_after_a_new_start_the_end_before_is_forgotten(start):
    kernel = start()
    kernel.stop_for("memory")
    assert kernel.run("1", 9, 9999).ending == "memory"
    assert kernel.restart().run("import os; os._exit(0)", 9, 9999).ending == "died"


def sends(*messages):
    """Code that puts messages of a student's own, or bytes that are none, on the channel."""
    packed = [message if isinstance(message, bytes) else channel.pack(message) for message in messages]
    source = "import os, stat\nfor n in range(3, 20):\n    try:\n        if stat.S_ISSOCK(os.fstat(n).st_mode): "
    return source + f"os.write(n, {b''.join(packed)})\n    except OSError: pass\n"


@pytest.mark.parametrize("junk", [b"\xff" * 100, b"\0\0\0\2[]", b"\0\0\0\1{"])
def test_junk_on_the_channel_ends_the_fork_and_nothing_else(start, junk):
    run = start().run(sends(junk), 3, 9999)
    assert run.ending == "died" and not run.alive


@pytest.mark.parametrize(
    "output",
    [
        {"output": "stream", "content": {}},
        {"output": "stream", "content": {"name": "stdout", "text": 1, "transient": "x"}},
        {"output": "display_data", "content": {"data": 1, "metadata": []}},
        {"output": "update_display_data", "content": {"data": {}, "metadata": {}, "transient": {"display_id": []}}},
        {"output": "error", "content": {"ename": "E", "evalue": "", "traceback": [1]}},
        {"output": 1, "content": {}},
        {"reply": 1},
    ],
)
def test_a_message_that_makes_no_sense_is_passed_over(start, output):
    run = start().run(sends({"request": 1, **output}) + "print('on')", 9, 9999)
    assert run.succeeded and run.outputs.kept[-1].text == "on\n"


def test_an_output_that_cannot_be_written_costs_nothing_else(start):
    deep = "deep = []\nfor _ in range(900): deep = [deep]\ndisplay({'application/json': deep}, raw=True)\n"
    odd = "display({'text/plain': ''}, metadata={(1, 2): 3}, raw=True)\n"
    run = start().run(f"{deep}{odd}print('on')", 9, 9999)
    assert run.succeeded and run.outputs.kept[-1].text.endswith("on\n")


def test_a_forged_reply_ends_its_own_cell_only(start):
    kernel = start()
    forged = sends({"request": 1, "reply": {"status": "ok"}}, {"request": 1, "reply": {"status": "late"}})
    assert kernel.run(forged, 3, 9999).reply == {"status": "ok"}
    assert kernel.run("print('next')", 3, 9999).outputs.kept[0].text == "next\n"
