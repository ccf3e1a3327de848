"""The head splitter: one Q and one K, cut into heads as the sliders say."""

from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np

from course import attention
from course.live import student
from course.live.charts import matrix, with_colour_scale
from course.live.explorer import Explorer
from course.live.parameters import Whole
from course.live.picture import Box, Frame, Line, Panel, Text
from course.live.sentence import MAX_TOKENS, MAX_WIDTH, WORDS, queries_and_keys

PARAMETERS = (
    Whole("num_heads", "Heads", 4, 1, 16),
    Whole("seq_len", "Tokens", 8, 1, MAX_TOKENS),
    Whole("d_model", "d_model", 32, 4, MAX_WIDTH, step=4),
)
EXERCISES = ("split_heads", "head_width")


def explore(student_function=None, **initial):
    """An explorer of ``num_heads``, ``seq_len`` and ``d_model``; takes a ``split_heads`` or a ``head_width``."""
    return Explorer("Head splitter", PARAMETERS, partial(frame, student_function), initial)


class Heads(NamedTuple):
    weights: np.ndarray  # (H, T, T)
    shapes: tuple  # (name, shape) along the path


@lru_cache(maxsize=8)  # a few recent moves; with 16 heads and 64 tokens one holds a quarter of a megabyte
def compute(num_heads, seq_len, d_model):
    """Attention of the sentence's first seq_len tokens; ValueError when d_model does not split."""
    q, k = queries_keys(seq_len, d_model)
    q_heads, k_heads = (attention.split_heads(x, num_heads) for x in (q, k))
    out, weights = attention.scaled_dot_product_attention(q_heads, k_heads, k_heads)
    shapes = (
        ("Q, K, V  (B, T, d_model)", q.shape),
        ("split  (B, H, T, d_head)", q_heads.shape),
        ("weights  (B, H, T, S)", weights.shape),
        ("heads' outputs  (B, H, T, d_head)", out.shape),
        ("merged  (B, T, d_model)", attention.merge_heads(out).shape),
    )
    return Heads(weights[0].numpy(), tuple((name, str(tuple(shape))) for name, shape in shapes))


def queries_keys(seq_len, d_model):
    """The first rows and columns of the same Q and K, (1, T, d_model) each: moving a slider never redraws them."""
    return tuple(x[None, :seq_len, :d_model] for x in queries_and_keys())


