"""``course grade --scheduler``: a real scheduler and real workers on loopback, in the place of the pool."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import nbformat
import pytest

from course.grading.coursefolder import open_course
from course.grading.many import parcel, worker
from course.grading.many.grader import Graded, Result
from course.grading.many.submissions import Submission
from course.grading.sandbox.watch import descendants
from tests.grading.many.conftest import LESSON, RIGHT, ROOT, grade, gradebook, graded, hand_in, lesson

READER = RIGHT | {"one": 'one = open("letter.txt").read()'}
SLOW = RIGHT | {"one": 'import time\ntime.sleep(1)\none = "A"'}
LONG = RIGHT | {"one": 'import time\ntime.sleep(150)\none = "A"'}
DEATH = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"


@contextlib.contextmanager
def started(log, program, *options, before=(), environment=None, ready):
    """A Dask program, from the line in its log that says ``ready`` to the end of the block: (process, its address)."""
    command = [*before, sys.executable, "-m", "dask", program, *options, "--host", "127.0.0.1", "--no-dashboard"]
    log.parent.mkdir(exist_ok=True)
    with log.open("w") as stream:
        process = subprocess.Popen(
            command, cwd=log.parent, env=os.environ | (environment or {}), stdout=stream, stderr=stream
        )
    try:
        while ready not in log.read_text():
            assert process.poll() is None, log.read_text()
            time.sleep(0.1)
        yield process, re.search(r"(?:Scheduler|worker) at:\s+((?:tcp|tls)://\S+)", log.read_text())[1]
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:  # a worker can wait long for a scheduler that has gone
            process.kill()
            process.wait()


def scheduler(folder, *options, **environment):
    options = ("--port", "0", *options)
    return started(folder / "scheduler.log", "scheduler", *options, environment=environment, ready="Scheduler at:")


def a_worker(address, folder, *options, **others):
    """A worker in an empty folder."""
    options = (address, "--no-nanny", "--local-directory", str(folder), *options)
    return started(folder / "worker.log", "worker", *options, ready="Registered to", **others)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with scheduler(tmp_path_factory.mktemp("scheduler")) as (_, address):
        yield address


def command(root, address, *options, code="from course.__main__ import main; main()"):
    return [sys.executable, "-c", code, "grade", "--course-dir", str(root), "--scheduler", address, *options]


def grade_there(root, address, *options, environment=None, **others):
    """(exit status, stdout, stderr) of a run in a process of its own: Dask leaves threads behind."""
    run = command(root, address, *options, **others)
    done = subprocess.run(run, env=os.environ | (environment or {}), capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


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


def stored(root):
    return len(list(root.glob("autograded/.intake/*/*/graded.json")))


def sentence(told):
    """The one sentence of an error, below the progress bar where there is one."""
    *_, last = told.strip().splitlines()
    assert last.startswith("Error: ") and "Traceback" not in told
    return last.removeprefix("Error: ")


def without_ids(notebooks):
    """Graded notebooks without the random names of cells that were made while grading."""
    for content, _ in notebooks.values():
        for cell in content.cells if not isinstance(content, str) else ():
            cell.pop("id")
    return notebooks


def hidden(folder):
    """A command in front of another, which then finds ``folder`` empty."""
    root = () if os.geteuid() == 0 else ("--map-root-user",)
    return ("unshare", "--mount", *root, "sh", "-c", f'mount -t tmpfs none "{folder}" && exec "$@"', "sh")


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


def trap(folder, program, code):
    """The environment of a worker whose processes of ``program`` run ``code`` before anything else."""
    (folder / "trap").mkdir()
    condition = f"if any({program!r} in word for word in sys.orig_argv):"
    lines = ["import sys", condition, *textwrap.indent(textwrap.dedent(code), "    ").splitlines()]
    (folder / "trap" / "sitecustomize.py").write_text("\n".join(lines))
    return {"PYTHONPATH": os.pathsep.join([str(folder / "trap"), os.environ.get("PYTHONPATH", "")])}


def test_no_scheduler_ends_in_one_sentence(root):
    with socket.create_server(("127.0.0.1", 0)) as free:
        silent = "tcp://{}:{}".format(*free.getsockname())
        status, _, told = grade_there(root, silent)
    assert status == 2 and told.startswith(f"Error: No Dask scheduler answers at {silent}")
    assert len(told.splitlines()) == 1
    for address in (silent, "nonsense"):
        status, _, told = grade_there(root, address)
        assert status == 2 and len(told.splitlines()) == 1
        assert told.startswith(f"Error: No Dask scheduler answers at {address}")
    assert stored(root) == 0


def test_no_workers_end_in_one_sentence(root, address):
    impatient = "import course.grading.many.cluster as c; c.PATIENCE = 1; from course.__main__ import main; main()"
    status, _, told = grade_there(root, address, code=impatient)
    assert status == 2
    assert sentence(told).startswith(f"The Dask scheduler at {address} has no workers; start some with `dask worker")


def test_without_dask_the_way_to_get_it_is_told(root):
    hidden = "import sys; sys.modules['distributed'] = None; from course.__main__ import main; main()"
    status, _, told = grade_there(root, "tcp://127.0.0.1:1", code=hidden)
    assert status == 2 and len(told.splitlines()) == 1
    assert "needs the Python package distributed; install it with `python -m pip install distributed`" in told


def test_jobs_and_a_scheduler_exclude_each_other(root):
    status, _, told = grade(root, "--scheduler", "tcp://127.0.0.1:1")
    assert status == 2 and "give one of them" in told


def test_a_worker_with_other_code_is_named(root, address, tmp_path):
    shutil.copytree(ROOT / "course", tmp_path / "other" / "course")
    with (tmp_path / "other" / "course" / "checks" / "failure.py").open("a") as module:
        module.write("# changed\n")
    with a_worker(address, tmp_path / "one", environment={"PYTHONPATH": str(tmp_path / "other")}) as (_, place):
        status, _, told = grade_there(root, address)
    assert status == 2 and len(told.splitlines()) == 1
    assert sentence(told).startswith(f"The worker {place} cannot grade: its code of the course")
    assert stored(root) == 0


def test_a_worker_with_other_libraries_is_named(root, address, tmp_path):
    for name in ("torch", "numpy"):
        about = tmp_path / "other" / f"{name}-9.9.9.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9.9\n")
    with a_worker(address, tmp_path / "one", environment={"PYTHONPATH": str(tmp_path / "other")}) as (_, place):
        status, _, told = grade_there(root, address)
    assert status == 2 and len(told.splitlines()) == 1
    here = worker.versions()
    assert sentence(told) == (
        f"The worker {place} cannot grade: it has torch 9.9.9 and not {here['torch']}, "
        f"numpy 9.9.9 and not {here['numpy']}, so scores may differ; install the same there."
    )
    assert stored(root) == 0


def test_a_worker_with_other_versions_is_unfit_whenever_it_joins():
    here = worker.versions()
    assert worker.obstacle(here, worker.code_digest(), True) == ""
    other = {"the course": "0.0.0", "Python": "2.7", "scipy-of-old": "1.0"}
    for name, wanted in other.items():
        terms = {"wanted": here | {name: wanted}, "digest": worker.code_digest(), "unconfined": True}
        with pytest.raises(worker.Unfit, match=f"has {name} {re.escape(here.get(name, '(missing)'))} and not {wanted}"):
            worker.station_of("a run", terms, b"")


def test_a_worker_without_a_sandbox_is_named_and_runs_nothing_unconfined(root, address, tmp_path):
    (tmp_path / "bin").mkdir()
    environment = {"PATH": str(tmp_path / "bin"), "COURSE_UNCONFINED": "1"}
    with a_worker(address, tmp_path / "one", environment=environment) as (_, place):
        status, _, told = grade_there(root, address)
        assert status == 2 and len(told.splitlines()) == 1
        assert sentence(told).startswith(f"The worker {place} cannot grade: bubblewrap is needed")
        assert stored(root) == 0
        allowed = {"COURSE_UNCONFINED": "1"}
        assert grade_there(root, address, "--student", "ada", environment=allowed)[1].startswith("1 graded")
    [(notebook, _)] = graded(root).values()
    assert notebook.metadata.course_grading.confined is False


def test_a_worker_without_a_warm_start_grades_and_is_named_once(root, address, tmp_path):
    cold = """
        from course.grading.warm.process import NoFork, WarmProcess
        def start(self):
            raise NoFork("none here")
        WarmProcess.start = start
        """
    environment = trap(tmp_path, "course.grading.many.station", cold)
    with a_worker(address, tmp_path / "one", "--nthreads", "2", environment=environment) as (_, place):
        status, said, told = grade_there(root, address, "--student", "ada", "--student", "cyd")
    assert status == 0 and said.startswith("2 graded"), told
    assert told.count(f"The worker {place} grades slowly, since it has no warm start; its log says why.") == 1
    assert "every kernel is cold: none here" in (tmp_path / "one" / "worker.log").read_text()


def test_a_gradebook_on_postgresql_is_written_here_and_out_of_reach_there(
    root, address, onto_postgres, postgres, once, tmp_path
):
    onto_postgres(root)
    with a_worker(address, tmp_path / "one", "--nthreads", "2", before=hidden(postgres.folder)):
        status, said, told = grade_there(root, address)
    assert status == once[1][0] and sorted(said.splitlines()) == sorted(once[1][1].splitlines()), told
    assert gradebook(root) == gradebook(once[0])
    assert without_ids(graded(root)) == without_ids(graded(once[0]))


@pytest.fixture
def certified(tmp_path):
    """Dask's settings, as environment variables, for TLS with a certificate that all sides share."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is missing")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    kind = ("-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=cluster")
    there = ("-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
    subprocess.run(["openssl", "req", *kind, *there], check=True, capture_output=True)
    settings = {"CA_FILE": certificate}
    for side in ("SCHEDULER", "WORKER", "CLIENT"):
        settings |= {f"{side}__CERT": certificate, f"{side}__KEY": key}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{name}": str(value) for name, value in settings.items()}


def test_tls_is_set_up_by_dasks_own_settings_and_its_lack_is_told(root, certified, tmp_path):
    with scheduler(tmp_path / "scheduler", "--protocol", "tls", **certified) as (_, address):
        assert address.startswith("tls://")
        status, _, told = grade_there(root, address)
        assert status == 2 and len(told.splitlines()) == 1
        assert sentence(told).startswith(
            f"No Dask scheduler answers at {address} (no certificate for TLS is set here); "
        )
        assert "distributed.comm.tls in Dask's settings" in told
        plain = address.replace("tls://", "tcp://")
        status, _, told = grade_there(root, plain, environment=certified)
        assert status == 2 and len(told.splitlines()) == 1
        assert sentence(told).startswith(f"No Dask scheduler answers at {plain} (")
        assert "with TLS it begins with tls://" in told
        with a_worker(address, tmp_path / "one", "--nthreads", "2", environment=certified) as (_, place):
            assert place.startswith("tls://")
            status, said, told = grade_there(root, address, environment=certified)
    assert status == 1 and said.startswith("4 graded, 1 not gradable"), told


def test_lessons_travel_whole_and_the_gradebooks_address_stays(root, tmp_path):
    course = open_course(root)
    course.config.CourseDirectory.db_url = "postgresql://teacher:secret@host/grades"
    course.config.SandboxedExecute.output_limit = 12345
    content = parcel.pack_lessons(course, {LESSON: {}})
    assert b"secret" not in content and str(root).encode() not in content
    there = parcel.unpack_lessons(content).lay_out(tmp_path / "there")
    assert there.config.SandboxedExecute.output_limit == 12345
    file = Path("source", LESSON, f"{LESSON}.ipynb")
    assert (tmp_path / "there" / file).read_bytes() == (root / file).read_bytes()


def test_submissions_travel_with_their_data_and_no_link_is_followed(tmp_path):
    folder, there = tmp_path / "here", tmp_path / "there"
    folder.mkdir()
    there.mkdir()
    (folder / "letter.txt").write_bytes(b"A\x00")
    (folder / "numpy.py").write_text("a module could shadow the real one")
    (folder / "passwd").symlink_to("/etc/passwd")
    content = parcel.pack_submission(Submission("ada", LESSON, str(folder), "digest", {"a.ipynb": b"{}"}))
    submission = parcel.unpack_submission(content, there)
    assert submission == Submission("ada", LESSON, str(there), "digest", {"a.ipynb": b"{}"})
    assert {path.name: path.read_bytes() for path in there.iterdir()} == {"letter.txt": b"A\x00"}


def test_results_come_back_the_same_and_cannot_say_whose_they_are():
    submission = Submission("ada", LESSON, "", "digest", timestamp="2026-03-31 23:59:00 UTC")
    notebook = Graded(
        {"verdict": "graded"}, "text \ud800", {"a": 0.5, "b": None}, {"a": None}, (("one", "died"),), ("two",)
    )
    for result in (
        Result("ada", LESSON, "digest", submission.timestamp, {"notebook": notebook}, 1.5),
        Result("ada", LESSON, "digest", submission.timestamp, {}, failure="why"),
    ):
        reply = json.loads(parcel.pack_result(result))
        assert "ada" not in reply.values()
        assert parcel.unpack_result(reply, submission) == result
