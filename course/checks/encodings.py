"""Checks of the sinusoidal encoding as a table (positional_encoding) and added to tokens (add_positional_encoding)."""

from itertools import chain

import numpy as np
import torch

from course.checks.attention_slips import dropped
from course.checks.candidate import OWN_ERROR
from course.checks.compare import (
    agrees,
    as_array,
    check_close,
    check_finite,
    check_numpy,
    check_shape,
    check_tensor,
    check_true,
    dtype_name,
    kind_of,
    likeliest,
    unless_squeezed,
)
from course.checks.encoding_slips import mistaken_odd_tables, mistaken_sums, mistaken_tables
from course.checks.exam import Check, check
from course.checks.exceptions import message_in
from course.checks.failure import CheckFailed
from course.checks.inputs import normal
from course.encoding import sinusoidal_encoding

ATOL = 1e-5  # what the exercises ask of the table, whether it is computed in float32 or in float64
_ROUGH = {"float16": 2e-3, "bfloat16": 2e-2}  # half precision costs the part about the table, not that about its values
_FORMULA = "Column j of row p is sin (j even) or cos (j odd) of p / 10000**(2*(j//2)/d_model)."
_SHAPE = "One row for each position, one column for each of the d_model dimensions: (seq_len, d_model)."
_ODD = "An odd d_model ends with a sine that has no cosine: d_model - d_model//2 sines, but d_model//2 cosines."
_OVERFLOWN = "Infinity comes from a power too large, NaN from 0/0: print the exponent, 2*(j//2)/d_model."
_WHOLE = "The table holds whole numbers: make it of floats, or the sines are cut off."
_COARSE = "Nearly right throughout: do not round the numbers, and keep to float32 or float64 on the way."
_TELLING = (23, 14)  # a size at which every slip looks different


@check("shape")
def table_shape(candidate, sizes):
    """sizes: (seq_len, d_model) pairs."""
    for seq_len, d_model in sizes:
        _table(candidate, seq_len, d_model)


@check("numbers by hand")
def table_by_hand(candidate, d_model, rows):
    """rows: {position: numbers} of a table with d_model columns, worked out on paper."""
    table = _table(candidate, max(rows) + 1, d_model)
    for position, expected in rows.items():
        row = as_array(table)[position]
        if not agrees(row, np.array(expected), _atol(table)):
            check_close(row, np.array(expected), _cause(candidate) or _FORMULA, f"row {position}", _atol(table))


@check("values")
def table_values(candidate, sizes):
    """sizes: (seq_len, d_model) pairs, d_model even."""
    for seq_len, d_model in sizes:
        table, expected = _table(candidate, seq_len, d_model), sinusoidal_encoding(seq_len, d_model)
        if not agrees(table, expected, _atol(table)):
            check_close(
                table,
                expected,
                _cause(candidate) or _FORMULA,
                f"{candidate.name}({seq_len}, {d_model})",
                _atol(table),
                suspects=mistaken_tables(seq_len, d_model),
            )


@check("odd d_model")
def table_odd(candidate, sizes):
    """sizes: (seq_len, d_model) pairs, d_model odd.

    Where even tables are right, odd ones are compared with the encoding. Where they are not, that has
    cost its points already: then it is enough that the last column is there and has a wave of its own.
    """
    even_is_right = _even_is_right(candidate)
    for seq_len, d_model in sizes:
        table = _odd_table(candidate, seq_len, d_model)
        name = f"{candidate.name}({seq_len}, {d_model})"
        if even_is_right:
            suspects = mistaken_odd_tables(seq_len, d_model)
            expected = sinusoidal_encoding(seq_len, d_model)
            check_close(table, expected, _ODD, name, _atol(table), suspects)
        elif d_model > 1 and seq_len > 20:
            others_finite = bool(np.isfinite(as_array(table)[:, :-1]).all())
            check_finite(table, _ODD if others_finite else _OVERFLOWN, name)
            last, before = as_array(table)[:, -1], as_array(table)[:, -2]
            own_wave = _is_wave(last) and (last != before).any()
            hint = _ODD if own_wave else _cause_of_odd(table, seq_len, d_model) or _ODD
            check_true(own_wave, f"the last column of {name} has no wave of its own.", hint)


@check("NumPy floats")
def table_kind(candidate, seq_len, d_model):
    """A NumPy array of float32 or float64."""
    table = candidate(seq_len, d_model)
    check_numpy(table)
    check_true(
        dtype_name(table) in ("float32", "float64"),
        f"the table is {dtype_name(table)}, wanted float32 or float64.",
        "Fill a table of floats, as np.zeros makes it: integers cut the sines off, half precision is too coarse.",
    )


