"""Checks of weighted_average, the step that every head ends with."""

import numpy as np

from course.checks.compare import check_close, check_dtype, check_numpy, check_shape, check_true
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
    result = candidate(np.array(weights), np.array(values))
    check_shape(result, np.shape(expected), _SHAPE_HINT)
    check_close(result, np.array(expected), "Row t is the sum over s of weights[t, s] times values[s].")


@check("any sizes")
def average_sizes(candidate, cases):
    """cases: (T, S, d) triples."""
    for seed, (queries, keys, width) in enumerate(cases):
        weights, values = _case(queries, keys, width, seed=10 * seed)
        expected = np.array([sum(weight * value for weight, value in zip(row, values, strict=True)) for row in weights])
        again = np.exp(weights) / np.exp(weights).sum(-1, keepdims=True)
        check_close(
            candidate(weights, values),
            expected,
            "Row t is the sum over s of weights[t, s] times values[s]: keep every weight, and sum over s alone.",
            suspects=[
                (
                    "These weights are already normalised: use them as they are, without another softmax.",
                    again @ values,
                ),
                (
                    "The weights count: this is the plain mean of the values, whatever the weights say.",
                    expected * 0 + values.mean(0),
                ),
                (
                    "Sum over s without dividing by the number of values: the weights already sum to one.",
                    expected / keys,
                ),
                (
                    "Every value takes part in proportion to its weight, not only the one with the largest.",
                    values[weights.argmax(-1)],
                ),
                ("Use the weights themselves, not their squares or their square roots.", weights**2 @ values),
            ],
        )


@check("precision and arguments kept")
def average_keeps(candidate, queries, keys, width):
    for dtype in ("float32", "float64"):
        weights, values = _case(queries, keys, width, dtype)
        result, after = candidate.observe(weights, values)
        check_dtype(result, dtype, "Compute in the precision of the input: no dtype=, no astype.")
        unchanged = all((before == now).all() for before, now in zip((weights, values), after, strict=True))
        check_true(
            unchanged, "an argument was changed in place.", "Compute new arrays; *= and += write into the caller's."
        )
