"""Checks of alibi_bias, (H, T, T) to add to causal scores.

``cases`` are (num_heads, seq_len) pairs, seq_len at least 3 and different from num_heads. Slopes, distances and the
forbidden part are told apart, so that a slip in one of them costs no points for the others.
"""

import numpy as np

from course.checks.compare import agrees, as_array, check_close, check_shape, check_tensor, check_true, dtype_name
from course.checks.exam import check
from course.checks.exceptions import message_in
from course.checks.failure import CheckFailed

_PRECISE = ("float32", "float64")
_SLOPE = "Head h, counted from 1, takes off 2**(-8*h/H) for each step to the left."
_DISTANCE = (
    "The distance of query i and key j is i - j: nothing on the diagonal, one step more for each column to the left."
)
_FORBIDDEN = "Above the diagonal, where the key comes after the query, the bias is -inf; elsewhere it is finite."


@check("slopes")
def alibi_slope(candidate, cases):
    """What one more step of distance takes off, for each head."""
    for num_heads, seq_len in cases:
        bias = _bias(candidate, num_heads, seq_len)
        given = _slopes(_seen_part(bias))
        expected = -(2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads))
        name = f"the step from key 1 to key 0, heads 1 to {num_heads},"
        check_close(given, expected, _SLOPE, name, 1e-5 * _coarseness(bias), mistaken_slopes(num_heads))


@check("distances")
def alibi_distance(candidate, cases):
    """Multiples of each head's own step, whatever that is."""
    for num_heads, seq_len in cases:
        given = _bias(candidate, num_heads, seq_len)
        bias = _seen_part(given)
        slopes = _slopes(bias)
        check_true(
            bool((np.isfinite(slopes) & (slopes != 0)).all()),
            "a head has the same bias at every distance.",
            "Every head multiplies the distances by a slope of its own.",
        )
        below = np.tril(np.ones((seq_len, seq_len), dtype=bool)) & ~np.isneginf(bias)  # (H, T, T)
        steps = np.where(below, bias / slopes[:, None, None], 0.0)
        distance = np.where(below, np.subtract.outer(np.arange(seq_len), np.arange(seq_len)), 0.0)
        name = "the bias in steps of its head's slope"
        check_close(steps, distance, _DISTANCE, name, 1e-4 * _coarseness(given), mistaken_distances(distance, below))


@check("-inf above the diagonal")
def alibi_forbidden(candidate, cases):
    for num_heads, seq_len in cases:
        bias = as_array(_bias(candidate, num_heads, seq_len))
        above = np.triu(np.ones((seq_len, seq_len), dtype=bool), 1)
        check_true(
            bool(np.isfinite(bias[:, ~above]).all()),
            "the bias holds -inf on or below the diagonal.",
            _overdone(bias, above),
        )
        check_true(
            bool(np.isneginf(bias[:, above]).all()),
            "the bias is not -inf everywhere above the diagonal.",
            _left_out(bias[:, above]),
        )


def _overdone(bias, above):
    """What to say of a bias (H, T, T) that forbids what is allowed."""
    if np.isfinite(bias[:, above]).all():
        return "The wrong side is forbidden: rows are queries, columns keys, and -inf stands where j > i."
    if np.isfinite(bias[:, above.T]).all():
        return "The diagonal is allowed: a query may attend to itself, and -inf begins one place to its right."
    return "A query may attend to itself and to what came before: there the bias is finite."


def _left_out(seen):
    """What to say of the entries above the diagonal when they are not all -inf."""
    if np.isposinf(seen).all():
        return "inf has lost its minus: a forbidden key gets -inf."
    if (seen < -1e3).all():
        return "A large negative number is not -inf, and may overflow: use float('-inf')."
    if (np.isfinite(seen) & (seen != 0)).all():
        return "Nothing is forbidden: put -inf where j > i; masked_fill returns a new tensor, so keep what it gives."
    return _FORBIDDEN


@check("a tensor that can be added to scores")
def alibi_kind(candidate, cases):
    """(H, T, T), floating-point; added to scores (B, H, T, T), it gives rows that sum to one. A fresh one each time."""
    for num_heads, seq_len in cases:
        bias = candidate(num_heads, seq_len)
        check_tensor(bias)
        check_shape(bias, (num_heads, seq_len, seq_len), _shape_hint(bias, num_heads, seq_len))
        check_true(
            dtype_name(bias) in _PRECISE,
            f"the bias is {dtype_name(bias)}, wanted float32 or float64.",
            "Compute it in floating point: 2.0 ** ..., and no conversion to another dtype.",
        )
        first = as_array(bias)  # a copy
        second, _ = candidate.after_overwriting(num_heads, seq_len)
        check_true(
            agrees(second, first) or bool(np.isnan(first).any()),  # NaN has cost its points already
            "the second call returned the first call's tensor, with what was written into it.",
            "Make a new tensor at each call.",
        )


def _coarseness(bias):
    """Factor of the tolerance: half precision is for alibi_kind to judge."""
    return 1 if dtype_name(bias) in _PRECISE else 1000