def students_weights(function, num_heads, seq_len, d_model):
    """Weights (H, T, T) made with the student's split_heads."""
    shape = (1, num_heads, seq_len, d_model // num_heads)
    halves = (student.ask(function, x, num_heads) for x in queries_keys(seq_len, d_model))
    q, k = (student.tensor(function, half, shape) for half in halves)
    return attention.masked_softmax(attention.attention_scores(q, k))[0].numpy()


def frame(function, num_heads, seq_len, d_model):
    """The frame for these parameters, with the student's function beside the course's where there is one."""
    try:
        heads = compute(num_heads, seq_len, d_model)
    except ValueError as error:
        return unsplittable(function, num_heads, seq_len, d_model, error)
    overview = with_colour_scale(columns_panel(d_model, num_heads), 0, float(heads.weights.max()), "attention weight")
    panels = [overview, *maps(heads.weights, "head")]
    ledger = ledger_rows(heads, num_heads, seq_len, d_model)
    summary, problem = describe(heads.weights, d_model), None
    if function is not None:
        try:
            note, more = students_part(function, heads, num_heads, seq_len, d_model)
            panels += more
            summary += " " + note
        except student.Complaint as complaint:
            problem = str(complaint)
    return Frame(tuple(panels), ledger, summary, problem)


def students_part(function, heads, num_heads, seq_len, d_model):
    """A sentence about the student's result, and its maps where it makes any."""
    if student.pick(function, *EXERCISES) == "head_width":
        width = student.ask(function, d_model, num_heads)
        return student.comparison(function, d_model // num_heads, student.numbers(function, width, ())), []
    weights = students_weights(function, num_heads, seq_len, d_model)
    return student.comparison(function, heads.weights, weights), maps(weights, "your head")


def unsplittable(function, num_heads, seq_len, d_model, error):
    """The frame for a head count that does not divide d_model: the error, and the nearest counts that work."""
    problem = f"ValueError: {error}."
    if function is not None:
        argument = d_model if student.pick(function, *EXERCISES) == "head_width" else queries_keys(seq_len, d_model)[0]
        try:
            student.ask(function, argument, num_heads)
            problem += f" Your {student.title(function)} raised nothing."
        except student.Complaint as complaint:
            problem = str(complaint)
    counts = " or ".join(map(str, nearest_counts(num_heads, d_model)))
    return Frame(
        (columns_panel(d_model, num_heads), *hollow_maps(num_heads, seq_len)),
        ledger=(("d_head = d_model / H", f"{d_model} / {num_heads} is not whole"),),
        summary=f"{num_heads} heads of {d_model // num_heads} columns leave {d_model % num_heads} of the {d_model} "
        f"columns over. Nearest head counts that work: {counts}.",
        problem=problem,
    )


def nearest_counts(num_heads, d_model):
    """The nearest divisors of d_model below and above num_heads that the slider reaches."""
    divisors = [n for n in range(1, PARAMETERS[0].high + 1) if d_model % n == 0]
    below = [n for n in divisors if n < num_heads][-1:]
    return below + [n for n in divisors if n > num_heads][:1]


def ledger_rows(heads, num_heads, seq_len, d_model):
    d_head = d_model // num_heads
    return (
        ("d_head = d_model / H", f"{d_model} / {num_heads} = {d_head}"),
        ("√d_head, the scale", f"{d_head**0.5:.2f}"),
        *heads.shapes,
        ("parameters, the same for every H", f"{attention.parameter_count(d_model, num_heads):,}"),
        (
            "scores H·T², float32",
            f"{num_heads}·{seq_len}² = {num_heads * seq_len**2:,} "
            f"({attention.score_memory(num_heads, seq_len) / 1024:.1f} KiB)",
        ),
    )


def describe(weights, d_model):
    """One or two sentences with the numbers that stand out."""
    num_heads, seq_len, _ = weights.shape
    cut = f"d_model {d_model} is cut into {num_heads} heads of {d_model // num_heads} columns."
    if num_heads == 1:
        cut = f"One head keeps all {d_model} columns."
    if seq_len == 1:
        return f"{cut} One token can attend only to itself, with weight 1."
    h, t, s = np.unravel_index(weights.argmax(), weights.shape)
    return (
        f"{cut} The largest weight is {weights[h, t, s]:.2f}: in head {h}, “{WORDS[t]}” (position {t}) attends to "
        f"“{WORDS[s]}” (position {s})."
    )


def maps(weights, name):
    """One panel for each head of weights (H, T, T); bright is the largest weight of all."""
    high = float(weights.max())
    return [
        head_map(head, f"{name} {h}", map_text(head, f"{name} {h}"), len(weights), high)
        for h, head in enumerate(weights)
    ]


def hollow_maps(num_heads, seq_len):
    """Empty panels where the maps would stand, so that the page keeps its height while a slider passes by."""
    nothing = np.full((seq_len, seq_len), np.nan)
    return [head_map(nothing, f"head {h}", f"No map of head {h}", num_heads) for h in range(num_heads)]


def head_map(head, name, alt, num_heads, high=1.0):
    """The panel of one head's weights (T, T)."""
    words = WORDS[: len(head)]
    axes = {"rows": words, "columns": words, "row_name": "query", "column_name": "key"}
    return matrix(head, name, alt, **axes, high=high, side=150 if num_heads <= 8 else 120)


def map_text(head, name):
    """Alternative text of one head's weights (T, T)."""
    t, s = np.unravel_index(head.argmax(), head.shape)
    own = float(np.diagonal(head).mean())
    return (
        f"Attention of {name}, {len(head)} queries by {len(head)} keys: largest weight {head[t, s]:.2f}, from "
        f"{WORDS[t]} at {t} to {WORDS[s]} at {s}; on average {own:.2f} on the token itself"
    )


def columns_panel(d_model, num_heads):
    """The d_model columns of a token as one bar, cut where a head begins; what is left over is hollow."""
    width, left, top = 400, 10, 26
    d_head = max(1, d_model // num_heads)
    column = width / d_model
    whole = min(num_heads, d_model // d_head) if d_model >= num_heads else 0
    marks = [Text(left, 14, f"{d_model} columns of one token, {num_heads} heads", 12)]
    for h in range(whole):
        x = left + h * d_head * column
        marks.append(Box(x, top, d_head * column, 26, "sky" if h % 2 else "blue"))
        if d_head * column > 16:
            marks.append(Text(x + d_head * column / 2, top + 42, str(h), 11, "middle"))
    marks.append(Box(left, top, width, 26, None, "ink"))
    if column >= 4:
        edges = (left + c * column for c in range(1, d_model))
        marks += [Line(((x, top), (x, top + 26)), width=0.5, faint=True) for x in edges]
    rest = d_model - whole * d_head
    alt = f"{d_model} columns cut into {whole} heads of {d_head}" + (f", {rest} left over" if rest else "")
    return Panel(width + 20, 74, tuple(marks), alt)
