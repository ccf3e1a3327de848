"""The scale thermometer: what dividing the scores by √d_head, by √d_model or by nothing does to the softmax."""

import math
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np
import torch

from course import attention
from course.live import student
from course.live.charts import Axes
from course.live.explorer import Explorer
from course.live.parameters import Choice, Whole
from course.live.picture import Box, Frame, Panel, Text

BY_HEAD, OFF, BY_MODEL = "sqrt(d_head)", "none", "sqrt(d_model)"
NAMES = {BY_HEAD: "÷ √d_head", OFF: "no scale", BY_MODEL: "÷ √d_model"}
MAX_KEYS, MAX_HEAD, QUERIES = 64, 512, 64
PARAMETERS = (
    Whole("d_head", "d_head", 64, 1, MAX_HEAD),
    Whole("num_heads", "Heads", 8, 1, 16),
    Whole("seq_len", "Keys", 32, 1, MAX_KEYS),
    Choice("scale", "Scale", BY_HEAD, (BY_HEAD, OFF, BY_MODEL)),
)
EXERCISES = ("scaled_dot_product_attention",)
BINS = 32


def explore(student_function=None, **initial):
    """An explorer of the scale; takes a ``scaled_dot_product_attention``."""
    return Explorer("Scale thermometer", PARAMETERS, partial(frame, student_function), initial)


class Heat(NamedTuple):
    """What a softmax looks like, as means over its rows."""

    entropy: float  # in nats, at most log(keys)
    largest: float  # largest weight of a row
    gradient: float  # Frobenius norm of the softmax's Jacobian


@cache
def all_queries_and_keys():
    """Independent entries of mean 0 and variance 1, the case for which Var(q·k) = d_head; sliced, never redrawn."""
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(1, 1, rows, MAX_HEAD, generator=generator) for rows in (QUERIES, MAX_KEYS))


def queries_and_keys(d_head, seq_len):
    q, k = all_queries_and_keys()
    return q[..., :d_head], k[..., :seq_len, :d_head]


@lru_cache(maxsize=32)
def compute(d_head, num_heads, seq_len, scale):
    """Scores (64, keys) under this scale, and the heat of their softmax."""
    q, k = queries_and_keys(d_head, seq_len)
    factors = {BY_HEAD: None, OFF: 1.0, BY_MODEL: 1 / math.sqrt(d_head * num_heads)}
    scores = attention.attention_scores(q, k, factors[scale])
    return scores[0, 0].numpy(), heat(attention.masked_softmax(scores)[0, 0].numpy())


def heat(weights):
    """Heat of weights (T, S). The Jacobian of a row p is diag(p) − p·pᵀ."""
    weights = np.asarray(weights, dtype=np.float64)
    positive = np.where(weights > 0, weights, 1.0)
    squares = (weights**2).sum(-1)
    jacobian = np.sqrt(np.maximum(squares - 2 * (weights**3).sum(-1) + squares**2, 0))
    entropy = -(weights * np.log(positive)).sum(-1).mean()
    return Heat(max(0.0, float(entropy)), float(weights.max(-1).mean()), float(jacobian.mean()))  # 0.0 for -0.0, too


def frame(function, d_head, num_heads, seq_len, scale):
    """The frame for these parameters, with the student's function beside the course's where there is one."""
    scores, shown = compute(d_head, num_heads, seq_len, scale)
    rows = {NAMES[other]: compute(d_head, num_heads, seq_len, other)[1] for other in NAMES}
    summary, problem = describe(scores, rows, seq_len, scale), None
    if function is not None:
        try:
            q, k = queries_and_keys(d_head, seq_len)
            given = student.attention(function, q, k)
            rows["yours"] = heat(given[1][0, 0])
            right = attention.scaled_dot_product_attention(q, k, k)
            summary += " " + student.comparison_of_pair(function, right, given)
        except student.Complaint as complaint:
            problem = str(complaint)
    ledger = (
        ("d_model = H·d_head", f"{num_heads}·{d_head} = {num_heads * d_head}"),
        ("scores' standard deviation", f"{scores.std():.3g}"),
        ("entropy, at most log S", f"{shown.entropy:.3g} of {math.log(seq_len):.3g} nats"),
        ("largest weight", f"{shown.largest:.3g}, uniform is {1 / seq_len:.3g}"),
        ("softmax gradient (Jacobian's norm)", f"{shown.gradient:.3g}"),
    )
    panels = (histogram(scores, scale), *thermometers(rows, NAMES[scale], seq_len))
    return Frame(panels, ledger, summary, problem)


def describe(scores, rows, seq_len, scale):
    """Sentences with the numbers that stand out; ``rows`` maps the name of each scale to its heat."""
    if seq_len == 1:
        return "One key takes the whole weight, whatever the scale."
    shown, usual = rows[NAMES[scale]], rows[NAMES[BY_HEAD]]
    fullness = shown.entropy / math.log(seq_len)
    text = (
        f"Scores with {NAMES[scale]} spread by {scores.std():.2f}; the largest weight is {shown.largest:.2f} "
        f"on average and the entropy {100 * fullness:.0f} % of its maximum."
    )
    if shown.largest > 0.8:
        text += " The softmax is saturated: one key takes nearly all the weight."
    elif fullness > 0.98:
        text += " The softmax is nearly uniform: no key stands out."
    if scale != BY_HEAD:
        text += f" The softmax gradient is {shown.gradient:.2f}; with {NAMES[BY_HEAD]} it is {usual.gradient:.2f}."
    return text


def histogram(scores, scale):
    """How often each score occurs, over all queries and keys."""
    limit = float(np.abs(scores).max()) or 1.0
    counts, edges = np.histogram(scores, BINS, (-limit, limit))
    axes = Axes((-limit, limit), (0, max(1, counts.max())))
    marks = axes.frame(f"scores, {NAMES[scale]}", "score", "how often")
    width = edges[1] - edges[0]
    marks += [axes.bar(x + width / 2, width * 0.9, n, "blue") for x, n in zip(edges[:-1], counts, strict=True) if n]
    alt = (
        f"Histogram of {scores.size} scores, {NAMES[scale]}: standard deviation {scores.std():.2f}, largest {limit:.2f}"
    )
    return axes.panel(marks, alt)


def thermometers(rows, chosen, seq_len):
    """One panel of bars for entropy, largest weight and gradient; a bar for each way to scale."""
    limits = (
        ("entropy, nats", "entropy", math.log(seq_len) or 1.0),
        ("largest weight", "largest", 1.0),
        ("softmax gradient", "gradient", 0.5),  # a Jacobian's norm has no more: two keys with half the weight each
    )
    for title, field, limit in limits:
        values = {name: getattr(row, field) for name, row in rows.items()}
        marks = [Text(6, 14, f"{title}, 0 to {limit:.3g}", 12)]
        for i, (name, value) in enumerate(values.items()):
            y = 26 + 24 * i
            marks.append(Text(6, y + 12, name))
            marks.append(Box(88, y, 140 * min(1, value / limit), 16, "orange" if name == chosen else "sky"))
            marks.append(Box(88, y, 140, 16, None, "ink", faint=True))
            marks.append(Text(234, y + 12, f"{value:.3g}"))
        alt = f"{title}: " + ", ".join(f"{name} {value:.3g}" for name, value in values.items())
        yield Panel(290, 30 + 24 * len(values), tuple(marks), alt)
