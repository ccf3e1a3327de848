"""What an experiment found: numbers that can be shown, put into words, saved and shown again."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from IPython.display import display

from course import experiment_plots as plots
from course.progress import in_notebook


@dataclass
class Result:
    """Accuracies (C, S, L) of an experiment's conditions, seeds and lengths; NaN where no run was finished.

    ``settings`` holds what each condition trains, as a dict of plain values.
    """

    title: str
    claim: str
    finding: str
    labels: list
    lengths: list
    trained_at: int
    guessing: float | None
    settings: list
    seeds: list
    accuracies: np.ndarray
    shortened: bool = False

    def finished_runs(self):
        """How many of the C*S runs were finished."""
        return int(np.isfinite(self.accuracies[:, :, 0]).sum())

    def is_complete(self):
        """Whether every run was made in full, so that the finding can be held against the numbers."""
        return not self.shortened and self.finished_runs() == self.accuracies[:, :, 0].size

    def is_of(self, blank):
        """Whether this is ``blank`` with its numbers filled in: the same comparison, described alike."""
        described = replace(self, accuracies=None) == replace(blank, accuracies=None)
        return described and self.accuracies.shape == blank.accuracies.shape

    def mean(self, label, length=None):
        """Mean accuracy over the finished runs of one condition, at one length (by default the first); NaN for none.

        ValueError for a label or a length that is not here.
        """
        length = self.lengths[0] if length is None else length
        for name, wanted, known in (("label", label, self.labels), ("length", length, self.lengths)):
            if wanted not in known:
                raise ValueError(f"no {name} {wanted!r}: choose one of {', '.join(map(repr, known))}")
        reached = self.accuracies[self.labels.index(label), :, self.lengths.index(length)]
        return float(np.ma.masked_invalid(reached).mean(keepdims=True).filled(np.nan)[0])

    def figure(self):
        """Bars, or lines where several lengths were tested, with whiskers over the seeds."""
        if len(self.lengths) > 1:
            return plots.plot_lengths(self.labels, self.lengths, self.accuracies, self.trained_at, self.title)
        return plots.plot_bars(self.labels, self.accuracies[:, :, 0], self.guessing, self.title)

    def numbers(self):
        """The figure in words: its title, then mean and range of every condition."""
        return self.figure().alt

    def verdict(self):
        """The lesson's sentence and what the numbers say to it; nothing is claimed for a part of the runs."""
        if self.shortened:
            return "Shortened while nbgrader grades: these numbers mean nothing; run the cell to see the real ones."
        if not self.is_complete():
            planned = self.accuracies[:, :, 0].size
            return f"Interrupted: {self.finished_runs()} of {planned} runs were finished; the figure shows those."
        return f"The lesson says: “{self.claim}” {self.finding}"

    def show(self):
        """Show the figure with its numbers, outside a notebook the numbers alone, and the verdict."""
        if in_notebook():
            display(self.figure())
        else:
            print(self.numbers())
        print(self.verdict())

    def save(self, path):
        """Write the result to a JSON file."""
        values = np.where(np.isfinite(self.accuracies), self.accuracies, None).tolist()
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(json.dumps(asdict(self) | {"accuracies": values}), encoding="utf-8")

    @classmethod
    def load(cls, path):
        """Read a result that ``save`` wrote."""
        fields = json.loads(Path(path).read_text(encoding="utf-8"))
        return cls(**fields | {"accuracies": np.array(fields["accuracies"], dtype=float)})
