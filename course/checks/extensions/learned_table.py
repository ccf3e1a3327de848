"""Checks of LearnedPositionalEncoding, a trainable table whose row p is added at position p.

``case`` is (max_len, d_model), the two different. How the parameter is laid out is the student's choice, as long as
its entries can be told apart as rows of positions; without a usable parameter the table is what the layer adds.
"""

import numpy as np
import torch
from torch import nn

from course.checks.compare import (
    SINGLE,
    agrees,
    as_array,
    check_close,
    check_finite,
    check_shape,
    check_tensor,
    check_true,
    dtype_name,
)
from course.checks.exam import check
from course.checks.exceptions import hint_for, message_in
from course.checks.failure import CheckFailed
from course.checks.inputs import normal
from course.encoding import sinusoidal_encoding

_ROW = "Token t of every item gets row t of the table: return x + table[:T], T being x.shape[1]."
_ONE = "Exactly one nn.Parameter with max_len * d_model entries, made in __init__ and kept in an attribute of self."
_GRAPH = "Stay in torch from the parameter to the result: no .data, .detach(), no_grad or NumPy."


@check("one trainable table")
def learned_structure(candidate, cases):
    """Exactly one parameter, trainable, of max_len * d_model entries."""
    for case in cases:
        layer = candidate.build(*case)
        parameters, trainable = layer.parameters(), layer.trainable()
        count, wanted = sum(value.numel() for value in parameters.values()), case[0] * case[1]
        sizes = " and ".join(str(tuple(value.shape)) for value in parameters.values())
        check_true(
            bool(parameters),
            "the layer has no parameter.",
            f"{_ONE} A plain tensor or a buffer is not trained.",
        )
        check_true(
            len(trainable) == len(parameters),
            "the table does not ask for a gradient.",
            "A learned table is trained: leave requires_grad at True.",
        )
        check_true(len(parameters) == 1, f"there are {len(parameters)} parameters, {sizes}.", _ONE)
        check_true(count == wanted, f"the parameter has {count} entries, shape {sizes}.", _ONE)


@check("random at the start")
def learned_start(candidate, case):
    """Rows that differ from each other, and entries of a row too; not the sinusoids."""
    max_len, d_model = case
    layer = candidate.build(*case)
    name = _table_name(layer, max_len, d_model)
    check_true(name is not None, "there is no table among the parameters.", _ONE)
    table = as_array(_as_rows(layer.parameters()[name], max_len, d_model))
    check_finite(table, "Start with torch.randn: torch.empty holds whatever is in memory.", "the table")
    rows_differ = all((table[p] != table[p - 1]).any() for p in range(1, max_len))
    columns_differ = all((table[:, j] != table[:, j - 1]).any() for j in range(1, d_model))
    check_true(
        rows_differ and columns_differ,
        "rows or columns of the new table are equal.",
        "Start with random entries, torch.randn(max_len, d_model): equal ones get equal gradients in the beginning.",
    )
    for seen, found in (
        ("the sinusoids", agrees(table, sinusoidal_encoding(max_len, d_model))),
        ("entries that follow each other in equal steps", _is_ladder(table)),
    ):
        check_true(not found, f"the new table holds {seen}.", "The learned encoding starts with random entries.")


def _is_ladder(table):
    """Whether all rows differ from the next by one and the same number, and all columns too, as arange leaves them."""
    return all(float(np.ptp(np.diff(table, axis=axis))) < SINGLE for axis in (0, 1))


@check("row p at position p")
def learned_values(candidate, case, shapes):
    """shapes: (B, T) pairs, T and B below max_len, where no refusal is in question; in eval and in train mode."""
    max_len, d_model = case
    layer = candidate.build(*case)
    table = _loaded_table(layer, max_len, d_model)
    for seed, (batch, time) in enumerate(shapes):
        x = normal(batch, time, d_model, seed=seed)
        result = _on_rows(layer.eval(), x)
        _check_sum(result, x, table)
        check_true(
            agrees(layer(x), result),
            "the same call gives another result the second time.",
            "Row p belongs to position p in every call: keep nothing in self but the table.",
        )
        check_true(
            agrees(layer.train()(x), result),
            "the result in train mode differs from that in eval mode.",
            "Leave dropout out: the rows are added as they are.",
        )


