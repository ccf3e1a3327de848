"""Checks of rotation_matrix, which turns PE(p) into PE(p + offset), and of the errors for odd widths."""

import numpy as np

from course.checks.compare import agrees, as_array, check_close, check_finite, check_shape, check_true, dtype_name
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.encoding import BASE, frequencies, rotation_matrix, sinusoidal_encoding

ATOL = 1e-5  # single precision is enough for the matrix
_TELLING = (3, 14)  # an offset and a width at which every slip looks different
_BLOCK = (
    "Block i, in rows and columns 2i and 2i+1, is [[cos, sin], [-sin, cos]] of the angle offset / 10000**(2i/d_model)."
)


@check("numbers by hand")
def rotation_by_hand(candidate, offset, expected):
    """A matrix worked out on paper."""
    expected = np.array(expected, dtype=float)
    matrix = _matrix(candidate, offset, len(expected))
    if not agrees(matrix, expected, ATOL):
        check_close(matrix, expected, _cause(candidate) or _hint(matrix), atol=ATOL)


@check("R @ PE(p) is PE(p + offset)")
def rotation_moves(candidate, cases, positions):
    """cases: (offset, d_model) pairs, offset above 0; tried at the first ``positions`` positions."""
    for offset, d_model in cases:
        matrix = _matrix(candidate, offset, d_model)
        name = f"{candidate.name}({offset}, {d_model})"
        right, suspects = rotation_matrix(offset, d_model), mistaken_rotations(offset, d_model)
        check_close(matrix, right, _hint(matrix), name, ATOL, suspects)
        table = sinusoidal_encoding(positions + offset, d_model)
        check_close(as_array(matrix) @ table[:positions].T, table[offset:].T, _BLOCK, f"{name} @ PE(p)", ATOL)


@check("offsets of 0 and below")
def rotation_backwards(candidate, cases):
    """cases: (offset, d_model), offset 0 or below. Where a step forward is wrong already, only the form counts."""
    forward_is_right = agrees(_try(candidate, *_TELLING), rotation_matrix(*_TELLING), ATOL)
    hint = "The same formula holds: offset 0 gives the identity, and a negative offset turns back."
    for offset, d_model in cases:
        matrix = _matrix(candidate, offset, d_model)
        if forward_is_right:
            right = rotation_matrix(offset, d_model)
            check_close(matrix, right, hint, f"{candidate.name}({offset}, {d_model})", ATOL)
        check_finite(matrix, hint)


@check("refuses an odd width")
def refuses_odd(candidate, calls, argument):
    """calls: (arguments, width) pairs of calls whose ``argument`` has this odd width."""
    for arguments, width in calls:
        error = candidate.raised_by(*arguments)
        check_true(
            error is not None,
            f"no error for {argument} {width}.",
            f"When {argument} is odd a feature is left without its pair: raise ValueError.",
        )
        check_true(
            isinstance(error, ValueError),
            f"{type(error).__name__} for {argument} {width}, wanted ValueError.",
            f"Test {argument} % 2 yourself, before anything else, and raise ValueError.",
        )


def _matrix(candidate, offset, d_model):
    """The student's matrix, an array or a tensor of the right shape."""
    matrix = candidate(offset, d_model)
    if isinstance(matrix, list | tuple):
        try:
            matrix = np.array(matrix, dtype=float)
        except (TypeError, ValueError):
            raise CheckFailed("the result is a list that is no matrix.", "Return a (d_model, d_model) array.") from None
    as_array(matrix)  # says so when it is no array
    shape_hint = "R acts on one row of the table, so it is (d_model, d_model)."
    check_shape(matrix, (d_model, d_model), shape_hint, f"{candidate.name}({offset}, {d_model})")
    return matrix


def _try(candidate, offset, d_model):
    """The matrix, or None where there is none to look at."""
    try:
        return _matrix(candidate, offset, d_model)
    except CheckFailed:
        return None


def _cause(candidate):
    """The hint of the slip that the candidate's matrix of a telling size shows, or None."""
    matrix = _try(candidate, *_TELLING)
    return next((hint for hint, wrong in mistaken_rotations(*_TELLING) if agrees(matrix, wrong, ATOL)), None)


def _hint(matrix):
    """What to say of a wrong matrix that shows no known slip."""
    kind, matrix = dtype_name(matrix), as_array(matrix)
    if "int" in kind:
        return "The matrix holds whole numbers, which cut sines and cosines off: make it of floats, as np.zeros does."
    if "16" in kind:
        return "Half precision is too coarse here: float32 or float64."
    if len(matrix) > 1 and (matrix == matrix[0]).all():
        return "All rows are equal: [[0] * n] * n holds one list n times; np.zeros((n, n)) has rows of their own."
    pair = np.arange(len(matrix)) // 2
    if (matrix[pair[:, None] != pair] != 0).any():
        return "Outside its blocks R is 0: start from np.zeros, and fill rows and columns 2i and 2i + 1 alone."
    return _BLOCK


