"""How many submissions a minute: two Dask workers on this machine against ``--jobs 2``; ``python -m bench.cluster``.

Whole runs of ``course grade`` on the same made-up class as in ``bench.grading``, the sandbox on in both. The workers
are there before, as on a cluster; what each does once for a run, its imports and its warm process, counts.
"""

import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click

from bench.grading import hand_in, prepare


@contextlib.contextmanager
def cluster(workers, folder):
    """The address of a scheduler on loopback with this many workers of one thread."""
    log = folder / "scheduler.log"
    with contextlib.ExitStack() as ending:
        started = [start(log, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")]
        ending.callback(lambda: [process.kill() for process in started])
        while not (found := re.search(r"Scheduler at:\s+(tcp://\S+)", log.read_text())):
            wait_for(started)
        options = ["--nthreads", "1", "--no-dashboard", "--no-nanny", "--local-directory", str(folder)]
        started += [start(folder / f"{n}.log", "worker", found[1], *options) for n in range(workers)]
        while sum("Registered to" in (folder / f"{n}.log").read_text() for n in range(workers)) < workers:
            wait_for(started)
        yield found[1]


def wait_for(processes):
    """Give them a moment; an error when one has ended already."""
    if any(process.poll() is not None for process in processes):
        raise click.ClickException(
            "a scheduler or worker of Dask ended at once: is attention-course[cluster] installed?"
        )
    time.sleep(0.1)


def start(log, program, *options):
    with log.open("w") as stream:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", program, *options], cwd=log.parent, stdout=stream, stderr=stream
        )


def seconds_of(folder, lesson, *options):
    command = [sys.executable, "-m", "course", "grade", lesson, "--force", "--course-dir", str(folder), *options]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise click.ClickException(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-500:]}")
    return time.perf_counter() - started


@click.command()
@click.option("--lesson", default="03_practice", show_default=True)
@click.option("--count", default=40, show_default=True, help="Submissions.")
@click.option("--workers", default=2, show_default=True, help="Dask workers, and jobs to compare them with.")
def main(lesson, count, workers):
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as course, tempfile.TemporaryDirectory() as elsewhere:
        hand_in(Path(course), lesson, count, *prepare(Path(course), lesson))
        here = seconds_of(course, lesson, "--jobs", str(workers))
        with cluster(workers, Path(elsewhere)) as address:
            there = seconds_of(course, lesson, "--scheduler", address)
    for name, seconds in ((f"--jobs {workers}", here), (f"{workers} Dask workers", there)):
        click.echo(f"{name}: {count} submissions in {seconds:.1f} s, {60 * count / seconds:.1f} a minute")
    click.echo(f"Throughput on the cluster: {here / there:.2f} times that of --jobs {workers}, whole runs.")
    click.echo(f"Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
