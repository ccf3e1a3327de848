"""What must hold of the slips that a check knows, each a hint and the value that comes of it."""

import itertools

from course.checks.compare import agrees


def taken_for_right(right, slips, tolerance=1e-5):
    """Hints whose value agrees with the right one, or has another shape and so would be told otherwise."""
    assert len(slips) >= 2, "a table of slips is empty"
    shape = tuple(right.shape)
    return [hint for hint, wrong in slips if tuple(wrong.shape) != shape or agrees(wrong, right, tolerance)]


def taken_for_each_other(slips):
    """Pairs of different hints with one value between them."""
    pairs = itertools.combinations(slips, 2)
    return [(one, other) for (one, x), (other, y) in pairs if one != other and agrees(x, y)]
