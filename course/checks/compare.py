"""Comparisons whose failure says what was seen, and then the hint that the caller gives.

They understand NumPy and torch. What they use is bound here, at import, so that a notebook that
replaces ``np.allclose`` or ``torch.allclose`` changes nothing. No message prints an expected value.
"""

import numpy as np
import torch

from course.checks.failure import CheckFailed

TOLERANCE = {"float32": 1e-5, "float64": 1e-8}
SINGLE = 1e-6  # what single precision loses in a few operations on numbers around one
SINGLE_PRECISION = (
    "Right to about seven digits: a step on the way is in single precision. Keep the precision of the input throughout."
)

_all, _argmax, _abs, _isnan, _isfinite, _asarray = np.all, np.argmax, np.abs, np.isnan, np.isfinite, np.asarray
_where, _errstate, _isclose = np.where, np.errstate, np.isclose
_unravel_index, _ndarray, _generic, _Tensor = np.unravel_index, np.ndarray, np.generic, torch.Tensor


def kind_of(value):
    """A value's type in a student's words, with its shape where it has one."""
    if value is None:
        return "None"
    if isinstance(value, _Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, _ndarray):
        return f"a NumPy array of shape {value.shape}"
    if isinstance(value, tuple):
        return f"a tuple of {len(value)}"
    name = type(value).__name__
    if name == "Opaque":  # it came over the wire as no more than a word for its type
        name = value.type_name
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def dtype_name(value):
    """The dtype of a tensor or an array without its library's prefix: ``"float32"``."""
    return str(value.dtype).removeprefix("torch.")


def as_array(value, name="the result"):
    """A float64 or bool copy of a tensor, array or number. CheckFailed for anything else."""
    refuse_none(value, name)
    if isinstance(value, _Tensor):
        value = value.detach().cpu()
        value = value.to(torch.float64) if value.is_floating_point() else value
        return _asarray(value.resolve_conj().resolve_neg().numpy()).copy()
    if isinstance(value, _ndarray | _generic | float | int):
        array = _asarray(value)
        if array.dtype.kind not in "fiubc":
            hint = "Return an array of numbers: dtype=float makes one, where every entry is a number."
            raise CheckFailed(f"{name} holds {array.dtype}, wanted numbers.", hint)
        return array.astype(float) if array.dtype.kind in "fiu" else array.copy()
    hint = "Return a tensor or a NumPy array, as the docstring says."
    if isinstance(value, tuple | list):
        hint = "Return one tensor or array, not a tuple or list of them: torch.stack and np.array make one of several."
    raise CheckFailed(f"{name} is {kind_of(value)}.", hint)


def refuse_none(value, name="the result"):
    """Fail when value is None, the result of a function without return."""
    if value is None:
        raise CheckFailed(f"{name} is None.", "End the function with return and the value.")


def check_tensor(value, name="the result"):
    """Fail unless value is a torch tensor."""
    refuse_none(value, name)
    if not isinstance(value, _Tensor):
        several = "Return one tensor: torch.stack and torch.cat make one of several."
        hint = several if isinstance(value, tuple | list) else "Stay in torch from input to output."
        raise CheckFailed(f"{name} is {kind_of(value)}, wanted a tensor.", hint)


def check_numpy(value, name="the result"):
    """Fail unless value is a NumPy array."""
    refuse_none(value, name)
    if not isinstance(value, _ndarray):
        hint = "Return a NumPy array (np.ndarray)."
        if isinstance(value, _Tensor | list | tuple):
            maker = ".numpy()" if isinstance(value, _Tensor) else "np.array(...)"
            hint = f"Return a NumPy array: {maker} makes one of it."
        raise CheckFailed(f"{name} is {kind_of(value)}, wanted a NumPy array.", hint)


def check_pair(value, names=("out", "weights")):
    """Fail unless value is a tuple or list of two; returns it as a tuple."""
    refuse_none(value)
    wanted = f"({names[0]}, {names[1]})"
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise CheckFailed(
            f"the result is {kind_of(value)}, wanted the pair {wanted}.", f"End with return {wanted[1:-1]}."
        )
    return tuple(value)


def check_shape(value, shape, hint, name="the result"):
    """Fail unless value, a tensor or an array, has this shape."""
    refuse_none(value, name)
    if not hasattr(value, "shape"):
        raise CheckFailed(f"{name} is {kind_of(value)}, wanted shape {tuple(shape)}.", hint)
    if tuple(value.shape) != tuple(shape):
        raise CheckFailed(f"{name} has shape {tuple(value.shape)}, wanted {tuple(shape)}.", hint, general=True)


