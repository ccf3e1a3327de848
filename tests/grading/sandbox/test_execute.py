"""One exercise's disaster stays its own: what each earns, what is said, and that the others are graded."""

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from course.grading.sandbox.execute import SandboxedExecute
from tests.grading.conftest import nbgrader_mark

RIGHT = "def middle(): return first() + 1"
KILLER = "import os; os._exit(0)"

# name: (solution, points of 2 that the exercise earns, cell that carries the message, words of the message)
DISASTERS = {
    "exit": (f"{RIGHT}\nexit()", 2, "middle", "middle was ended by exit()"),
    "exit when called": ("def middle(): quit()", 0, "test_middle", "test_middle was ended by exit() or quit()"),
    "sys.exit": ("def middle(): raise SystemExit", 0, "test_middle", ""),
    "os._exit": (f"{RIGHT}\nimport os; os._exit(0)", 0, "middle", "middle ended the Python process"),
    "os._exit when called": ("import os\ndef middle(): os._exit(0)", 0, "test_middle", "test_middle ended the Python"),
    "crash": ("import ctypes\ndef middle(): ctypes.string_at(0)", 0, "test_middle", "test_middle ended the Python"),
    "endless loop": (f"{RIGHT}\nwhile True: pass", 2, "middle", "middle was stopped at its time limit of 2 s"),
    "endless loop when called": (
        "def middle():\n    while True: pass",
        0,
        "test_middle",
        "test_middle was stopped at its time",
    ),
    "stubborn loop": (
        "def middle():\n    while True:\n        try: middle()\n        except BaseException: pass",
        0,
        "test_middle",
        "test_middle was stopped at its time limit of 2 s",
    ),
    "one long C call": ("def middle(): return sum(range(10**13))", 0, "test_middle", "time limit of 2 s"),
    "out of memory": ("def middle(): return bytearray(400 * 2**20)", 0, "test_middle", "memory limit of 320 MiB"),
    "fork bomb": ("import os\ndef middle():\n    while True: os.fork()", 0, "test_middle", "limit of 48 processes"),
    "flood": ("def middle():\n    while True: print('x' * 1000)", 0, "test_middle", "printed far more than 64 KiB"),
    "long output": (
        "def middle():\n    print('x' * 10**5)\n    return 2",
        2,
        "test_middle",
        "cut here, at its limit of 64 KiB",
    ),
    "input": (f"{RIGHT}\ninput('name?')", 2, "middle", "middle waits for the keyboard"),
    "input when called": ("def middle(): return int(input())", 0, "test_middle", "test_middle waits for the keyboard"),
    "breakpoint": ("def middle():\n    breakpoint()\n    return 2", 2, "test_middle", "debugger is passed over"),
    "pdb": (
        "import pdb\ndef middle():\n    pdb.set_trace()\n    return 2",
        2,
        "test_middle",
        "debugger is passed over",
    ),
}


def name_of(disaster):
    return "on_" + "".join(letter if letter.isalnum() else "_" for letter in disaster)


@pytest.fixture(scope="module")
def wrecked(grade):
    """One notebook with every disaster, a right exercise before and one after all of them."""
    exercises = {"first": ("def first(): return 1", "assert first() == 1")}
    for disaster, (source, *_) in DISASTERS.items():
        name = name_of(disaster)
        exercises[name] = (source.replace("middle", name), f"assert {name}() == 2")
    exercises["last"] = ("def last(): return first() + 2", "assert last() == 3")
    return grade(exercises)


@pytest.mark.parametrize("disaster", DISASTERS)
def test_a_disaster_costs_its_own_exercise_only(wrecked, disaster):
    _, points, cell, words = DISASTERS[disaster]
    name = name_of(disaster)
    assert wrecked.points(name) == points
    assert words.replace("middle", name) in wrecked.text(cell.replace("middle", name))


def test_exercises_before_and_after_all_disasters_are_graded(wrecked):
    assert (wrecked.points("first"), wrecked.points("last")) == (2, 2)


def test_a_wrecked_notebook_is_a_sound_notebook(wrecked):
    nbformat.validate(wrecked.notebook)
    json.dumps(wrecked.notebook, ensure_ascii=False).encode("utf-8")


