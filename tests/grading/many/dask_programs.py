"""A real scheduler and real workers on loopback, and ``course grade`` with them."""

import contextlib
import os
import re
import subprocess
import sys
import textwrap
import time

LONGEST_START = 120  # seconds; a worker that finds no scheduler would look for one for ever


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
        end = time.monotonic() + LONGEST_START
        while ready not in log.read_text():
            assert process.poll() is None and time.monotonic() < end, log.read_text()
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


def command(root, address, *options, code="from course.__main__ import main; main()"):
    return [sys.executable, "-c", code, "grade", "--course-dir", str(root), "--scheduler", address, *options]


def grade_there(root, address, *options, environment=None, **others):
    """(exit status, stdout, stderr) of a run in a process of its own: Dask leaves threads behind."""
    run = command(root, address, *options, **others)
    done = subprocess.run(run, env=os.environ | (environment or {}), capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def stored(root):
    return len(list(root.glob("autograded/.intake/*/*/graded.json")))


def sentence(told):
    """The one sentence of an error, below the progress bar where there is one."""
    *_, last = told.strip().splitlines()
    assert last.startswith("Error: ") and "Traceback" not in told
    return last.removeprefix("Error: ")


def hidden(folder):
    """A command in front of another, which then finds ``folder`` empty."""
    root = () if os.geteuid() == 0 else ("--map-root-user",)
    return ("unshare", "--mount", *root, "sh", "-c", f'mount -t tmpfs none "{folder}" && exec "$@"', "sh")


def trap(folder, program, code):
    """The environment of a worker whose processes of ``program`` run ``code`` before anything else."""
    (folder / "trap").mkdir()
    condition = f"if any({program!r} in word for word in sys.orig_argv):"
    lines = ["import sys", condition, *textwrap.indent(textwrap.dedent(code), "    ").splitlines()]
    (folder / "trap" / "sitecustomize.py").write_text("\n".join(lines))
    return {"PYTHONPATH": os.pathsep.join([str(folder / "trap"), os.environ.get("PYTHONPATH", "")])}