def _shape_hint(bias, num_heads, seq_len):
    hints = {
        (1, num_heads, seq_len, seq_len): "No batch axis: it broadcasts over the batch by itself.",
        (seq_len, seq_len, num_heads): "The heads come first: (H, T, T).",
        (seq_len, seq_len): "Every head has a bias of its own: (H, T, T).",
        (num_heads, seq_len): "Every query has a row of its own: (H, T, T).",
        (num_heads, 1, seq_len): "Every query has a row of its own: (H, T, T).",
    }
    return hints.get(tuple(getattr(bias, "shape", ())), "One matrix (T, T), query by key, for each head: (H, T, T).")


def _bias(candidate, num_heads, seq_len):
    """The student's bias, an array or a tensor of the right shape, without NaN."""
    try:
        bias = candidate(num_heads, seq_len)
    except CheckFailed as failure:
        hint = "Slopes (H, 1, 1) times distances (T, T): [:, None, None] gives the slopes two axes more."
        hint = hint if "must match" in message_in(failure.seen) else failure.hint
        raise CheckFailed(failure.seen, hint, general=failure.general) from None
    if isinstance(bias, list | tuple):
        check_tensor(bias)
    array = as_array(bias)  # says so when it is no array
    check_shape(bias, (num_heads, seq_len, seq_len), _shape_hint(bias, num_heads, seq_len))
    hint = "0 * -inf is NaN: put -inf in place with masked_fill or torch.where instead of multiplying."
    check_true(not np.isnan(array).any(), "the bias has NaN.", hint)
    return bias


def _seen_part(bias):
    """The bias (H, T, T) as an array whose finite part is on and below the diagonal.

    Where the wrong side is forbidden, the finite one is mirrored: the mistake costs the points for the forbidden part.
    """
    bias = as_array(bias)
    if np.isneginf(bias[:, 1:, 0]).all() and np.isfinite(bias[:, 0, 1:]).all():
        bias = bias.transpose(0, 2, 1)
        return -bias if (bias[:, 1:, 0] > 0).all() else bias
    return bias


def _slopes(bias):
    """(H,): what the key one step further to the left adds, read in row 1, or in row 2 where the diagonal is -inf."""
    with np.errstate(invalid="ignore"):
        steps = bias[:, 1, 0] - bias[:, 1, 1]
        further = bias[:, 2, 0] - bias[:, 2, 1]
    return np.where(np.isfinite(steps), steps, further)


def mistaken_slopes(num_heads):
    """(hint, steps (H,)) for what people take as slopes."""
    h = np.arange(1, num_heads + 1)
    right = -(2.0 ** (-8 * h / num_heads))
    yield "A bias takes something off: it is negative, minus the slope times the distance.", -right
    yield "Heads count from 1 here: the first slope is 2**(-8/H), not 1.", -(2.0 ** (-8 * (h - 1) / num_heads))
    yield "The exponent is -8*h/H; here it is -h.", -(2.0**-h)
    yield "Heads count from 1 to H here: the first slope is 2**(-8/H).", -(2.0 ** (-8 * (h + 1) / num_heads))
    yield "Divide 8*h by H; here it is divided by H + 1.", -(2.0 ** (-8 * h / (num_heads + 1)))
    yield "The exponent is -8*h/H; here it is -8/h.", -(2.0 ** (-8 / h))
    hint = "Brackets: 2 ** (-8 * h / H). Without them the power is taken first, and multiplied by h / H after."
    for sign in (-1, 1):
        yield hint, sign * 2.0**-8 * h / num_heads
    yield "The exponent is -8*h/H; here it is -8/H for every head.", np.full(num_heads, right[0])
    yield "The exponent is -8*h/H; here it is -8*h.", -(2.0 ** (-8.0 * h))
    yield "The exponent is -8*h/H; here it is -h/H.", -(2.0 ** (-h / num_heads))
    yield "The exponent has a minus: the slopes get smaller from head to head.", -(2.0 ** (8 * h / num_heads))
    yield "The last head has the smallest slope; here the heads are in reverse.", right[::-1]
    yield "These are the exponents: raise 2 to them.", -8 * h / num_heads
    yield "The power has base 2; here it is e.", -np.exp(-8 * h / num_heads)
    yield "The slopes are powers of two; here they are h/H.", -h / num_heads
    yield "The slopes are powers of two; here they are 1/h.", -1 / h
    yield "Every head has a slope of its own; here all have 1.", np.full(num_heads, -1.0)
    yield "Divide by H, the number of heads, with /, not //.", -(2.0 ** (-8 * (h // num_heads)))
    yield "Divide by H with /, not //: -8*h // H rounds down.", -(2.0 ** (-8 * h // num_heads))
    yield "There is no square root or scale in the slopes.", right / np.sqrt(num_heads)


def mistaken_distances(distance, below):
    """(hint, steps (H, T, T)) for what people multiply the slopes by; ``distance`` holds the right ones."""
    key = np.arange(distance.shape[-1]) + 0.0 * distance
    yield "A distance of 0 on the diagonal: here it counts from 1.", np.where(below, distance + 1.0, 0)
    yield "The distance itself, not its square.", np.where(below, distance**2, 0)
    yield "The bias depends on query and key, i - j; here it is the key's position alone.", np.where(below, -key, 0)
    yield "The distance ends at 1: i - j goes on growing.", np.where(below, np.minimum(distance, 1), 0)
