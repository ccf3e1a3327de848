"""Predict, then reveal: fill in a row of attention, and see where it misses."""

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from course import attention
from course.live import student
from course.live.explorer import Explorer
from course.live.parameters import Flag, Row, Whole
from course.live.picture import Box, Frame, Panel, Text
from course.live.sentence import WORDS, queries_and_keys

KEYS = 5
WIDTH = 16
ENTRIES = tuple(f"{word} ({s})" for s, word in enumerate(WORDS[:KEYS]))
PARAMETERS = (
    Whole("query", "Query", 2, 0, KEYS - 1),
    Row("guess", "Weight of", ENTRIES),
    Flag("revealed", "Reveal"),
)
EXERCISES = ("scaled_dot_product_attention",)
CLOSE = 0.05  # a miss that nobody reads off a row of scores by eye


def explore(student_function=None, **initial):
    """An explorer of one row of weights; takes a ``scaled_dot_product_attention``."""
    return Explorer("Predict, then reveal", PARAMETERS, partial(frame, student_function), initial)


class Answer(NamedTuple):
    scores: np.ndarray  # (5,)
    weights: np.ndarray  # (5,)
    out: np.ndarray  # (16,), with the keys as values


def queries_keys():
    """Queries and keys (1, 1, 5, 16)."""
    return tuple(x[None, None, :KEYS, :WIDTH] for x in queries_and_keys())


@lru_cache(maxsize=KEYS)
def compute(query):
    """The scores of one query, their softmax, and what comes out."""
    q, k = queries_keys()
    out, weights = attention.scaled_dot_product_attention(q, k, k)
    return Answer(*(x[0, 0, query].numpy() for x in (attention.attention_scores(q, k), weights, out)))


def frame(function, query, guess, revealed):
    """The frame for these parameters, with the student's function beside the course's where there is one."""
    answer = compute(query)
    row = np.array(guess or [0.0] * KEYS)
    bars = [("your guess", "sky", row)]
    problem = None
    summary = before(query, row)
    if revealed:
        bars.append(("attention", "orange", answer.weights))
        summary = after(query, row, answer.weights)
        if function is not None:
            try:
                out, weights = (part[0, 0, query] for part in student.attention(function, *queries_keys()))
                bars.append(("your function", "green", weights))
                right = answer.out, answer.weights
                summary += " " + student.comparison_of_pair(function, right, (out, weights))
            except student.Complaint as complaint:
                problem = str(complaint)
    ledger = tuple((f"score of {entry}", f"{score:+.2f}") for entry, score in zip(ENTRIES, answer.scores, strict=True))
    return Frame((bars_panel(query, bars),), ledger, summary, problem)


def before(query, row):
    text = (
        f"The scores of the query “{WORDS[query]}” (position {query}) are in the table. Which weights will they become?"
    )
    if row.any() and abs(row.sum() - 1) > CLOSE:
        text += f" Your row sums to {row.sum():.2f}; a row of attention sums to 1."
    return text


def after(query, row, weights):
    """The largest miss, in words."""
    if not row.any():
        return f"Nothing was predicted; “{WORDS[query]}” attends most to {ENTRIES[int(weights.argmax())]}."
    misses = row - weights
    worst = int(np.abs(misses).argmax())
    size = abs(misses[worst])
    total = f" Your row sums to {row.sum():.2f}, not to 1." if abs(row.sum() - 1) > CLOSE else ""
    if size <= CLOSE:
        return f"Every weight is within {size:.2f} of the attention.{total}"
    side = "too much" if misses[worst] > 0 else "too little"
    return (
        f"The largest miss is {ENTRIES[worst]}: you expected {row[worst]:.2f}, it gets {weights[worst]:.2f}, "
        f"so your guess is {size:.2f} {side}.{total}"
    )


def bars_panel(query, bars):
    """A group of bars for each key; ``bars`` holds (name, colour, weights)."""
    left, thick, length = 110, 14, 240
    group = thick * len(bars) + 14
    marks = [Text(6, 14, f"weights of the query “{WORDS[query]}” ({query}), 0 to 1", 12)]
    for i, (name, colour, _) in enumerate(bars):
        marks.append(Box(6 + 120 * i, 24, 12, 12, colour))
        marks.append(Text(22 + 120 * i, 34, name))
    for s, entry in enumerate(ENTRIES):
        y = 50 + group * s
        marks.append(Text(left - 8, y + thick * len(bars) / 2 + 4, entry, 11, "end"))
        marks.append(Box(left, y, length, group - 14, None, "ink", faint=True))
        for i, (_, colour, weights) in enumerate(bars):
            marks.append(Box(left, y + thick * i, length * min(1, max(0, weights[s])), thick - 1, colour))
            marks.append(Text(left + length + 6, y + thick * i + 11, f"{weights[s]:.2f}"))
    alt = "; ".join(
        f"{name}: " + ", ".join(f"{entry} {weight:.2f}" for entry, weight in zip(ENTRIES, weights, strict=True))
        for name, _, weights in bars
    )
    return Panel(400, 50 + group * KEYS, tuple(marks), f"Weights of the query {WORDS[query]} ({query}). {alt}")