def blocks(angles, sign=1):
    """Block-diagonal matrix (2n, 2n) of [[cos, sin], [-sin, cos]] for angles (n,); sign -1 turns the other way."""
    matrix = np.zeros((2 * len(angles), 2 * len(angles)))
    even = np.arange(0, len(matrix), 2)
    matrix[even, even] = matrix[even + 1, even + 1] = np.cos(angles)
    matrix[even, even + 1] = sign * np.sin(angles)
    matrix[even + 1, even] = -sign * np.sin(angles)
    return matrix


def mistaken_rotations(offset, d_model):
    """(hint, matrix) for what people write instead of R (d_model, d_model)."""
    pairs = np.arange(d_model // 2)
    angles, right = offset * frequencies(d_model), rotation_matrix(offset, d_model)
    halves = np.concatenate((np.arange(0, d_model, 2), np.arange(1, d_model, 2)))
    yield (
        "It turns the other way: in the order (sin, cos) the sine above the diagonal is positive.",
        blocks(angles, sign=-1),
    )
    yield (
        "Pairs are neighbouring columns, 2i and 2i+1; here they are half the width apart.",
        right[np.ix_(halves, halves)],
    )
    yield (
        "Pair i has the exponent 2*i/d_model; here it is i/d_model, or the base is 100.",
        blocks(offset / BASE ** (pairs / d_model)),
    )
    yield "The exponent is doubled once too often.", blocks(offset / BASE ** (4 * pairs / d_model))
    yield (
        "Pairs count from 0: the first turns by the offset itself.",
        blocks(offset / BASE ** (2 * (pairs + 1) / d_model)),
    )
    yield (
        "Divide 2*i by d_model; here the last pair turns at exactly 1/10000.",
        blocks(offset / float(BASE) ** (pairs / max(len(pairs) - 1, 1))),
    )
    yield "Every pair has its own frequency; here all have the first one's.", blocks(offset + 0.0 * pairs)
    yield (
        "Divide the offset by 10000**(2*i/d_model); here it is multiplied by it.",
        blocks(offset * float(BASE) ** (2 * pairs / d_model)),
    )
    yield "The slowest pair comes last; here the pairs are in reverse.", blocks(angles[::-1])
    for base in (1000.0, 100_000.0):
        yield f"The base of the power is 10000; here it is {base:.0f}.", blocks(offset / base ** (2 * pairs / d_model))
    yield "np.sin takes radians: no conversion from degrees.", blocks(np.deg2rad(angles))
    yield "There is no 2*pi in the angle.", blocks(2 * np.pi * angles)
    yield (
        "The angle is the offset times the frequency; here the offset is left out, as in R for one step.",
        blocks(angles / max(offset, 1)),
    )
    for wrong in (offset + 1, offset - 1):
        hint = f"The angle belongs to a step of {offset}; here it is that of {wrong}."
        yield hint, blocks(wrong * frequencies(d_model))
    yield "This is the identity: each block turns by its own angle.", np.eye(d_model)
    yield "The cosines are right, the sines beside the diagonal are missing.", np.diag(np.repeat(np.cos(angles), 2))
    yield "The sines are right, the cosines on the diagonal are missing.", right - np.diag(np.diag(right))
    above, below = np.triu(right, 1), np.tril(right, -1)
    diagonal = np.diag(np.diag(right))
    yield "One of the two sines of a block has a minus; here neither has.", diagonal + above + above.T
    yield "One of the two sines of a block has a minus; here both have.", diagonal + below + below.T
    yield (
        "This is a mirror: cosines have the same sign, and the minus belongs to one of the sines.",
        right * np.where(np.arange(d_model) % 2 == 0, 1, -1)[:, None],
    )
    turned = blocks(np.pi / 2 - angles)
    for wrong in (turned, turned * np.where(np.arange(d_model) % 2 == 0, 1, -1)[:, None]):
        yield "Sine and cosine have changed places: the cosines stand on the diagonal.", wrong
    if d_model > 2:
        last = np.arange(d_model)[:, None] >= d_model - 2
        for rest in (0, np.eye(d_model)):
            hint = "The last block is not filled: range(0, d_model, 2) has all the pairs."
            yield hint, np.where(last, rest, right)
        yield "Only the last block is left: make R once, before the loop.", np.where(last, right, 0)
    first = np.eye(d_model)
    first[:2, :2] = right[:2, :2]
    yield "Only the first pair turns: fill every block before you return.", first
    corner = np.zeros((d_model, d_model))
    corner[:2, :2] = right[:2, :2]
    yield "Only the first block is filled: return after the loop, not inside.", corner