@check("any dtype")
def learned_dtype(candidate, case, batch, time):
    """In float32 as it is made and after .to(torch.float32), in float64 after .to(torch.float64)."""
    layer = candidate.build(*case)
    made = layer(normal(batch, time, case[1]))
    check_true(
        getattr(made, "dtype", None) == torch.float32,
        "x in float32 does not give float32.",
        "NumPy makes float64: convert the table, with .float() or dtype=torch.float32, before it becomes a parameter.",
    )
    for dtype in (torch.float32, torch.float64):
        result = layer.to(dtype)(normal(batch, time, case[1], dtype=dtype))
        check_true(
            hasattr(result, "dtype") and dtype_name(result) == dtype_name(torch.empty(0, dtype=dtype)),
            f"a layer in {dtype} does not give {dtype}.",
            "Add the parameter as it is, without a dtype of its own.",
        )


@check("gradients, x unchanged")
def learned_gradients(candidate, case, batch, time):
    """A gradient reaches x and the table, where the result depends on them at all."""
    max_len, d_model = case
    layer, x = candidate.build(*case), normal(batch, time, d_model)
    result, (after,) = layer.observe(x)
    check_true(torch.equal(x, after), "x was changed in place.", "Return x + the rows, a new tensor: += writes into x.")
    name = _table_name(layer, max_len, d_model)
    gradients = layer.gradients(normal(*_tensor(result).shape, seed=7), x)
    if not agrees(_tensor(layer(x + 1)), _tensor(result)):
        check_true(gradients["x"] is not None, "no gradient reaches x.", _GRAPH)
    if name is None or name not in layer.trainable():
        return  # it has cost the points of the structure
    layer.load({name: normal(*layer.parameters()[name].shape, seed=41)})
    if not agrees(_tensor(layer(x)), _tensor(result)):
        gradient = gradients[name]
        check_true(gradient is not None and bool((gradient != 0).any()), f"no gradient reaches {name}.", _GRAPH)
        table = _as_rows(layer.parameters()[name], max_len, d_model)
        if agrees(_tensor(layer(x)), x + table[:time]):  # what is wrong with other rows is for learned_values to judge
            first = _as_rows(gradient, max_len, d_model)[0]
            hint = "Every row that is added is trained, the first as well: no padding_idx."
            check_true(bool((first != 0).any()), "no gradient reaches row 0.", hint)


@check("refuses longer sequences")
def learned_refuses(candidate, case, longer):
    """ValueError at max_len + longer tokens, none at max_len."""
    max_len, d_model = case
    layer = candidate.build(*case)
    always = layer.raised_by(normal(2, max_len, d_model))
    check_true(
        not isinstance(always, ValueError),
        f"{type(always).__name__} for {max_len} tokens and max_len {max_len}.",
        "max_len itself is allowed: raise when T is larger.",
    )
    for time in (max_len + extra for extra in longer):
        error = layer.raised_by(normal(2, time, d_model))
        seen = f"{time} tokens and max_len {max_len}"
        check_true(
            error is not None,
            f"no error for {seen}.",
            "In forward, raise ValueError when x.shape[1] is larger than max_len: there is no row for the rest.",
        )
        check_true(
            isinstance(error, ValueError),
            f"{type(error).__name__} for {seen}, wanted ValueError.",
            "Compare x.shape[1] with max_len yourself, before the addition, and raise ValueError."
            if always is None
            else f"It comes for {max_len} tokens too: {hint_for(always)}",
        )


def _table_name(layer, max_len, d_model):
    """Name of the parameter that is the table, or None where there is not exactly one of its size."""
    named = [name for name, value in layer.parameters().items() if value.numel() == max_len * d_model]
    return named[0] if len(named) == 1 else None