def test_the_notebook_lists_what_was_stopped(wrecked):
    stopped = {event["cell"]: event["ending"] for event in wrecked.notebook.metadata.course_grading.stopped}
    assert stopped[name_of("os._exit")] == "died"
    assert stopped["test_" + name_of("stubborn loop")] == "time"
    assert stopped["test_" + name_of("fork bomb")] == "processes"
    assert "test_first" not in stopped and "test_last" not in stopped


def test_a_cell_that_kills_only_when_repeated_is_left_out(grade, tmp_path):
    marker = str(tmp_path / "ran")  # only without a sandbox can a cell know that it runs again
    twice = (
        f"import os\ndef twice(): return 2\nif os.path.exists({marker!r}): os._exit(0)\nopen({marker!r}, 'w').close()"
    )
    graded = grade(
        {
            "first": ("def first(): return 1", "assert first() == 1"),
            "twice": (twice, "assert twice() == 2"),
            "killer": ("import os; os._exit(0)", "killer()"),
            "last": ("def last(): return first()", "assert last() == 1"),
        },
        unconfined=True,
    )
    assert [graded.points(name) for name in ("first", "twice", "killer", "last")] == [2, 2, 0, 2]
    assert [event["cell"] for event in graded.notebook.metadata.course_grading.stopped] == ["killer", "twice"]


def test_what_a_stopped_cell_defined_survives_a_later_death(grade):
    graded = grade(
        {
            "looper": ("def looper(): return 1\nwhile True: pass", "assert looper() == 1"),
            "killer": ("import os; os._exit(0)", "killer()"),
            "last": ("def last(): return looper()", "assert last() == 1"),
        }
    )
    assert [graded.points(name) for name in ("looper", "killer", "last")] == [2, 0, 2]


def test_an_answer_that_is_graded_by_hand_survives_a_later_death(sandbox, config):
    by_hand = nbgrader_mark("written", grade=True, solution=True, points=5)
    cells = [new_code_cell("written = 1", metadata=by_hand), new_code_cell(KILLER), new_code_cell("print(written)")]
    SandboxedExecute(config=config).preprocess(new_notebook(cells=cells), {})
    assert cells[-1].outputs[0].get("text") == "1\n"


class Recording(SandboxedExecute):
    """Remembers which text it had run, and for how long."""

    def make_kernel(self):
        kernel, self.asked = super().make_kernel(), []
        run = kernel.run

        def recorded(source, time_limit, output_limit):
            self.asked.append((source, time_limit))
            return run(source, time_limit, output_limit)

        kernel.run = recorded
        return kernel


def test_a_cell_that_ran_too_long_is_not_given_all_that_time_again(sandbox, config):
    executor, loop = Recording(config=config), "while True: pass"
    executor.preprocess(new_notebook(cells=[new_code_cell(loop), new_code_cell(KILLER)]), {})
    first, again = (limit for source, limit in executor.asked if source == loop)
    assert again < first


class OverAfterTwoCells(Recording):
    def is_over(self):
        return len(self.history) > 1


def test_nothing_is_repeated_once_the_time_of_the_submission_is_used_up(sandbox, config):
    executor = OverAfterTwoCells(config=config)
    executor.preprocess(new_notebook(cells=[new_code_cell(source) for source in ("1", KILLER, "2")]), {})
    assert [source for source, _ in executor.asked] == ["1", KILLER]


def test_an_error_that_the_reply_alone_tells_costs_the_points(grade):
    graded = grade({"hushed": ("get_ipython()._showtraceback = lambda *a: None", "assert hushed() == 1")})
    assert graded.points("hushed") == 0
    assert "hushed" in graded.text("test_hushed")


class WaitsForDeath(SandboxedExecute):
    """Comes to the last exercise only when the kernel has died."""

    def run_cell(self, cell, name):
        while name == "last" and self.kernel.is_alive():
            time.sleep(0.05)
        super().run_cell(cell, name)


def test_death_between_two_cells_is_laid_to_the_last_cell_of_the_student(grade):
    graded = grade(
        {
            "late": ("import threading, os\nthreading.Timer(0.5, os._exit, [0]).start()", "assert True"),
            "last": ("def last(): return 1", "assert last() == 1"),
        },
        execute=WaitsForDeath,
    )
    assert "late ended the Python process" in graded.text("late")
    assert graded.points("last") == 2


