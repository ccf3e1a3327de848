"""The order bench: shuffle a sentence, and see whether attention's output is shuffled with it or changed."""

from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np
import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.encoding import LearnedPositionalEncoding, add_sinusoidal_encoding, sinusoidal_encoding
from course.live import student
from course.live.charts import matrix, with_colour_scale
from course.live.explorer import Explorer
from course.live.parameters import Choice, Order, Whole
from course.live.picture import Frame
from course.live.sentence import WORDS, word_vectors
from course.live.wording import counted
from course.seeding import seeded

MAX_TOKENS = 16
WIDTH, NUM_HEADS = 32, 4
NONE, SINUSOIDAL, LEARNED, ALONG_BATCH = "none", "sinusoidal", "learned", "along the batch"
PARAMETERS = (
    Whole("seq_len", "Tokens", 8, 1, MAX_TOKENS),
    Whole("seed", "Shuffle by seed", 1, 0, 99),
    Choice("encoding", "Encoding", NONE, (NONE, SINUSOIDAL, LEARNED, ALONG_BATCH)),
    Order("order", "Order by hand"),
)
EXERCISES = ("add_positional_encoding", "LearnedPositionalEncoding", "order_sensitivity")
EQUIVARIANT = 1e-5  # an error below this is rounding in float32


def explore(student_function=None, **initial):
    """An explorer of word order; takes the function or class of any of the ``EXERCISES``."""
    return Explorer("Order bench", PARAMETERS, partial(frame, student_function), initial)


class Outputs(NamedTuple):
    """What attention makes of the sentence and of the shuffled sentence, item 0 of the batch, (T, WIDTH) each."""

    permuted_after: np.ndarray
    permuted_before: np.ndarray
    error: float  # mean absolute difference of the two, over the batch


class Encoded(nn.Module):
    """Attention after an encoding; returns (B, T, WIDTH) and the weights."""

    def __init__(self, encode):
        super().__init__()
        self.encode, self.attention = encode, layer()

    def forward(self, x):
        return self.attention(self.encode(x))


@cache
def layer():
    """One attention layer with weights that are the same in every session."""
    with seeded(0):
        return MultiHeadAttention(WIDTH, NUM_HEADS).eval().requires_grad_(False)


@cache
def learned():
    with seeded(0):
        table = LearnedPositionalEncoding(MAX_TOKENS, WIDTH).requires_grad_(False)
        nn.init.normal_(table.table)  # as large as the word vectors, as a trained table is
        return table


def along_batch(x):
    """The mistake of indexing the table by batch: every token of item b gets row b."""
    rows = sinusoidal_encoding(len(x), WIDTH)
    return x + torch.as_tensor(rows, dtype=x.dtype)[:, None]  # (B, 1, E)


def encoder(name):
    return {
        NONE: nn.Identity(),
        SINUSOIDAL: add_sinusoidal_encoding,
        LEARNED: learned(),
        ALONG_BATCH: along_batch,
    }[name]


def sentence(seq_len):
    """Word vectors (2, T, WIDTH): the sentence, and the same read backwards."""
    words = word_vectors()[:seq_len, :WIDTH]
    return torch.stack((words, words.flip(0)))


def permutation(seq_len, seed, order):
    """The order by hand where there is one, else by seed.

    An order for another length is kept as far as it goes: positions that do not exist are left out,
    those that it does not name follow in place.
    """
    if order is None:
        return tuple(int(p) for p in np.random.default_rng(seed).permutation(seq_len))
    return tuple(p for p in order if p < seq_len) + tuple(range(len(order), seq_len))


@lru_cache(maxsize=64)
def compute(order, name):
    """Outputs for the order (a tuple of positions) and the encoding of this name."""
    x, encode = sentence(len(order)), encoder(name)
    return outputs(encode(x), encode(x[:, list(order)]), order)


def outputs(encoded, encoded_shuffled, order):
    """Attend to both; each comes in as (B, T, WIDTH), already encoded."""
    after, before = layer()(encoded)[0][:, list(order)], layer()(encoded_shuffled)[0]
    return Outputs(after[0].numpy(), before[0].numpy(), float((after - before).abs().mean()))


