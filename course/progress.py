"""What a notebook shows while a model trains: a bar on stdout and a curve that grows.

Nothing goes to stderr, where nbgrader would take it for a failure.
"""

import sys
import time

from IPython import get_ipython
from IPython.display import display
from tqdm import tqdm

from course.experiment_plots import plot_curves

SECONDS_BETWEEN_CURVES = 1.0  # drawing one takes about a tenth of that


def in_notebook():
    """Whether a Jupyter kernel runs this code and can replace what it has shown."""
    shell = get_ipython()
    return shell is not None and hasattr(shell, "kernel")


class Progress:
    """A progress bar and a live curve for one training run or for several, one after the other.

    Use it in a ``with`` block; the bar is closed even when the block is interrupted.
    """

    def __init__(self, total_steps, visible=True):
        self.total_steps, self.visible = total_steps, visible
        self.draws = visible and in_notebook()
        self.curves = {}
        self.label = "training"
        self.shown = None
        self.last_drawn = 0.0

    def __enter__(self):
        self.draw()  # before the bar starts, so that later pictures do not break its line
        self.bar = tqdm(total=self.total_steps, file=sys.stdout, disable=not self.visible, unit="step", mininterval=0.5)
        return self

    def __exit__(self, *_):
        self.bar.close()
        self.draw()

    def start(self, label):
        """Name the run that begins; its curve replaces an earlier one of that name."""
        self.label = label
        self.bar.set_description(label)

    def advance(self, run):
        """Count one step of ``run`` and redraw the curve from time to time."""
        self.curves[self.label] = run.accuracies
        self.bar.update()
        if time.monotonic() - self.last_drawn > SECONDS_BETWEEN_CURVES:
            self.draw()

    def draw(self):
        """Show the curves, in the place of those shown before."""
        if not self.draws:
            return
        picture = plot_curves(self.curves)
        if self.shown is None:
            self.shown = display(picture, display_id=True)
        else:
            self.shown.update(picture)
        self.last_drawn = time.monotonic()
