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
from course.live.wording import bytes_read, counted

PARAMETERS = (
    Whole("num_heads", "Heads", 4, 1, 16),
    Whole("seq_len", "Tokens", 8, 1, MAX_TOKENS),
    Whole("d_model", "d_model", 32, 4, MAX_WIDTH, step=4),
)
CUT = "d_head = d_model / H"
ROWS = (  # of the ledger, behind CUT
    "√d_head, the scale",
    "Q, K, V  (B, T, d_model)",
    "split  (B, H, T, d_head)",
    "weights  (B, H, T, S)",
    "heads' outputs  (B, H, T, d_head)",
    "merged  (B, T, d_model)",
    "parameters, the same for every H",
    "scores H·T², float32",
)
EXERCISES = ("split_heads", "head_width")


def explore(student_function=None, **initial):
    """An explorer of ``num_heads``, ``seq_len`` and ``d_model``; takes a ``split_heads`` or a ``head_width``."""
    return Explorer("Head splitter", PARAMETERS, partial(frame, student_function), initial)


class Heads(NamedTuple):
    weights: np.ndarray  # (H, T, T)
    shapes: tuple  # along the path, as text


@lru_cache(maxsize=8)  # a few recent moves; with 16 heads and 64 tokens one holds a quarter of a megabyte
def compute(num_heads, seq_len, d_model):
    """Attention of the sentence's first seq_len tokens; ValueError when d_model does not split."""
    q, k = queries_keys(seq_len, d_model)
    q_heads, k_heads = (attention.split_heads(x, num_heads) for x in (q, k))
    out, weights = attention.scaled_dot_product_attention(q_heads, k_heads, k_heads)
    shapes = q.shape, q_heads.shape, weights.shape, out.shape, attention.merge_heads(out).shape
    return Heads(weights[0].numpy(), tuple(str(tuple(shape)) for shape in shapes))


def queries_keys(seq_len, d_model):
    """The first rows and columns of the same Q and K, (1, T, d_model) each: moving a slider never redraws them."""
    return tuple(x[None, :seq_len, :d_model] for x in queries_and_keys())


def students_heads(function, num_heads, seq_len, d_model):
    """Queries and keys (1, H, T, d_head) as the student's split_heads cuts them."""
    shape = (1, num_heads, seq_len, d_model // num_heads)
    return [
        student.tensor(function, student.ask(function, x, num_heads), shape) for x in queries_keys(seq_len, d_model)
    ]


def frame(function, num_heads, seq_len, d_model):
    """The frame for these parameters, with the student's function beside the course's where there is one."""
    try:
        heads = compute(num_heads, seq_len, d_model)
    except ValueError as error:
        return unsplittable(function, num_heads, seq_len, d_model, error)
    panels = [overview(d_model, num_heads, float(heads.weights.max())), *maps(heads.weights, "head")]
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
    q, k = students_heads(function, num_heads, seq_len, d_model)
    weights = attention.masked_softmax(attention.attention_scores(q, k))[0].numpy()
    right = attention.split_heads(queries_keys(seq_len, d_model)[0], num_heads)
    return student.comparison(function, right, q), maps(weights, "your head")


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
        (overview(d_model, num_heads), *hollow_maps(num_heads, seq_len)),
        ledger=((CUT, f"{d_model} / {num_heads} is not whole"), *((name, "–") for name in ROWS)),
        summary=f"{left_over(num_heads, d_model)} Nearest head counts that work: {counts}.",
        problem=problem,
    )


def left_over(num_heads, d_model):
    """What does not come out even, as a sentence."""
    if num_heads > d_model:
        return f"{counted(d_model, 'column')} cannot be cut into {num_heads} heads."
    columns = counted(d_model // num_heads, "column")
    return f"{num_heads} heads of {columns} leave {d_model % num_heads} of the {d_model} columns over."


def nearest_counts(num_heads, d_model):
    """The nearest divisors of d_model below and above num_heads that the slider reaches."""
    divisors = [n for n in range(1, PARAMETERS[0].high + 1) if d_model % n == 0]
    below = [n for n in divisors if n < num_heads][-1:]
    return below + [n for n in divisors if n > num_heads][:1]


def ledger_rows(heads, num_heads, seq_len, d_model):
    d_head, scores = d_model // num_heads, num_heads * seq_len**2
    values = (
        f"{d_head**0.5:.2f}",
        *heads.shapes,
        f"{attention.parameter_count(d_model, num_heads):,}",
        f"{num_heads}·{seq_len}² = {scores:,} ({bytes_read(attention.score_memory(num_heads, seq_len))})",
    )
    return ((CUT, f"{d_model} / {num_heads} = {d_head}"), *zip(ROWS, values, strict=True))


def describe(weights, d_model):
    """One or two sentences with the numbers that stand out."""
    num_heads, seq_len, _ = weights.shape
    cut = f"d_model {d_model} is cut into {num_heads} heads of {counted(d_model // num_heads, 'column')}."
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
        f"Attention of {name}, {counted(len(head), 'query', 'queries')} by {counted(len(head), 'key')}: largest weight "
        f"{head[t, s]:.2f}, from {WORDS[t]} at {t} to {WORDS[s]} at {s}; on average {own:.2f} on the token itself"
    )


def overview(d_model, num_heads, high=1.0):
    """The columns of a token, and the colours of the maps, which stand side by side below it."""
    return with_colour_scale(columns_panel(d_model, num_heads), 0, high, "attention weight")._replace(alone=True)


def columns_panel(d_model, num_heads):
    """The d_model columns of a token as one bar, cut where a head begins; what is left over is hollow."""
    width, left, top = 400, 10, 26
    d_head = max(1, d_model // num_heads)
    column = width / d_model
    whole = min(num_heads, d_model // d_head) if d_model >= num_heads else 0
    marks = [Text(left, 14, f"{d_model} columns of one token, {counted(num_heads, 'head')}", 12)]
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
    alt = f"{d_model} columns cut into {counted(whole, 'head')} of {d_head}" + (f", {rest} left over" if rest else "")
    return Panel(width + 20, 74, tuple(marks), alt)
