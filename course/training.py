"""Short training runs of tiny encoders: seconds on two cores, the same on every run, safe to interrupt."""

import time
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch.nn import functional as F

from course.defaults import torch_defaults
from course.execution import is_grading
from course.models import TinyEncoder
from course.progress import Progress
from course.seeding import seeded
from course.tasks import IGNORE

GRADING_STEPS = 4  # enough to show that the cell runs; nothing that is graded depends on a training run
TEST_SEED = 1_000_000  # far from the seeds of training, so that no test sequence was trained on


@dataclass
class Run:
    """What one training run reached: loss and accuracy of each step's batch, in order."""

    planned_steps: int
    losses: list = field(default_factory=list)
    accuracies: list = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    def summary(self):
        """One sentence with the numbers."""
        if not self.losses:
            return f"{'Interrupted before the first step' if self.interrupted else 'No step'}: the model is as it was."
        recent = self.accuracies[-10:]
        reached = f"loss {self.losses[-1]:.2f}, accuracy {sum(recent) / len(recent):.2f} on the last batches"
        if self.interrupted:
            return f"Interrupted after {len(self.losses)} of {self.planned_steps} steps: {reached}."
        return f"{len(self.losses)} steps in {self.seconds:.1f} s: {reached}."


@contextmanager
def one_thread():
    """Compute on one thread inside the block: at these sizes sharing the work costs more than it saves."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def new_model(task, seed=0, **settings):
    """A fresh ``TinyEncoder`` for the task; the same seed and settings give the same weights, float32 on the CPU."""
    with torch_defaults(), seeded(seed):
        return TinyEncoder(task.num_symbols, task.num_classes, **settings)


def train(model, task, steps=None, seed=0, batch=32, progress=None):
    """Train the model in place on new examples of the task and return the ``Run``; leaves it in eval mode.

    ``steps`` are the task's own by default. Interrupting the cell ends the run early: the model keeps
    what it has learned and the run says so. While nbgrader grades, a run takes ``GRADING_STEPS`` steps
    at most. ``progress`` is a ``Progress`` that several runs share; without one, the run shows its own.
    ValueError for a negative number of steps or a batch of no examples, from which nothing but NaN is learned.
    """
    steps = task.steps if steps is None else steps
    if steps < 0 or batch < 1:
        raise ValueError(f"steps {steps} and batch {batch}: take 0 or more steps, with 1 example or more in each")
    if is_grading():
        steps = min(steps, GRADING_STEPS)
    if progress is None:
        with Progress(steps, visible=not is_grading()) as own:
            run = train(model, task, steps, seed, batch, own)
        if run.interrupted:
            print(run.summary())
        return run

    run = Run(planned_steps=steps)
    generator = torch.Generator().manual_seed(seed)
    optimiser = torch.optim.Adam(model.parameters(), task.learning_rate, fused=True)  # half the time of the default
    schedule = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: warm_up_and_decay(step, steps))
    start = time.perf_counter()
    model.train()
    try:
        with torch_defaults(), one_thread():
            for _ in range(steps):
                tokens, targets = task.draw(batch, task.seq_len, generator)
                logits, _ = model(tokens)
                loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())  # (B, T, C) -> (B*T, C)
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
                schedule.step()
                run.losses.append(loss.item())
                run.accuracies.append(share_right(logits, targets))
                progress.advance(run)
    except KeyboardInterrupt:
        run.interrupted = True
    model.eval()
    run.seconds = time.perf_counter() - start
    return run


def warm_up_and_decay(step, steps):
    """Factor of the learning rate: up in the first tenth of the run, then down in a straight line."""
    warm_up = max(1, steps // 10)
    return min((step + 1) / warm_up, (steps - step) / max(1, steps - warm_up))


def share_right(logits, targets):
    """Share of the positions that count where logits (B, T, C) put the target (B, T) first."""
    counts = targets != IGNORE
    return (logits.argmax(-1) == targets)[counts].float().mean().item()


def accuracy(model, task, seq_len=None, examples=250):
    """Share of right answers on new examples of length ``seq_len`` (by default the task's own).

    Leaves the model in eval mode. While nbgrader grades, 32 examples have to do.
    """
    seq_len = task.seq_len if seq_len is None else seq_len
    generator = torch.Generator().manual_seed(TEST_SEED)
    model.eval()
    with torch_defaults(), torch.no_grad(), one_thread():
        tokens, targets = task.draw_held_out(32 if is_grading() else examples, seq_len, generator)
        return share_right(model(tokens)[0], targets)