def unless_squeezed(value, shape, hint):
    """The hint to give for value's shape: another one when it lacks axes of length 1 and nothing else."""
    found = getattr(value, "shape", shape)
    if len(found) < len(shape) and [n for n in found if n != 1] == [n for n in shape if n != 1]:
        return (
            "An axis of length 1 is gone: keep every axis, with no squeeze and no index such as [0], and join none to "
            "another."
        )
    return hint


def check_dtype(value, dtype, hint, name="the result"):
    """Fail unless value has this dtype, given by name: ``"float32"``."""
    refuse_none(value, name)
    if not hasattr(value, "dtype"):
        raise CheckFailed(f"{name} is {kind_of(value)}, wanted numbers of dtype {dtype}.", hint)
    if dtype_name(value) != dtype:
        raise CheckFailed(f"{name} is {dtype_name(value)}, wanted {dtype}.", hint)


def largest_difference(value, expected, name="the result"):
    """Largest absolute difference of two arrays of one shape and where it is: (float, index). NaN fails."""
    value, expected = as_array(value, name), as_array(expected)
    if value.shape != expected.shape:
        raise CheckFailed(
            f"{name} has shape {value.shape}, wanted {expected.shape}.", "Print the shapes along the way."
        )
    if not value.size:
        return 0.0, ()
    value, expected = value * 1.0, expected * 1.0
    if _isnan(value).any():
        raise CheckFailed(
            f"{name} has NaN, first at {list(_first(_isnan(value)))}.",
            "NaN comes from 0/0, inf - inf and 0 * inf, from a row whose scores are all -inf or hold +inf, or from "
            "torch.empty or np.empty, whose entries mean nothing until they are set.",
        )
    with _errstate(invalid="ignore"):  # inf - inf: equal infinities do not differ
        difference = _where(value == expected, 0.0, _abs(value - expected))
    index = _first(difference)
    return float(difference[index]), index


def _first(array):
    """Index of the first largest entry."""
    return tuple(int(i) for i in _unravel_index(_argmax(array), array.shape))


def agrees(value, expected, atol=1e-5):
    """Whether value has expected's shape and differs nowhere by more than atol. Never raises."""
    try:
        return largest_difference(value, expected)[0] <= atol
    except (CheckFailed, TypeError, ValueError):
        return False


def same(value, other):
    """Whether two results are alike up to rounding, NaN where the other has NaN. True for what holds no numbers."""
    if isinstance(value, tuple | list):
        return type(value) is type(other) and len(value) == len(other) and all(map(same, value, other))
    try:
        value, other = as_array(value), as_array(other)
    except (CheckFailed, TypeError, ValueError):
        return True
    if value.shape != other.shape or value.dtype != other.dtype:
        return False
    with _errstate(invalid="ignore"):
        return bool(_isclose(value, other, rtol=1e-5, atol=1e-6, equal_nan=value.dtype.kind == "f").all())


def check_close(value, expected, hint, name="the result", atol=None, suspects=()):
    """Fail unless value agrees with expected within atol (1e-5 in float32, 1e-8 in float64).

    ``suspects`` are pairs (hint, wrong value or a function without arguments that computes it): when
    value agrees with a wrong value instead, that hint names the cause.
    """
    if hasattr(expected, "shape"):
        check_shape(value, expected.shape, hint, name)
    difference, index = largest_difference(value, expected, name)
    if atol is None:
        atol = TOLERANCE.get(dtype_name(value), 1e-5) if hasattr(value, "dtype") else 1e-8
    if difference <= atol:
        return
    where = f" at {list(index)}" if index else ""
    allowed = f" (allowed {atol:.0e})" if atol else ""
    cause = SINGLE_PRECISION if difference <= SINGLE else likeliest(value, suspects)
    raise CheckFailed(f"{name} is off by {difference:.2g}{where}{allowed}.", cause or hint, general=not cause)


def likeliest(value, suspects, atol=1e-5):
    """Hint of the first suspect whose wrong value agrees with value, or None."""
    for hint, wrong in suspects:
        if agrees(value, wrong() if callable(wrong) else wrong, atol):
            return hint
    return None


def check_true(condition, seen, hint):
    """Fail with what was seen and the hint unless condition holds."""
    if not condition:
        raise CheckFailed(seen, hint)


def check_finite(value, hint, name="the result"):
    """Fail when value holds NaN or infinity."""
    if not _all(_isfinite(as_array(value, name))):
        raise CheckFailed(f"{name} holds NaN or infinity.", hint)


def check_int(value, hint, name="the result"):
    """Fail unless value is a whole number of an integer type."""
    refuse_none(value, name)
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise CheckFailed(f"{name} is {kind_of(value)} ({value!r:.40}), wanted an int.", hint)
