"""Making an experiment's runs: conditions times seeds, interruptible, saved when all are done."""

import contextlib
import operator
import os
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
from torch import nn

from course.defaults import torch_defaults
from course.execution import is_grading
from course.experiments.result import Result
from course.progress import Progress
from course.seeding import seeded
from course.tasks import Task
from course.training import accuracy, new_model, train

SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Condition:
    """One bar or line of a figure: a task and the settings of the ``TinyEncoder`` that learns it.

    ``own_encoding`` makes a module that takes the place of the encoding; it is called once per run. TypeError for
    a module in its place, which would go on from where the last run left it.
    """

    label: str
    task: Task
    settings: dict = field(default_factory=dict)
    own_encoding: Callable | None = None

    def __post_init__(self):
        made = isinstance(self.own_encoding, nn.Module)
        if made or not (self.own_encoding is None or callable(self.own_encoding)):
            came = f"{'a module' if made else 'no function'}, {type(self.own_encoding).__name__}"
            raise TypeError(f"{self.label!r} is {came}: give a function that makes the module, as lambda: …")

    def model(self, seed):
        """A fresh model; the same seed gives the same weights."""
        if self.own_encoding is None:
            return new_model(self.task, seed, **self.settings)
        with torch_defaults(), seeded(seed):
            encoding = self.own_encoding()
        return new_model(self.task, seed, **self.settings | {"encoding": encoding})

    def described(self):
        """Everything but the learner's own code that decides how a run ends, as a dict of plain values."""
        task = {f.name: getattr(self.task, f.name) for f in fields(self.task) if not f.name.startswith("draw")}
        return {"task": task} | self.settings


@dataclass(frozen=True)
class Experiment:
    """What is compared, and the sentence of the lesson that it tries.

    Without ``lengths`` each model is tested at the length of its task. ``guessing`` is the accuracy of
    the best guess without order, where it is one number for all conditions.
    """

    name: str
    title: str
    claim: str
    finding: str
    conditions: tuple
    lengths: tuple = ()
    guessing: float | None = None

    def is_repeatable(self):
        """Whether a saved result can stand for it: code of the student's own may have changed since."""
        return all(condition.own_encoding is None for condition in self.conditions)

    def blank_result(self, seeds):
        """The result before the first run: every accuracy is NaN."""
        trained_at = self.conditions[0].task.seq_len
        labels = [condition.label for condition in self.conditions]
        settings = [condition.described() for condition in self.conditions]
        lengths = list(self.lengths) or [trained_at]
        accuracies = np.full((len(labels), len(seeds), len(lengths)), np.nan)
        described = (self.title, self.claim, self.finding)
        return Result(*described, labels, lengths, trained_at, self.guessing, settings, seeds, accuracies, is_grading())


def run(experiment, seeds=SEEDS, again=False):
    """Make the experiment's runs, or take its saved result, show it and return the ``Result``.

    ``again=True`` trains anew. Interrupting the cell shows what was reached. While nbgrader grades, one
    seed is trained for a few steps, nothing is read or saved, and the result says so. ``seeds`` are whole numbers,
    one or more; ValueError without one.
    """
    seeds = list(map(operator.index, seeds))
    if not seeds:
        raise ValueError("seeds is empty: give one or more, each of which makes a run of every condition")
    if is_grading():
        result = train_all(experiment, seeds[:1])
    else:
        path = saved_path(experiment.name)
        result = (
            None if again or not experiment.is_repeatable() else matching_result(path, experiment.blank_result(seeds))
        )
        if result is not None:
            print("Shown from the saved result; again=True trains anew.")
        else:
            result = train_all(experiment, seeds)
            if result.is_complete() and experiment.is_repeatable():
                keep(result, path)
    result.show()
    return result


def train_all(experiment, seeds):
    """Train every condition for every seed, seed by seed, so that an interrupted experiment still compares."""
    result = experiment.blank_result(seeds)
    shown = Progress(
        len(seeds) * sum(condition.task.steps for condition in experiment.conditions), visible=not is_grading()
    )
    with contextlib.suppress(KeyboardInterrupt), shown as progress:  # the stop button may fall between two runs
        for column, seed in enumerate(seeds):
            for row, condition in enumerate(experiment.conditions):
                progress.start(condition.label)
                model = condition.model(seed)
                if train(model, condition.task, seed=seed, progress=progress).interrupted:
                    return result
                lengths = experiment.lengths or (condition.task.seq_len,)
                result.accuracies[row, column] = [accuracy(model, condition.task, length) for length in lengths]
    return result


def saved_path(name):
    """Where a result is kept: in the user's cache, so that no notebook's folder fills up."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "attention-course" / f"{name}.json"


def matching_result(path, blank):
    """The saved result if it fills in ``blank``; None if there is none, or it is damaged or of other settings."""
    try:
        result = Result.load(path)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return result if result.is_of(blank) and result.is_complete() else None


def keep(result, path):
    """Save the result, or say in one sentence why it is not saved."""
    try:
        result.save(path)
    except OSError as error:
        print(f"The result is shown but could not be saved: {error}.")
