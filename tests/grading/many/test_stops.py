"""``course grade`` stopped by signals to its whole process group, as a terminal sends them, and by losing a process."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest

from tests.grading.many.conftest import RIGHT, grade, gradebook, graded, hand_in, lesson

INT, TERM = signal.SIGINT, signal.SIGTERM
SLOW = {**RIGHT, "one": 'import time\ntime.sleep(0.3)\none = "A"'}
LONGEST = 120  # seconds for anything on a busy machine


@pytest.fixture(scope="module")
def slow_class(released, tmp_path_factory):
    """A class whose answers take a moment each."""
    root = shutil.copytree(released, tmp_path_factory.mktemp("slow") / "class")
    for number in range(7):
        answers = SLOW | ({"two": 'two = "A"'} if number % 3 else {})
        hand_in(root, f"s{number:02d}", nbformat.writes(lesson(answers)))
    return root


@pytest.fixture(scope="module")
def undisturbed(slow_class, tmp_path_factory):
    """What a run leaves that nothing disturbs: gradebook and graded notebooks."""
    root = shutil.copytree(slow_class, tmp_path_factory.mktemp("undisturbed") / "class")
    here = os.getcwd()
    assert grade(root, "--jobs", "2")[0] == 1
    os.chdir(here)
    return gradebook(root), graded(root)


@pytest.fixture
def root(slow_class, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return shutil.copytree(slow_class, tmp_path / "class")


@pytest.fixture
def start(root):
    """start() -> a running ``course grade`` at the head of a process group; ended after the test."""
    runs = []

    def run():
        command = [sys.executable, "-m", "course", "grade", "--jobs", "2", "--course-dir", str(root)]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        runs.append(subprocess.Popen(command, text=True, start_new_session=True, **pipes))
        return runs[-1]

    yield run
    for process in runs:
        process.kill()
        process.communicate()


def stored(root):
    """How many submissions are stored to the end."""
    records = root.glob("autograded/.intake/*/*/graded.json")
    return sum(not record.with_name("unfinished").exists() for record in records)


def wait_until(condition):
    deadline = time.monotonic() + LONGEST
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def assert_that_none_is_left(processes):
    _, alive = psutil.wait_procs(processes, timeout=LONGEST)
    for process in alive:
        process.kill()  # it would hold the pipes of the run for ever
    assert not alive


@pytest.mark.parametrize(
    "signals", [(INT,), (INT, INT), (TERM,), (INT, TERM)], ids=lambda names: "+".join(n.name for n in names)
)
def test_a_stopped_run_is_continued_by_the_next(signals, root, start, undisturbed):
    run = start()
    wait_until(lambda: stored(root) >= 2)
    family = psutil.Process(run.pid).children(recursive=True)
    assert len(family) >= 4  # two that grade, the warm process and a student's
    for number in signals:
        os.killpg(run.pid, number)
        time.sleep(0.02)
    _, told = run.communicate(timeout=LONGEST)
    assert run.returncode == 2
    assert told.splitlines()[-1].startswith("Error: Stopped; ") and told.count("Error") == 1
    assert "Traceback" not in told and "Exception" not in told
    assert_that_none_is_left(family)
    kept = stored(root)
    assert 2 <= kept < 12
    status, said, _ = grade(root)
    assert status == 1 and f"{kept} unchanged" in said
    assert (gradebook(root), graded(root)) == undisturbed


def test_a_run_that_is_stopped_before_it_has_begun_says_so_too(root, start):
    run = start()
    wait_until(lambda: "torch" in Path(f"/proc/{run.pid}/maps").read_text())
    os.killpg(run.pid, INT)
    said, told = run.communicate(timeout=LONGEST)
    assert (run.returncode, said) == (2, "")
    assert told.strip() == "Error: Stopped; what was graded so far is stored, and the next run continues."


def test_a_process_that_is_killed_is_made_good(root, start, undisturbed):
    run = start()
    wait_until(lambda: stored(root) >= 2)
    workers = [child for child in psutil.Process(run.pid).children() if child.name().startswith("python")]
    workers[0].kill()
    said, told = run.communicate(timeout=LONGEST)
    assert run.returncode == 1 and said.startswith("11 graded, 1 not gradable")
    assert "Traceback" not in told
    assert (gradebook(root), graded(root)) == undisturbed


def test_a_second_run_in_the_same_folder_waits_for_the_first(root, start):
    run = start()
    wait_until(lambda: stored(root) >= 1)
    status, _, told = grade(root)
    assert status == 2 and "Another `course grade` is at work" in told
    family = psutil.Process(run.pid).children(recursive=True)
    run.kill()
    run.wait()
    assert_that_none_is_left(family)
    assert grade(root)[0] == 1