def _as_rows(values, max_len, d_model):
    """A parameter's values as (max_len, d_model), whichever way it is laid out."""
    squeezed = values.squeeze()
    if squeezed.shape == (d_model, max_len) and max_len != d_model:
        return squeezed.T
    return values.reshape(max_len, d_model)


def _added_table(layer, num_rows, d_model):
    """(num_rows, d_model): what the layer adds to a sequence of zeros."""
    result = _tensor(layer(torch.zeros(1, num_rows, d_model)))
    check_shape(result, (1, num_rows, d_model), _shape_hint(result, (1, num_rows, d_model)))
    return result[0]


def _loaded_table(layer, max_len, d_model):
    """The table with random entries, or, where the parameters are not as wanted, what the layer adds by itself."""
    name = _table_name(layer, max_len, d_model)
    if name is None:
        return _added_table(layer.eval(), max_len - 1, d_model)
    values = normal(*layer.parameters()[name].shape, seed=40)
    layer.load({name: values})
    return _as_rows(values, max_len, d_model)


def _on_rows(layer, x):
    """The layer's result for x; where its rows do not fit x, the hint says which rows are wanted."""
    try:
        return layer(x)
    except CheckFailed as failure:
        fits = "must match" not in message_in(failure.seen)
        raise CheckFailed(failure.seen, failure.hint if fits else _ROW, general=failure.general) from None


def _shape_hint(result, shape):
    if tuple(getattr(result, "shape", ())) == (*shape[:2], 2 * shape[2]):
        return "Add the rows to x; here they stand beside it, concatenated."
    return "The rows are added to x, so the shape stays (B, T, d_model)."


def _tensor(result):
    """The tensor in a result, which may wrongly be a tuple."""
    result = result[0] if isinstance(result, tuple | list) and result else result
    check_tensor(result)
    return result.detach()


def _check_sum(result, x, table):
    if isinstance(result, tuple | list):
        raise CheckFailed(f"the result is a tuple of {len(result)}.", "forward returns one tensor.")
    check_shape(result, x.shape, _shape_hint(result, x.shape))
    check_close(result, x + table[: x.shape[1]], _ROW, atol=1e-5, suspects=mistaken_additions(x, table))


def mistaken_additions(x, table):
    """(hint, tensor) for what people return instead of x (B, T, d_model) plus the first T rows of the table."""
    batch, time, width = x.shape
    rows = table[:time]
    yield "This is x as it came: add the rows to it.", x
    yield "These are the rows alone: add them to x.", rows.expand_as(x)
    yield "Positions count from 0: the first token gets row 0.", x + table.roll(-1, 0)[:time]
    yield "These are the last T rows: the first token gets row 0.", x + table[-time:]
    yield "The rows are in reverse: the first token gets row 0.", x + rows.flip(0)
    yield "Every token gets the row of its own position; here all get row 0.", x + table[:1]
    yield "Every token gets the row of its own position; here all get the last one.", x + rows[-1:]
    yield "Every token gets the row of its own position; here all get the mean of the rows.", x + table.mean(0)
    if batch <= len(table):
        yield "Positions run along T, the second axis; here they run along the batch.", x + table[:batch, None]
    yield "Add the rows; here they multiply x.", x * rows
    yield "Add the rows; here they are subtracted.", x - rows
    yield "Add the rows once; here they are there twice.", x + 2 * rows
    yield "Add the rows to x as it is, without a factor.", x * width**0.5 + rows
    yield "Add the rows as they are, without a factor.", x + rows * width**0.5
    yield "Add the rows as they are, without a factor.", x + rows / width**0.5
    yield "The sum is returned as it is: no normalisation behind it.", nn.functional.layer_norm(x + rows, (width,))
    yield "Only the first item of the batch got its positions.", torch.cat((x[:1] + rows, x[1:]))
    sines = torch.as_tensor(sinusoidal_encoding(time, width), dtype=x.dtype)
    yield "The sinusoids are added as well: the table takes their place.", x + rows + sines
    yield "These are the sinusoids: add the learned rows instead.", x + sines
