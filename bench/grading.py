"""How many submissions a minute: ``course grade`` against ``nbgrader autograde``; ``python -m bench.grading``.

Whole processes, from the command to its end, on the same made-up class of one lesson's real notebook, the sandbox on in
both. Each submission leaves other exercises blank, so that nothing could be done once for all.
"""

import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import click
import nbformat

from course.grading import demo
from course.grading.sandbox.watch import descendants, proportional

INTERVAL, LOOKS_FOR_MEMORY = 0.1, 20  # seconds between two looks; at every how many of them memory is added up
ROOT = Path(__file__).resolve().parents[1]
MIB = 1024**2


def prepare(folder, lesson):
    """Release the lesson in a new course folder; its notebook and its solutions."""
    for name in ("nbgrader_config.py", "pyproject.toml", "source"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copy(ROOT / name, folder / name)
    demo.nbgrader(folder, f"Releasing {lesson}", "generate_assignment", lesson)
    file = f"{lesson}/{lesson}.ipynb"
    released = nbformat.read(folder / "release" / file, as_version=4)
    return released, demo.solutions_of(nbformat.read(folder / "source" / file, as_version=4))


def hand_in(folder, lesson, count, released, solutions):
    """A class of ``count`` in ``folder``, each with other exercises left blank."""
    shutil.rmtree(folder / "submitted", ignore_errors=True)
    shutil.rmtree(folder / "autograded", ignore_errors=True)
    draw = random.Random(0)
    for number in range(count):
        blank = [name for name in solutions if draw.random() < 0.15]
        place = folder / "submitted" / f"student{number:04}" / lesson
        place.mkdir(parents=True)
        nbformat.write(demo.solve(released, solutions, skip=blank), place / f"{lesson}.ipynb")


class Meter(threading.Thread):
    """CPU seconds and the memory peak of a process and all below it, looked at several times a second.

    The sandbox kills its processes, so the operating system adds their time to nobody's: it has to be read before.
    """

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.over = pid, threading.Event()
        self.seconds, self.most = {}, 0  # by process; bytes, each shared page counted once

    def run(self):
        for turn in itertools.count():
            pids = [pid for pid, _ in descendants(self.pid)]
            self.seconds.update({pid: used for pid in pids if (used := cpu_seconds(pid)) is not None})
            if turn % LOOKS_FOR_MEMORY == 0:
                self.most = max(self.most, sum(map(proportional, pids)))
            if self.over.wait(INTERVAL):
                return


def cpu_seconds(pid):
    """CPU seconds of a process until now, or None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder, *command):
    """(seconds, CPU seconds, bytes of memory at the peak) of a command."""
    started, log = time.perf_counter(), folder / "bench.log"
    with log.open("w") as stream:
        process = subprocess.Popen(command, cwd=folder, stdout=stream, stderr=subprocess.STDOUT)
        meter = Meter(process.pid)
        meter.start()
        status = process.wait()
    seconds = time.perf_counter() - started
    meter.over.set()
    meter.join()
    if status:
        raise click.ClickException(f"{' '.join(command)} ended with {status}: {log.read_text()[-500:]}")
    return seconds, sum(meter.seconds.values()), meter.most


@click.command()
@click.option("--lesson", default="03_practice", show_default=True)
@click.option("--count", default=40, show_default=True, help="Submissions for `course grade`.")
@click.option("--reference", default=4, show_default=True, help="Submissions for `nbgrader autograde`.")
@click.option("--jobs", default=2, show_default=True)
def main(lesson, count, reference, jobs):
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        release = prepare(folder, lesson)
        rows = {}
        ours = [sys.executable, "-m", "course", "grade", lesson, "--jobs", str(jobs)]
        for name, number, command in (
            ("nbgrader autograde", reference, ["nbgrader", "autograde", lesson]),
            (f"course grade --jobs {jobs}", count, ours),
        ):
            hand_in(folder, lesson, number, *release)
            rows[name] = (number, *measure(folder, *command))
            seconds, cpu, memory = rows[name][1:]
            click.echo(
                f"{name}: {number} submissions in {seconds:.1f} s, {60 * number / seconds:.1f} a minute, "
                f"{cpu / number:.2f} CPU s each, {memory / MIB:.0f} MiB at the peak"
            )
    (slow, slow_seconds, *_), (quick, quick_seconds, *_) = rows.values()
    ratio = (quick / quick_seconds) / (slow / slow_seconds)
    click.echo(f"Throughput: {ratio:.1f} times nbgrader's, whole processes, start included.")
    click.echo(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