@check("a fresh table at each call")
def table_fresh(candidate, seq_len, d_model):
    """What a caller writes into one table must not be in the next."""
    first = as_array(candidate(seq_len, d_model))  # a copy
    second, _ = candidate.after_overwriting(seq_len, d_model)
    check_true(
        agrees(second, first, atol=1e-6),
        "the second call returned the first call's table, with what was written into it.",
        "Make a new array at each call, or return a copy of the one that you keep.",
    )


def _table(candidate, seq_len, d_model):
    """The student's table, of the right shape; whether it is a NumPy array is for table_kind to judge."""
    table = candidate(seq_len, d_model)
    if isinstance(table, list | tuple | int | float):
        try:
            table = np.array(table, dtype=float)
        except (TypeError, ValueError):
            raise CheckFailed(f"the result is {kind_of(table)}.", "Return one NumPy array, nothing else.") from None
    as_array(table)  # says so when it is no array
    others = {
        (d_model, seq_len): "Rows are positions and columns are dimensions; here they are exchanged.",
        (
            seq_len,
            d_model - 1,
        ): "A column is missing: a token has d_model numbers, so the encoding needs as many.",
        (seq_len, d_model + 1): "There is a column too many: cut the table to d_model columns.",
        (seq_len + 1, d_model): "There is a row too many: the positions are 0 to seq_len - 1.",
        (seq_len - 1, d_model): "A row is missing: the positions are 0 to seq_len - 1.",
        (1, seq_len, d_model): "Leave the batch out: the table has no batch axis, only positions and dimensions.",
        (seq_len, 1, d_model): "Leave the batch out: the table has no batch axis, only positions and dimensions.",
        (d_model,): "That is one row: make one for each of the positions 0 to seq_len - 1.",
    }
    name = f"{candidate.name}({seq_len}, {d_model})"
    check_shape(table, (seq_len, d_model), others.get(tuple(table.shape), _SHAPE), name)
    return table


def _odd_table(candidate, seq_len, d_model):
    """As _table; an exception or a column too few is due to the odd width where the next even one shows neither."""
    try:
        return _table(candidate, seq_len, d_model)
    except CheckFailed as failure:
        raised = " raised " in failure.seen and "division by zero" not in failure.seen
        about_width = raised or "column" in failure.hint
        rows = d_model + 4  # not as many as columns: no axes swapped
        about_width = about_width and _has_even_table(candidate, rows, d_model + 1)
        raise CheckFailed(f"with d_model {d_model}, {failure.seen}", _ODD if about_width else failure.hint) from None


def _is_wave(column):
    """Whether a column moves, and as no noise does: from row to row smoothly, or with one frequency throughout.

    Every sine and cosine of a constant step c has f(p + 1) + f(p - 1) = 2 cos(c) f(p). The first and the last row are
    left out: other slips spoil them.
    """
    inner = column[1:-1]
    spread = ((inner - inner.mean()) ** 2).sum()
    if spread == 0:
        return False
    smooth = (np.diff(inner) ** 2).sum() < 0.5 * spread  # about 2 for independent numbers
    middle, around = inner[1:-1], inner[2:] + inner[:-2]
    step = (middle * around).sum() / ((middle**2).sum() or 1.0)
    return bool(smooth or np.abs(around - step * middle).max() < 0.05 * np.abs(inner).max())


def _has_even_table(candidate, seq_len, d_model):
    try:
        _table(candidate, seq_len, d_model)
    except CheckFailed:
        return False
    return True


def _atol(table):
    return _ROUGH.get(dtype_name(table), ATOL)


def _even_is_right(candidate):
    try:
        table = _table(candidate, *_TELLING)
    except CheckFailed:
        return False
    return agrees(table, sinusoidal_encoding(*_TELLING), _atol(table))


def _cause(candidate):
    """The hint of the slip that the candidate's table of a telling size shows, or None."""
    table = _table(candidate, *_TELLING)
    if "int" in dtype_name(table):
        return _WHOLE
    if cause := likeliest(table, mistaken_tables(*_TELLING), _atol(table)):
        return cause
    right, nearly = (agrees(table, sinusoidal_encoding(*_TELLING), atol) for atol in (_atol(table), 6e-3))
    return _COARSE if nearly and not right else None


