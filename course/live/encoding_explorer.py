"""The encoding explorer: the sinusoidal table, its wavelengths, its dot products, and the rotation that a step is."""

import math
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np
import torch

from course import encoding
from course.live import student
from course.live.charts import CHARACTER, Axes, legend, matrix, with_colour_scale
from course.live.explorer import Explorer
from course.live.parameters import Choice, Flag, Whole
from course.live.picture import Disc, Frame, Line, Panel, Text
from course.live.wording import counted, tiny

MAX_WIDTH = 512
PARAMETERS = (
    Whole("seq_len", "Tokens", 50, 1, 512),
    Whole("d_model", "d_model", 16, 1, MAX_WIDTH),
    Whole("position", "Position p", 10, 0, 511),
    Whole("offset", "Offset k", 3, 0, 64),
    Choice("base", "Base", encoding.BASE, (10, 100, 1_000, 10_000, 100_000, 1_000_000)),
    Flag("projected", "Project to queries and keys"),
)
EXERCISES = ("positional_encoding", "repaired_positional_encoding", "rotation_matrix")
CLOCKS = 8  # pairs that are drawn as clocks; the slower ones hardly move


def explore(student_function=None, **initial):
    """An explorer of the sinusoidal encoding; takes a ``positional_encoding`` or a ``rotation_matrix``."""
    return Explorer("Encoding explorer", PARAMETERS, partial(frame, student_function), initial)


class Encoding(NamedTuple):
    table: np.ndarray  # (T, d_model)
    here: np.ndarray  # PE(p), (d_model,)
    there: np.ndarray  # PE(p + k), (d_model,)
    wavelengths: np.ndarray  # (ceil(d_model / 2),)
    dots_from_start: np.ndarray  # q(0)·k(j), (T,)
    dots_from_here: np.ndarray  # q(p)·k(j), (T,)
    residual: float  # ‖PE(p+k) − R_k·PE(p)‖, None when d_model is odd


@lru_cache(maxsize=8)  # at most 2 MB each, for 512 tokens of width 512
def compute(seq_len, d_model, position, offset, base, projected):
    """All numbers of the picture."""
    rows = encoding.sinusoidal_encoding(max(seq_len, position + offset + 1), d_model, base)
    table, here, there = rows[:seq_len], rows[position], rows[position + offset]
    queries, keys = rows[[0, position]], table
    if projected:
        to_query, to_key = projections(d_model)
        queries, keys = product(queries, to_query), product(keys, to_key)
    from_start, from_here = product(queries, keys.T)
    residual = None
    if d_model % 2 == 0:
        turned = product(encoding.rotation_matrix(offset, d_model, base), here)
        residual = float(np.linalg.norm(there - turned))
    return Encoding(
        table,
        here,
        there,
        encoding.wavelengths(d_model, base),
        from_start,
        from_here,
        residual,
    )


def product(left, right):
    """left @ right in torch, which ``student.computing`` keeps to one thread, as it cannot NumPy's BLAS."""
    return (torch.from_numpy(left) @ torch.from_numpy(right)).numpy()


@cache
def widest_projections():
    generator = torch.Generator().manual_seed(0)
    return tuple(torch.randn(MAX_WIDTH, MAX_WIDTH, generator=generator, dtype=torch.float64).numpy() for _ in range(2))


def projections(d_model):
    """Two random maps (d_model, d_model), as W_q and W_k are before training; they keep the size of a vector."""
    return tuple(whole[:d_model, :d_model] / math.sqrt(d_model) for whole in widest_projections())


def frame(function, seq_len, d_model, position, offset, base, projected):
    """The frame for these parameters, with the student's function beside the course's where there is one."""
    shown = compute(seq_len, d_model, position, offset, base, projected)
    panels = [
        heatmap(shown.table, "PE, the course's", position),
        clocks(shown, offset),
        wavelength_panel(shown.wavelengths, seq_len),
        dots_panel(shown, position, projected),
    ]
    ledger = [
        ("wavelengths", f"{span(shown.wavelengths, ' … ')} positions"),
        ("longer than the sequence", f"{(shown.wavelengths > seq_len).sum()} of {len(shown.wavelengths)}"),
        ("‖PE(p)‖²", f"{shown.here @ shown.here:.4g}"),
        ("‖PE(p+k) − R_k·PE(p)‖", "no R_k: d_model is odd" if d_model % 2 else tiny(shown.residual)),
    ]
    summary, problem = describe(shown, position, offset, projected), None
    if function is not None:
        try:
            note, more, rows = students_part(function, shown, position, offset)
            panels[1:1] = more
            ledger += rows
            summary += " " + note
        except student.Complaint as complaint:
            problem = str(complaint)
    return Frame(tuple(panels), tuple(ledger), summary, problem)


