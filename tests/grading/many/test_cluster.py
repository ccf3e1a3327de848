"""``course grade --scheduler``: a real scheduler and real workers on loopback, in the place of the pool."""

import shutil
import signal
import subprocess
import time
from pathlib import Path

import nbformat

from course.grading.sandbox.watch import descendants
from tests.grading.many.conftest import LESSON, RIGHT, grade, gradebook, graded, hand_in, lesson
from tests.grading.many.dask_programs import a_worker, command, grade_there, hidden, scheduler, sentence, stored, trap

READER = RIGHT | {"one": 'one = open("letter.txt").read()'}
SLOW = RIGHT | {"one": 'import time\ntime.sleep(1)\none = "A"'}
LONG = RIGHT | {"one": 'import time\ntime.sleep(150)\none = "A"'}


def begun(root, address, answers=SLOW):
    """A run of six submissions of which all but the first take a while, once the first is stored."""
    shutil.rmtree(root / "submitted")
    for number in range(6):
        hand_in(root, f"student{number}", nbformat.writes(lesson(answers if number else RIGHT)))
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    run = subprocess.Popen(command(root, address), **pipes)
    while run.poll() is None and not stored(root):
        time.sleep(0.05)
    return run


def without_ids(notebooks):
    """Graded notebooks without the random names of cells that were made while grading."""
    for content, _ in notebooks.values():
        for cell in content.cells if not isinstance(content, str) else ():
            cell.pop("id")
    return notebooks


def test_workers_that_see_no_course_folder_leave_what_the_pool_leaves(root, address, tmp_path):
    hand_in(root, "fay", nbformat.writes(lesson(READER)))
    (root / "submitted" / "fay" / LESSON / "letter.txt").write_text("A")
    there = shutil.copytree(root, tmp_path / "there" / "class")
    status, said, _ = grade(root)
    one = a_worker(address, tmp_path / "one", "--nthreads", "2", before=hidden(there.parent))
    two = a_worker(address, tmp_path / "two", "--nthreads", "1", before=hidden(there.parent))
    with one as (process, _), two:
        assert not list(Path(f"/proc/{process.pid}/root/{there.parent}").iterdir())
        their_status, they_said, told = grade_there(there, address)
        assert [pid for pid, _ in descendants(process.pid)] == [process.pid]  # nothing stays behind
    assert (their_status, sorted(they_said.splitlines())) == (status, sorted(said.splitlines())), told
    assert gradebook(there) == gradebook(root)
    assert gradebook(root)["fay"]["grades"]["test_one"][0] == 2
    assert without_ids(graded(there)) == without_ids(graded(root))


def test_a_worker_lost_halfway_is_made_good(root, address, tmp_path):
    one, two = (a_worker(address, tmp_path / name, "--nthreads", "1") for name in ("one", "two"))
    with one as (process, _), two:
        run = begun(root, address)
        process.kill()
        said, told = run.communicate()
    assert run.returncode == 0 and said.startswith("6 graded"), told
    assert {student["submission"][0] for student in gradebook(root).values()} == {4}


def test_ctrl_c_ends_what_is_out_and_the_next_run_continues(root, address, tmp_path):
    with a_worker(address, tmp_path / "one", "--nthreads", "2") as (process, _):
        run = begun(root, address)
        run.send_signal(signal.SIGINT)
        _, told = run.communicate()
        assert run.returncode == 2 and "the next run continues" in sentence(told)
        assert [pid for pid, _ in descendants(process.pid)] == [process.pid]
    done = stored(root)
    assert 0 < done < 6
    assert grade(root)[1].startswith(f"{6 - done} graded, {done} unchanged")


