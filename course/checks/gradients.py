"""A gradient held against the function that it belongs to, right or wrong as that function may be."""

import numpy as np
import torch

from course.checks.compare import as_array, check_true
from course.checks.inputs import normal

STEP = 1e-3  # of a central difference; its error is of the order STEP**2
TOLERANCE = 1e-2  # far above rounding in float32, far below what a cut or misplaced gradient changes


def check_gradient_of_own(candidate, arguments, index, hint):
    """Fail unless a gradient for ``arguments[index]``, a tensor, arrives and is the slope of the result."""
    x = arguments[index]

    def at(value):
        return (*arguments[:index], value, *arguments[index + 1 :])

    def output(value):
        result = candidate(*at(value))
        return as_array(result[0] if isinstance(result, tuple | list) else result)

    direction = normal(*x.shape, seed=9, dtype=x.dtype)
    difference = output(x + STEP * direction) - output(x - STEP * direction)
    cotangent = normal(*difference.shape, seed=8, dtype=x.dtype)
    cotangent[torch.from_numpy(~np.isfinite(difference))] = 0  # what is NaN is the values' own affair
    difference = np.nan_to_num(difference, posinf=0, neginf=0)
    slope = float((cotangent.numpy() * difference).sum() / (2 * STEP))
    (gradient,) = candidate.gradients(cotangent, *at(x.clone().requires_grad_()))
    if gradient is None:
        check_true(slope == 0, "no gradient goes back to x.", hint)
        return
    given = float((gradient * direction).sum())
    check_true(
        abs(given - slope) <= TOLERANCE * max(1.0, abs(slope), float(torch.linalg.vector_norm(gradient))),
        "the gradient of x is not that of the result.",
        hint,
    )