def _cause_of_odd(table, seq_len, d_model):
    """The hint of the slip that a table with an odd d_model shows, or None."""
    slips = chain(mistaken_odd_tables(seq_len, d_model), mistaken_tables(seq_len, d_model))
    return _WHOLE if "int" in dtype_name(table) else likeliest(table, slips, _atol(table))


def on_own_or_lent(name, item):
    """The check ``item``, which also passes when it does so with the course's own ``name`` in the student's place.

    An answer may call what the student wrote for an earlier exercise; a mistake there has cost its points there.
    """

    def run(candidate):
        try:
            item.run(candidate)
        except CheckFailed as failure:
            candidate.lend(name)
            try:
                item.run(candidate)
            except CheckFailed:
                raise failure from None
            finally:
                candidate.give_back(name)

    return Check(item.title, run)


@check("x plus its encoding")
def sum_values(candidate, sizes):
    """sizes: (B, T, E) triples, B different from T."""
    for seed, shape in enumerate(sizes):
        x = normal(*shape, seed=seed)
        result = _sum(candidate, x)
        hint = "The encoding is added to x, so the shape stays (B, T, E)."
        if tuple(result.shape) == (*shape[:2], 2 * shape[2]):
            hint = "Add the encoding to x; here it stands beside it, concatenated."
        elif agrees(result, sinusoidal_encoding(*shape[1:]), ATOL):
            hint = "This is the encoding alone: add it to x."
        elif tuple(result.shape) == shape[1:]:
            hint = "This is one item of the batch: return all of them, (B, T, E)."
        check_shape(result, shape, unless_squeezed(result, shape, hint))
        expected = x + torch.as_tensor(sinusoidal_encoding(*shape[1:]), dtype=x.dtype)
        hint = "out[b, t] is x[b, t] plus row t of the sinusoidal encoding with E columns."
        suspects = chain(mistaken_sums(x), [dropped(as_array(result), as_array(expected))])
        check_close(result, expected, hint, atol=ATOL, suspects=suspects)


def _sum(candidate, x):
    """The student's sum, an array or a tensor; which of them, is for sum_keeps_kind to judge."""
    try:
        result = candidate(x)
    except CheckFailed as failure:
        hint = failure.hint
        if x.shape[2] % 2 and ("AssertionError" in failure.seen or hint == OWN_ERROR):
            hint = "An odd E is allowed: its encoding ends with a sine that has no cosine."
        elif any(word in message_in(failure.seen) for word in ("must match", "broadcast", "shape", "size")):
            hint = "The table needs x.shape[1] rows and x.shape[2] columns, not the batch size; no further axis"
            hint += ", and an odd E ends with a sine that has no cosine." if x.shape[2] % 2 else "."
        raise CheckFailed(failure.seen, hint) from None
    if isinstance(result, tuple | list):
        raise CheckFailed(f"the result is {kind_of(result)}.", "Return the sum alone, one tensor (B, T, E).")
    as_array(result)  # says so when it is no array
    return result


@check("a tensor, dtype and device kept")
def sum_keeps_kind(candidate, batch, time, width):
    """A tensor of x's dtype, on x's device."""
    for dtype in (torch.float32, torch.float64):
        x = normal(batch, time, width, dtype=dtype)
        result = _sum(candidate, x)
        check_tensor(result)
        check_true(
            result.dtype == dtype,
            f"the result is {dtype_name(result)} for x in {dtype_name(x)}.",
            "A NumPy table is float64 and torch makes float32: give the encoding the dtype of x before you add it.",
        )
    check_true(
        not candidate.mixes_devices(normal(batch, time, width)),
        "the encoding is not on the device of x.",
        "On a GPU this fails: move the encoding with .to(x.device), or make it there with device=x.device.",
    )


@check("a new tensor, x unchanged, gradients")
def sum_keeps_x(candidate, batch, time, width):
    """x is not written to, the result is another tensor, and a gradient goes back to x."""
    x = normal(batch, time, width)
    result, (after,) = candidate.observe(x)
    check_true(torch.equal(x, after), "x was changed in place.", "Make a new tensor with x + ...: += writes into x.")
    _, (after,) = candidate.after_overwriting(x)
    check_true(torch.equal(x, after), "the result is x itself.", "Return a new tensor: x + the encoding.")
    check_tensor(result)
    (gradient,) = candidate.gradients(normal(*result.shape, seed=1), x.requires_grad_())
    check_true(
        gradient is not None and bool((gradient != 0).any()),
        "no gradient goes back to x.",
        "Keep x in the graph: no detach, no no_grad, no torch.tensor(x), no way through NumPy.",
    )
