"""Checks of weighted_average, the step that every head ends with."""

import itertools

import numpy as np

from course.checks.compare import (
    SINGLE_PRECISION,
    TOLERANCE,
    agrees,
    check_close,
    check_dtype,
    check_numpy,
    check_shape,
    check_true,
    dtype_name,
)
from course.checks.exam import check
from course.checks.inputs import normal

_SHAPE_HINT = "One row for each row of weights, one column for each column of values: multiply (T, S) by (S, d)."


def _case(queries, keys, width, dtype="float64", seed=1):
    """weights (T, S) with rows that sum to one, and values (S, d)."""
    scores = normal(queries, keys, seed=seed).numpy().astype(dtype)
    weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
    return weights, normal(keys, width, seed=seed + 1).numpy().astype(dtype)


@check("array of shape (T, d)")
def average_shape(candidate, queries, keys, width):
    result = candidate(*_case(queries, keys, width))
    check_numpy(result)
    check_shape(result, (queries, width), _SHAPE_HINT)


@check("numbers by hand")
def average_by_hand(candidate, weights, values, expected):
    """A case small enough to do on paper; expected is the answer."""
    weights, values = np.array(weights), np.array(values)
    result, after = candidate.observe(weights, values)
    check_numpy(result)
    check_shape(result, np.shape(expected), _SHAPE_HINT)
    hint, suspects = "Row t is the sum over s of weights[t, s] times values[s].", _slips(weights, values)
    if not all(map(np.array_equal, (weights, values), after)):
        hint, suspects = "The call writes over its arguments, and uses them again afterwards: compute new arrays.", []
    check_close(result, np.array(expected), hint, suspects=suspects)


@check("any sizes")
def average_sizes(candidate, cases):
    """cases: (T, S, d) triples. Each in both precisions, in C order and in Fortran order, and right to 1e-5.

    What a step in single precision costs is for average_keeps to judge.
    """
    for seed, (case, dtype) in enumerate(itertools.product(cases, TOLERANCE)):
        weights, values = _case(*case, dtype, seed=10 * seed)
        expected = np.array([sum(weight * value for weight, value in zip(row, values, strict=True)) for row in weights])
        hint = "Row t is the sum over s of weights[t, s] times values[s]: keep every weight, and sum over s alone."
        order = "CF"[seed // 2 % 2]
        result = candidate(np.asarray(weights, order=order), np.asarray(values, order=order))
        check_numpy(result)
        check_shape(result, expected.shape, _SHAPE_HINT)
        if "int" in dtype_name(result):
            hint = "These are whole numbers, the fractions are cut off: make the array of floats, dtype=values.dtype."
        check_close(result, expected, hint, atol=TOLERANCE["float32"], suspects=_slips(weights, values))


def _slips(weights, values):
    """(hint, what that slip gives) for weights (T, S) and values (S, d)."""
    (queries, keys), right = weights.shape, weights @ values
    again = np.exp(weights) / np.exp(weights).sum(-1, keepdims=True)
    by_column = weights / weights.sum(0)
    first_row_only = np.concatenate((right[:1], right[1:] * 0))
    last_row_missing = np.concatenate((right[:-1], right[-1:] * 0))
    slips = [
        ("These weights are already normalised: use them as they are, without another softmax.", again @ values),
        (
            "This is the plain sum of the values: each counts with its weight, and the weights need no normalising.",
            right * 0 + values.sum(0),
        ),
        ("The rows of weights already sum to one: do not normalise the columns.", by_column @ values),
        (
            "The weights count: this is the plain mean of the values, whatever the weights say.",
            right * 0 + values.mean(0),
        ),
        ("Sum over s without dividing by the number of values: the weights already sum to one.", right / keys),
        ("Sum over s without dividing by the number of rows: the weights already sum to one.", right / queries),
        ("Every row of weights makes its own row of the result: this repeats the first.", right * 0 + right[:1]),
        ("Only the first row is filled: return belongs after the loop, not inside.", first_row_only),
        ("The last row is not filled: t runs from 0 to T - 1.", last_row_missing),
        (
            "Every row is the last one: [row] * T is one row T times over, so make each row anew.",
            right * 0 + right[-1:],
        ),
        ("There is no √d here: whoever made the weights has divided by it.", right / np.sqrt(values.shape[1])),
        (
            "Every value takes part in proportion to its weight, not only the one with the largest.",
            values[weights.argmax(-1)],
        ),
        ("Use the weights themselves, not their squares or their square roots.", weights**2 @ values),
        ("Use the weights themselves, not their squares or their square roots.", np.sqrt(weights) @ values),
        ("Add the products up over all s: this one keeps only the last.", weights[:, -1:] @ values[-1:]),
        ("The sum runs over all s: this one leaves out the last.", weights[:, :-1] @ values[:-1]),
        ("The sum runs over all s: this one leaves out the first.", weights[:, 1:] @ values[1:]),
        ("Start each sum at 0: this one runs on from entry to entry.", right.cumsum().reshape(right.shape)),
        ("Start each row at 0: this one runs on from row to row.", right.cumsum(0)),
        (
            "Right to about three digits: a step on the way is in half precision. Keep the precision of the arguments.",
            weights.astype("float16") @ values.astype("float16"),
        ),
        *(("Return the numbers as they are: here they are rounded.", right.round(digits)) for digits in range(5)),
    ]
    if keys >= queries:
        slips.append(("The values go with s, not with t: weights[t, s] times values[s].", values[:queries]))
    if queries == keys:
        slips.append(("Row t of the result belongs to row t of weights, not to its column t.", weights.T @ values))
    return slips


@check("precision and arguments kept")
def average_keeps(candidate, queries, keys, width):
    for dtype in ("float32", "float64"):
        weights, values = _case(queries, keys, width, dtype)
        result, after = candidate.observe(weights, values)
        check_dtype(
            result,
            dtype,
            "Keep the dtype of the arguments: no astype, and np.zeros makes float64 unless you give it a dtype.",
        )
        if agrees(result, weights @ values, TOLERANCE["float32"]):
            check_close(result, weights @ values, SINGLE_PRECISION)
        for name, before, now in zip(("weights", "values"), (weights, values), after, strict=True):
            hint = "Compute new arrays: *=, += and an assigned .shape change the caller's."
            check_true(np.array_equal(before, now), f"{name} was changed in place.", hint)