def students_part(function, shown, position, offset):
    """A sentence about the student's result, its panels and its rows of the ledger."""
    seq_len, d_model = shown.table.shape
    if student.pick(function, *EXERCISES) == "rotation_matrix":
        return students_rotation(function, d_model, position, offset)
    table = student.numbers(function, student.ask(function, seq_len, d_model), (seq_len, d_model))
    note = student.comparison(function, encoding.sinusoidal_encoding(seq_len, d_model), table)
    return f"At base {encoding.BASE:,}: {note}", [heatmap(table, "PE, yours", position)], []


def students_rotation(function, d_model, position, offset):
    """The residual that the student's R_k leaves, at the base that the exercise names."""
    if d_model % 2:
        student.ask(function, offset, d_model)  # its ValueError is what is wanted, and is shown
        raise student.Complaint(f"Your {student.title(function)} accepted d_model {d_model}: ValueError was wanted.")
    turn = student.numbers(function, student.ask(function, offset, d_model), (d_model, d_model))
    rows = encoding.sinusoidal_encoding(position + offset + 1, d_model)
    residual = np.linalg.norm(rows[position + offset] - product(turn, rows[position]))
    note = student.comparison(function, encoding.rotation_matrix(offset, d_model), turn)
    return note, [], [(f"with your R_k, base {encoding.BASE:,}", tiny(residual))]


def describe(shown, position, offset, projected):
    """Two sentences with the numbers that stand out."""
    seq_len, d_model = shown.table.shape
    slow = int((shown.wavelengths > seq_len).sum())
    waves = (
        f"Of {counted(len(shown.wavelengths), 'wave')}, {slow or 'none'} {'is' if slow < 2 else 'are'} longer than "
        f"the {counted(seq_len, 'position')} shown."
    )
    if shown.residual is None:
        step = f"d_model {d_model} is odd: its last sine has no cosine to turn with, so no rotation makes the step."
    else:
        step = (
            f"Turning each pair of PE({position}) by {counted(offset, 'step')} gives PE({position + offset}) "
            f"{f'up to {tiny(shown.residual)}' if shown.residual else 'exactly'}."
        )
    dots = "With projections, the dot products depend on the position as well as on the distance." if projected else ""
    return " ".join(filter(None, (waves, step, dots)))


def span(waves, to):
    """The shortest and the longest of the wavelengths, or the only one."""
    return f"{waves[0]:.2f}" if len(waves) == 1 else f"{waves[0]:.2f}{to}{waves[-1]:,.1f}"


def heatmap(table, title, position):
    """The table with its colour scale; two thin lines hold the row of the cursor."""
    seq_len, d_model = table.shape
    size = f"{counted(seq_len, 'position')} by {counted(d_model, 'dimension')}"
    cursor = f"the cursor is on position {position}" if position < seq_len else f"position {position} lies beyond it"
    alt = f"{title}: {size}, values {table.min():.2f} to {table.max():.2f}; {cursor}"
    panel = matrix(
        table, title, alt, low=-1, high=1, side=(300, 220), row_name="position", column_name="embedding dimension"
    )
    left, top = 22, 22
    marks = [
        *panel.marks,
        Text(left - 2, top + 8, "0", 10, "end"),
        Text(left - 2, top + 220, str(seq_len - 1), 10, "end"),
        Text(left, top + 234, "0", 10),
        Text(left + 300, top + 234, str(d_model - 1), 10, "end"),
    ]
    if position < seq_len:
        height = 220 / seq_len
        for y in (top + position * height, top + (position + 1) * height):
            marks.append(Line(((left, y), (left + 300, y)), "orange", 1))
        marks.append(Text(left + 304, top + (position + 0.5) * height + 4, "p"))
    return with_colour_scale(panel._replace(width=panel.width + 6, marks=tuple(marks)), -1, 1, "value", left)