def frame(function, seq_len, seed, encoding, order):
    """The frame for these parameters, with the student's function beside the course's where there is one."""
    whose_order = "seed" if order is None else "hand"  # which leaves the seed without effect
    order = permutation(seq_len, seed, order)
    shown = compute(order, encoding)
    panels = maps(shown, order, "")
    ledger = [
        ("sentence", " ".join(WORDS[:seq_len])),
        ("shuffled", " ".join(WORDS[p] for p in order)),
        (f"order, by {whose_order}", " ".join(map(str, order))),
        ("equivariance error", f"{shown.error:.2g}"),
    ]
    summary, problem = describe(shown, order, encoding), None
    if function is not None:
        try:
            note, more, error = students_part(function, order, encoding)
            panels += more
            ledger.append(("equivariance error, yours", f"{error:.2g}"))
            summary += " " + note
        except student.Complaint as complaint:
            problem = str(complaint)
    return Frame(tuple(panels), tuple(ledger), summary, problem)


def students_part(function, order, name):
    """A sentence about the student's result, its panels and its equivariance error."""
    kind = student.pick(function, *EXERCISES)
    if kind == "order_sensitivity":
        arguments = Encoded(encoder(name)).eval(), sentence(len(order)), torch.tensor(order)
        error = float(student.numbers(function, student.ask(function, *arguments), ()))
        return student.comparison(function, compute(order, name).error, error), [], error
    encode = students_table(function) if kind == "LearnedPositionalEncoding" else function
    x = sentence(len(order))
    added = student.tensor(function, student.ask(encode, x), tuple(x.shape))
    shuffled = student.tensor(function, student.ask(encode, x[:, list(order)]), tuple(x.shape))
    shown = outputs(added, shuffled, order)
    if kind == "LearnedPositionalEncoding":
        note = verdict(shown.error, order, "With your table")
    else:
        note = student.comparison(function, add_sinusoidal_encoding(x), added)
    return note, maps(shown, order, "yours, "), shown.error


@lru_cache(maxsize=4)
def students_table(function):
    """The student's layer, made once: a new random table at every move would hide what the move did."""
    with seeded(0):
        return student.ask(function, MAX_TOKENS, WIDTH)


def describe(shown, order, name):
    openings = {NONE: "Without positions", ALONG_BATCH: "With the encoding added along the batch"}
    return verdict(shown.error, order, openings.get(name, f"With the {name} encoding"))


def verdict(error, order, opening):
    """What the equivariance error says."""
    if len(order) == 1:
        return f"{opening}: one token has one order, so there is nothing to compare; take more tokens."
    if list(order) == sorted(order):
        return f"{opening}: the order is the sentence's own, so there is nothing to compare; shuffle it."
    if error < EQUIVARIANT:
        return (
            f"{opening}, the output is the same rows in the new order: equivariance error {error:.2g}. "
            "The layer cannot tell the two sentences apart."
        )
    return f"{opening}, the output has changed: equivariance error {error:.3f}. The layer tells the two orders apart."


def maps(shown, order, whose):
    """Output shuffled afterwards, output of the shuffled sentence, and their difference."""
    limit = float(max(np.abs(shown.permuted_after).max(), np.abs(shown.permuted_before).max()))
    difference = np.abs(shown.permuted_after - shown.permuted_before)
    words = [WORDS[p] for p in order]
    size = f"for {counted(len(order), 'token')} and {WIDTH} features"
    largest, mean = difference.max(), difference.mean()
    shared = {"rows": words, "side": (186, max(60, 14 * len(order))), "column_name": "feature"}
    span = {"low": -limit, "high": limit}
    first = matrix(
        shown.permuted_after,
        f"{whose}output, then shuffled",
        f"{whose}output of the sentence, shuffled afterwards, {size}",
        **shared,
        **span,
    )
    return [
        with_colour_scale(first, -limit, limit, "output"),
        matrix(
            shown.permuted_before,
            f"{whose}shuffled, then output",
            f"{whose}output of the shuffled sentence, {size}",
            **shared,
            **span,
        ),
        matrix(
            difference,
            f"{whose}difference, up to {largest:.2g}",
            f"{whose}absolute difference of the two outputs, at most {largest:.2g}, on average {mean:.2g}",
            **shared,
            high=limit,
        ),
    ]
