"""How many submissions a minute: ``course grade`` against ``nbgrader autograde``; ``python -m bench.grading``.

Whole processes, from the command to its end, on the same made-up class of one lesson's real notebook. Each submission
leaves other exercises blank, so that nothing could be done once for all. nbgrader runs as it was installed, with every
submission in a new kernel of its own; with that kernel in the sandbox; and as this course configures it, warm.
"""

import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import click
import nbformat

from bench.processes import Meter
from course.grading import demo

ROOT = Path(__file__).resolve().parents[1]
MIB = 1024**2
REFERENCES = {  # lines put below the course's configuration
    "nbgrader autograde, no sandbox": "autograde_preprocessors('nbgrader.preprocessors.Execute')",
    "nbgrader autograde, cold": "autograde_preprocessors('course.grading.examination.ExaminedExecute')",
    "nbgrader autograde, warm": "autograde_preprocessors('course.grading.warm.execute.WarmExaminedExecute')",
}


class Cost(NamedTuple):
    """What grading ``count`` submissions took: elapsed and CPU seconds, of these in students' processes, bytes."""

    count: int
    seconds: float
    cpu: float
    students: float
    memory: int

    @property
    def rate(self):
        """Submissions a minute."""
        return 60 * self.count / self.seconds

    def told(self):
        return (
            f"{self.count} in {self.seconds:.1f} s, {self.rate:.1f} a minute; CPU s each {self.cpu / self.count:.2f}, "
            f"{self.students / self.count:.2f} of them in students' processes; {self.memory / MIB:.0f} MiB at the peak"
        )


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


def measure(folder, count, *command):
    """The Cost of a command."""
    started, log = time.perf_counter(), folder / "bench.log"
    with log.open("w") as stream:
        process = subprocess.Popen(command, cwd=folder, stdout=stream, stderr=subprocess.STDOUT)
        with Meter(process.pid) as meter:
            status = process.wait()
    seconds = time.perf_counter() - started
    if status:
        raise click.ClickException(f"{' '.join(command)} ended with {status}: {log.read_text()[-500:]}")
    return Cost(count, seconds, meter.used(), meter.used_by_students(), meter.most)


def references(folder, lesson, count, release):
    """Yield (name, Cost) of nbgrader's own command in each configuration."""
    config = folder / "nbgrader_config.py"
    original = config.read_text()
    for name, setting in REFERENCES.items():
        config.write_text(f"{original}\nc.Autograde.autograde_preprocessors = {setting}\n")
        hand_in(folder, lesson, count, *release)
        yield name, measure(folder, count, "nbgrader", "autograde", lesson)
    config.write_text(original)


@click.command()
@click.option("--lesson", default="03_practice", show_default=True)
@click.option("--count", "counts", default=[40], show_default=True, multiple=True, help="Of submissions; repeatable.")
@click.option("--reference", default=6, show_default=True, help="Submissions for `nbgrader autograde`; 0 for none.")
@click.option("--jobs", default=[2], show_default=True, multiple=True, help="Repeat for several.")
def main(lesson, counts, reference, jobs):
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        release = prepare(folder, lesson)
        rates = {}
        for name, cost in references(folder, lesson, reference, release) if reference else ():
            rates[name] = cost.rate
            click.echo(f"{name}: {cost.told()}")
        for count, number in itertools.product(counts, jobs):
            hand_in(folder, lesson, count, *release)
            ours = [sys.executable, "-m", "course", "grade", lesson, "--jobs", str(number), "--force"]
            cost = measure(folder, count, *ours)
            click.echo(f"course grade --jobs {number}: {cost.told()}")
            for name, rate in rates.items():
                click.echo(f"    {cost.rate / rate:.1f} times the throughput of {name}")
    click.echo(
        f"Whole processes, start included. Load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    )


if __name__ == "__main__":
    main()
