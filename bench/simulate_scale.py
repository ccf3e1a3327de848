"""A deadline with very many submissions, simulated from measured times; ``python -m bench.simulate_scale``.

Submissions arrive, wait for a free worker, are graded, and wait for the one writer of the gradebook. The times are
drawn from ``bench/grading_times.csv``. ``--write`` puts the tables into ``docs/scale.md``.
"""

import heapq
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from bench.measure_grading import COLUMNS, read_rows

PAGE = Path(__file__).resolve().parents[1] / "docs" / "scale.md"
MARKS = ("<!-- simulation -->", "<!-- end of simulation -->")
WORKERS = (10, 100, 1000)
HOUR = 3600.0


class Run(NamedTuple):
    """One simulated deadline. Times in seconds: ``waits`` (N,) from handing in to a grade in the gradebook."""

    workers: int
    finished: float
    waits: np.ndarray
    workers_busy: float
    writer_busy: float


def draw(times, count, rng):
    """count times, resampled from the measured ones."""
    return rng.choice(np.asarray(times), count)


def arrivals(count, half_life, rng):
    """Times (count,) at which submissions come, the deadline at 0: each half_life before it half as many are left.

    With half_life 0 all come at once.
    """
    return np.sort(-rng.exponential(half_life / np.log(2), count)) if half_life else np.zeros(count)


def simulate(come, grading, writing, workers):
    """Run the queue: first come, first served, for ``workers`` equal workers and then for one writer.

    come, grading and writing are (N,) seconds.
    """
    free = [come[0]] * workers
    graded = np.empty(len(come))
    for number, (moment, seconds) in enumerate(zip(come, grading, strict=True)):
        graded[number] = max(moment, heapq.heappop(free)) + seconds
        heapq.heappush(free, graded[number])
    written, idle_from = np.empty(len(come)), -np.inf
    for number in np.argsort(graded, kind="stable"):
        idle_from = written[number] = max(graded[number], idle_from) + writing[number]
    span = written.max() - come[0]
    busy = (grading.sum() / (workers * span), writing.sum() / span)
    return Run(workers, float(written.max()), written - come, *map(float, busy))


class Times(NamedTuple):
    """Measured seconds: of grading by pipeline, of writing by the way of committing."""

    grading: dict
    writing: dict


def read_times(column):
    """The Times in the file: grading from the column, writing in elapsed seconds, because it waits for the disk."""
    found = Times({}, {})
    for pipeline, step, seconds, cpu_seconds in read_rows():
        if step == "write":
            found.writing.setdefault(pipeline, []).append(float(seconds))
        else:
            found.grading.setdefault(pipeline, []).append(float(cpu_seconds if column == "cpu_seconds" else seconds))
    return found


def tables(times, count, half_life, price, seed=0):
    """The tables of the page, as Markdown."""
    lines = ["| grading | median | slowest | a thousand take | and cost |", "|---|---:|---:|---:|---:|"]
    for pipeline, seconds in times.grading.items():
        hours = 1000 * np.mean(seconds) / HOUR
        spread = f"{np.median(seconds):.2f} s | {max(seconds):.2f} s"
        lines.append(f"| {pipeline} | {spread} | {hours:.2f} core hours | {hours * price:.3f} |")
    lines += ["", "| writing | median | a second | cores that keep one writer busy |", "|---|---:|---:|---:|"]
    for writer, seconds in times.writing.items():
        serve = (f"{np.mean(grading) / np.mean(seconds):.0f} ({name})" for name, grading in times.grading.items())
        median = f"{1000 * np.median(seconds):.0f} ms"
        lines.append(f"| {writer} | {median} | {1 / np.mean(seconds):.0f} | {', '.join(serve)} |")
    head = ("grading", "writing", "cores", "all at once: done after", "cores busy", "writer busy")
    head += ("deadline: median wait", "95 % wait", "last grade")
    lines += ["", f"| {' | '.join(head)} |", f"|---|---{'|---:' * (len(head) - 2)}|"]
    lines += [f"| {' | '.join(row)} |" for row in _simulated_rows(times, count, half_life, np.random.default_rng(seed))]
    return "\n".join(lines)


def _simulated_rows(times, count, half_life, rng):
    at_once, before_deadline = arrivals(count, 0, rng), arrivals(count, half_life, rng)
    for pipeline, measured_grading in times.grading.items():
        grading = draw(measured_grading, count, rng)
        for writer, measured_writing in times.writing.items():
            writing = draw(measured_writing, count, rng)
            for workers in WORKERS:
                burst = simulate(at_once, grading, writing, workers)
                spread = simulate(before_deadline, grading, writing, workers)
                waits = (span(value) for value in np.percentile(spread.waits, [50, 95]))
                busy = f"{burst.workers_busy:.0%}", f"{burst.writer_busy:.0%}"
                yield (
                    pipeline,
                    writer,
                    f"{workers:,}",
                    span(burst.finished),
                    *busy,
                    *waits,
                    span(max(0.0, spread.finished)),
                )


def span(seconds):
    """Seconds in the unit that reads best."""
    for size, unit in ((86400, "days"), (HOUR, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.1f} s"


@click.command()
@click.option("--submissions", default=100_000, show_default=True)
@click.option("--half-life", default=6.0, show_default=True, help="Hours before the deadline by which half have come.")
@click.option("--column", default="cpu_seconds", show_default=True, type=click.Choice(COLUMNS[2:]))
@click.option("--price", default=0.05, show_default=True, help="Of one worker (one core) for an hour.")
@click.option("--write", is_flag=True, help="Put the tables into docs/scale.md.")
def main(submissions, half_life, column, price, write):
    text = tables(read_times(column), submissions, half_life * HOUR, price)
    if not write:
        click.echo(text)
        return
    before, _, rest = PAGE.read_text("utf-8").partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    PAGE.write_text(f"{before}{MARKS[0]}\n\n{text}\n\n{MARKS[1]}{after}", "utf-8")


if __name__ == "__main__":
    main()