def test_a_killed_run_leaves_nothing_at_work_and_its_worker_to_the_next_run(root, address, tmp_path):
    with open(root / "nbgrader_config.py", "a") as config:
        config.write("\nc.Execute.timeout = 900\n")
    with a_worker(address, tmp_path / "one", "--nthreads", "1") as (process, _):
        run = begun(root, address, LONG)
        at_work = [pid for pid, _ in descendants(process.pid) if pid != process.pid]
        run.kill()
        run.communicate()
        for student in {path.name for path in (root / "submitted").iterdir()}:
            hand_in(root, student, nbformat.writes(lesson(RIGHT)))
        status, said, told = grade_there(root, address)
        # It was killed after it had stored the first, or while it did.
        assert status == 0 and said.startswith(("5 graded, 1 unchanged", "6 graded")), told
        assert len(at_work) > 2
        deadline = time.monotonic() + 60  # a sandbox ends shortly after the process that made it
        while any(Path(f"/proc/{pid}").exists() for pid in at_work) and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not [pid for pid in at_work if Path(f"/proc/{pid}").exists()]
        assert [pid for pid, _ in descendants(process.pid)] == [process.pid]


def test_a_scheduler_that_goes_away_is_told_and_what_was_stored_stands(root, tmp_path):
    with scheduler(tmp_path / "scheduler") as (leader, address), a_worker(address, tmp_path / "one", "--nthreads", "2"):
        run = begun(root, address)
        leader.kill()
        _, told = run.communicate()
    assert run.returncode == 2
    assert sentence(told).startswith(f"The Dask scheduler at {address} has gone; what was graded so far is stored")
    done = stored(root)
    assert 0 < done < 6
    assert grade(root)[1].startswith(f"{6 - done} graded, {done} unchanged")


# Says at the end how many submissions were out at most.
COUNTING = """
from course.__main__ import main
from course.grading.many.cluster import Cluster
most, submit = 0, Cluster.submit
def counted(self, *arguments):
    global most
    submit(self, *arguments)
    most = max(most, len(self.running))
Cluster.submit = counted
try:
    main()
finally:
    print(most)
"""


def test_a_submission_whose_grader_ends_each_time_fails_and_few_are_out_at_a_time(root, address, tmp_path):
    trap = sabotage(tmp_path, "course.grading.many.station", "course.grading.many.grader", "Grader", "grade")
    with a_worker(address, tmp_path / "one", "--nthreads", "1", environment=trap):
        status, said, told = grade_there(root, address, code=COUNTING)
    assert status == 1 and said.startswith("3 graded, 1 not gradable, 1 failed"), told
    assert "bob, 01_lesson: the process that graded it ended 3 times" in said
    assert "bob" not in gradebook(root)
    assert said.splitlines()[-1] == "2"


def test_a_submission_that_ends_workers_fails_and_costs_nobody_else_a_grade(root, tmp_path):
    trap = sabotage(tmp_path, "spawn_main", "course.grading.many.worker", "Station", "grade")
    few = {"DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0"}
    options = ("--nthreads", "2", "--nanny")
    with (
        scheduler(tmp_path / "scheduler", **few) as (_, address),
        a_worker(address, tmp_path / "one", *options, environment=trap),
    ):
        status, said, told = grade_there(root, address)
    assert status == 1 and said.startswith("3 graded, 1 not gradable, 1 failed"), told
    assert "bob, 01_lesson: the worker that graded it ended, again and again" in said


def sabotage(folder, program, module, owner, method):
    """The environment of a worker in which one method, in processes of ``program``, does not survive bob's file."""
    return trap(
        folder,
        program,
        f"""
        import os, signal
        from {module} import {owner} as owner
        original = owner.{method}
        def method(self, submission):
            if "bob" in repr(submission)[:10_000]:
                os.kill(os.getpid(), signal.SIGKILL)
            return original(self, submission)
        owner.{method} = method
        """,
    )


def test_a_gradebook_on_postgresql_is_written_here_and_out_of_reach_there(
    root, address, onto_postgres, postgres, once, tmp_path
):
    onto_postgres(root)
    with a_worker(address, tmp_path / "one", "--nthreads", "2", before=hidden(postgres.folder)):
        status, said, told = grade_there(root, address)
    assert status == once[1][0] and sorted(said.splitlines()) == sorted(once[1][1].splitlines()), told
    assert gradebook(root) == gradebook(once[0])
    assert without_ids(graded(root)) == without_ids(graded(once[0]))