def test_tags_keep_no_cell_from_running(sandbox, config):
    cell = new_code_cell("1 / 0", metadata={"tags": ["skip-execution", "raises-exception"]})
    SandboxedExecute(config=config).preprocess(new_notebook(cells=[cell]), {})
    assert cell.outputs[0].ename == "ZeroDivisionError"


def test_markdown_and_empty_cells_stay_as_they_are(sandbox, config):
    cells = [new_markdown_cell("# Title"), new_code_cell("  "), new_code_cell("1")]
    notebook, _ = SandboxedExecute(config=config).preprocess(new_notebook(cells=cells), {})
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, None, 1]
    assert notebook.metadata.language_info.name == "python"


def test_grading_works_inside_a_running_event_loop(grade):
    """Formgrader calls from within its web server's."""

    async def serve():
        return grade({"first": ("def first(): return 1", "assert first() == 1")})

    with ThreadPoolExecutor() as thread:  # where browsers are tested, a loop runs in this one already
        assert thread.submit(asyncio.run, serve()).result().points("first") == 2


def test_a_foreign_kernelspec_changes_nothing(sandbox, config):
    notebook = new_notebook(cells=[new_code_cell("1 + 1")])
    notebook.metadata.kernelspec = {"name": "julia-1.9", "display_name": "Julia", "language": "julia"}
    SandboxedExecute(config=config).preprocess(notebook, {})
    assert notebook.cells[0].outputs[0].data["text/plain"] == "2"


def test_a_confined_notebook_says_so(grade):
    graded = grade({"first": ("def first(): return 1", "assert first() == 1")})
    assert graded.notebook.metadata.course_grading == {"confined": True, "stopped": []}
    assert len(graded.notebook.cells) == 2


def test_an_unconfined_notebook_says_so_at_its_top(grade):
    graded = grade({"first": ("def first(): return 1", "assert first() == 1")}, unconfined=True)
    assert graded.points("first") == 2
    assert graded.notebook.metadata.course_grading.confined is False
    assert "without a sandbox" in graded.notebook.cells[0].source


def test_disasters_stay_apart_without_a_sandbox_too(grade):
    exercises = {
        "first": ("def first(): return 1", "assert first() == 1"),
        "leaver": ("def leaver(): return 1\nexit()", "assert leaver() == 1"),
        "looper": ("def looper():\n    while True: pass", "looper()"),
        "last": ("def last(): return first()", "assert last() == 1"),
    }
    graded = grade(exercises, unconfined=True)
    assert [graded.points(name) for name in ("first", "looper", "last")] == [2, 0, 2]
    assert "exit()" in graded.text("leaver")


@pytest.mark.parametrize(("limit", "over"), [(None, False), (0, True), (100, False)])
def test_a_submission_is_over_when_its_time_is_used_up(limit, over):
    executor = SandboxedExecute(submission_timeout=limit)
    executor.started = time.monotonic() - 1
    assert executor.is_over() is over


class OverAfterOneCell(SandboxedExecute):
    def is_over(self):
        return len(self.history) > 0


def test_no_cell_is_started_once_the_time_of_the_submission_is_used_up(sandbox, config):
    cells = [new_code_cell(source) for source in ("print(0)", "print(1)", "print(2)")]
    notebook, _ = OverAfterOneCell(config=config).preprocess(new_notebook(cells=cells), {})
    assert notebook.cells[0].outputs[0].text == "0\n"
    for cell in notebook.cells[1:]:
        assert "was not run: the cells before it used up the 900 s" in cell.outputs[0].evalue
    assert notebook.metadata.course_grading.stopped == [{"cell": "cell 2", "ending": "total"}]


def test_the_cells_of_a_notebook_leave_a_limited_amount_together(sandbox, config):
    cells = [new_code_cell("print('x' * 60_000)") for _ in range(20)]
    cells.append(new_code_cell("print('y')\n1 / 0"))
    notebook, _ = SandboxedExecute(config=config).preprocess(new_notebook(cells=cells), {})
    assert len(nbformat.writes(notebook)) < 10 * 64 * 1024
    assert notebook.cells[0].outputs[0].text.startswith("xxx")
    error, note = notebook.cells[-1].outputs
    assert error.ename == "ZeroDivisionError" and "cell 21 is left out" in note.text