def wavelength_panel(waves, seq_len):
    """One disc for each pair: its wavelength on a log axis, with the sentence's length drawn in."""
    axes = Axes((1, max(10.0, waves.max() * 1.5, seq_len * 1.5)), (len(waves) - 0.5, -0.5), log_x=True, whole="y")
    marks = axes.frame("wavelength of each pair", "positions for one turn (log scale)", "pair")
    marks += [Disc(axes.x(wave), axes.y(i), 3 if len(waves) <= 64 else 1.5, "blue") for i, wave in enumerate(waves)]
    marks.append(axes.upright(seq_len, colour="orange", dashed=True))
    x, name = axes.x(seq_len), f"length {seq_len}"
    fits = x + 4 + CHARACTER * len(name) <= axes.right
    marks.append(Text(x + 4, axes.bottom - 6, name) if fits else Text(x - 4, axes.top + 10, name, anchor="end"))
    alt = f"Wavelengths, of {counted(len(waves), 'pair')}: {span(waves, ' to ')} positions; length {seq_len} marked"
    return axes.panel(marks, alt)


def dots_panel(shown, position, projected):
    """Dot products against distance, once from position 0 and once from the cursor."""
    seq_len, d_model = shown.table.shape
    near, far = np.arange(seq_len) - position, np.arange(seq_len)
    both = np.concatenate((shown.dots_from_here, shown.dots_from_start, [0.0]))
    room = 0.25 * (np.ptp(both) or 1)  # for the legend, above all lines
    axes = Axes((min(-1, near.min()), max(1, far.max())), (both.min(), both.max() + room), whole="x")
    name = "q(i)·k(j)" if projected else "PE(i)·PE(j)"
    marks = axes.frame(f"{name} against distance", "distance j − i", "")
    marks.append(axes.level(0, width=1, faint=True))
    if seq_len == 1:  # a line of one point would not be seen
        marks.append(Disc(axes.x(near[0]), axes.y(shown.dots_from_here[0]), 5, "blue"))
        marks.append(Disc(axes.x(far[0]), axes.y(shown.dots_from_start[0]), 3, "orange"))
    marks.append(axes.line(near, shown.dots_from_here, "blue", width=3))
    marks.append(axes.line(far, shown.dots_from_start, "orange", dashed=True))
    lines = ("blue", False, f"from i = {position}"), ("orange", True, "from i = 0")
    marks += legend(lines, axes.right - 96, axes.top + 4)
    closest = shown.dots_from_start[0]
    alt = (
        f"{name} against distance for {counted(seq_len, 'position')} of width {d_model}: {closest:.2f} at distance 0 "
        f"from position 0, {both.min():.2f} at the least"
    )
    return axes.panel(marks, alt)


def degrees(offset, wavelength):
    """The angle of a pair after so many steps, whole turns counted: 172°, or 3,667°."""
    turn = 360 * offset / wavelength
    return f"{turn:,.0f}°" if turn >= 1000 else f"{turn:.3g}°"


def clocks(shown, offset):
    """The first pairs as clocks: a thin hand for PE(p), a thick one for PE(p+k)."""
    d_model = shown.table.shape[1]
    pairs = min(CLOCKS, d_model // 2)
    radius, step = 36, 92
    marks = [Text(6, 14, "pairs (sin, cos): thin at p, thick at p + k", 12)]
    for i in range(pairs):
        x, y = 46 + step * (i % 4), 66 + 122 * (i // 4)
        circle = [(x + radius * math.sin(a), y - radius * math.cos(a)) for a in np.linspace(0, 2 * math.pi, 37)]
        marks.append(Line(tuple(circle), width=1, faint=True))
        for row, colour, width in ((shown.here, "blue", 1.5), (shown.there, "orange", 3)):
            sine, cosine = row[2 * i : 2 * i + 2]
            marks.append(Line(((x, y), (x + radius * sine, y - radius * cosine)), colour, width))
        marks.append(Text(x, y + radius + 16, f"pair {i}: {degrees(offset, shown.wavelengths[i])}", 11, "middle"))
    if not pairs:
        marks.append(Text(6, 40, "d_model 1 is a single sine: there is no pair."))
    turns = [f"pair {i} by {degrees(offset, wave)}" for i, wave in enumerate(shown.wavelengths[:pairs])]
    alt = f"Clocks: offset {offset} turns {', '.join(turns) or 'nothing, for there is no pair'}"
    return Panel(376, 270 if pairs > 4 else 150, tuple(marks), alt)
