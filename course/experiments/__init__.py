"""Experiments on positions and heads: a sentence of the lesson, the runs that try it, and their numbers.

Each function trains a few tiny encoders over three seeds, 20 s at most on two cores, shows the figure
with its numbers and returns a ``Result``. All take ``seeds`` and ``again``, as ``runner.run`` does.
"""

from course import tasks
from course.experiments.result import Result
from course.experiments.runner import SEEDS, Condition, Experiment, run
from course.models import ENCODINGS
from course.wording import noun

__all__ = [
    "SEEDS",
    "Condition",
    "Experiment",
    "Result",
    "encodings",
    "heads",
    "lengths",
    "order_blindness",
    "positions",
    "run",
    "sentences",
    "short_sequences",
]

SPELT_OUT = {"none": "no positions", "alibi": "ALiBi"}  # the other encodings are called by their name
BEST_GUESS = 0.24  # of 16 draws from 10 symbols the most frequent one makes up 0.236 on average


def by_encoding(task, names=ENCODINGS, own=None, prefix="", **settings):
    """One condition per encoding by name, and one per entry of ``own``, a dict from label to a module's maker."""
    named = (Condition(prefix + SPELT_OUT.get(name, name), task, settings | {"encoding": name}) for name in names)
    owned = (Condition(prefix + label, task, settings, make) for label, make in (own or {}).items())
    return (*named, *owned)


def positions(**options):
    """Reversing with sinusoids and without any positions."""
    experiment = Experiment(
        name="positions",
        title="Reversing 16 symbols, with and without positions",
        claim="Positional encoding is essential for sequence understanding in Transformers.",
        finding="Confirmed here: without positions the model can only guess the symbol it sees most often.",
        conditions=by_encoding(tasks.reversing(), ("none", "sinusoidal")),
        guessing=BEST_GUESS,
    )
    return run(experiment, **options)


def short_sequences(**options):
    """Which of two symbols came first, among two and among four symbols."""
    experiment = Experiment(
        name="short_sequences",
        title="Which of two symbols came first",
        claim="Even short sequences require positional information for correct interpretation.",
        finding="Confirmed: without positions even two symbols leave the model to toss a coin.",
        conditions=tuple(
            condition
            for length in (2, 4)
            for condition in by_encoding(
                tasks.which_came_first(length), ("none", "sinusoidal"), prefix=f"{length} symbols, "
            )
        ),
        guessing=0.5,
    )
    return run(experiment, **options)


def sentences(**options):
    """Who acts in a sample sentence, active or passive, that was held out from training."""
    experiment = Experiment(
        name="sentences",
        title="Who acts? (held-out sentences)",
        claim="Transformers lack recurrence and thus have no inherent sense of word order.",
        finding="Confirmed without a mask: “the dog bites the man” and “the man bites the dog” are one to it.",
        conditions=by_encoding(tasks.who_acts(), ("none", "sinusoidal")),
        guessing=0.5,
    )
    return run(experiment, **options)


def order_blindness(**options):
    """The previous token without any encoding: no mask, then a causal mask with one layer and with two."""
    settings = {
        "no mask, 2 layers": {"num_layers": 2},
        "causal mask, 1 layer": {"causal": True},
        "causal mask, 2 layers": {"causal": True, "num_layers": 2},
    }
    task = tasks.previous_token()
    experiment = Experiment(
        name="order_blindness",
        title="The previous token, without any encoding",
        claim="Transformers lack recurrence and thus have no inherent sense of word order.",
        finding="True without a mask, contradicted with one: what a position may see tells the model where it stands.",
        conditions=tuple(Condition(label, task, more | {"encoding": "none"}) for label, more in settings.items()),
        guessing=BEST_GUESS,
    )
    return run(experiment, **options)


def encodings(own=None, **options):
    """Reversing with each encoding; ``own`` adds yours, a dict from label to a function that makes the module."""
    experiment = Experiment(
        name="encodings",
        title="Reversing 16 symbols with each encoding",
        claim="Try different encoding schemes (learned vs. fixed).",
        finding=(
            "Learned and fixed vectors do equally well here; rotary and ALiBi, which only tell how far apart two"
            " tokens are, do not say where the mirror image stands."
        ),
        conditions=by_encoding(tasks.reversing(), own=own),
        guessing=BEST_GUESS,
    )
    return run(experiment, **options)


def lengths(own=None, task=None, **options):
    """Trained at 16 symbols, tested at 16, 24, 32 and 64, with each encoding under a causal mask.

    ``own`` adds your encodings, as in ``encodings``; ``task`` is ``tasks.previous_token()`` by default.
    """
    task = task or tasks.previous_token()
    experiment = Experiment(
        name=f"lengths_{task.name.replace(' ', '_')}",
        title=f"Trained at {task.seq_len} symbols, tested at longer ones: {task.name}",
        claim="Experiment with different sequence lengths.",
        finding=(
            "Sinusoids can be computed for any position, yet a model cannot use those it was not trained on;"
            " a learned table has never trained those rows; rotary and ALiBi keep most."
        ),
        conditions=by_encoding(task, own=own, causal=True),
        lengths=tuple(int(task.seq_len * factor) for factor in (1, 1.5, 2, 4)),
    )
    return run(experiment, **options)


def heads(**options):
    """One head against many at width 32: two symbols asked for at once, and one."""
    conditions = [
        Condition(f"{question}, {count} {noun(count, 'head')}", task, {"num_heads": count})
        for question, task, counts in (
            ("two lookups", tasks.mirror_and_previous(), (1, 2, 8)),
            ("one lookup", tasks.reversing(), (1, 2, 8)),
        )
        for count in counts
    ]
    experiment = Experiment(
        name="heads",
        title="One head against many, at the same width",
        claim="Misconception: More heads always mean better performance.",
        finding=("A misconception indeed: two lookups at once gain from a second head, one lookup gains nothing."),
        conditions=tuple(conditions),
    )
    return run(experiment, **options)
