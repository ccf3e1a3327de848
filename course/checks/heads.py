"""Checks of how a width is cut into heads: head_width, split_heads, merge_heads, parameter_count."""

import math

import torch

from course import attention
from course.checks.compare import (
    agrees,
    check_close,
    check_dtype,
    check_int,
    check_shape,
    check_tensor,
    check_true,
    kind_of,
    unless_squeezed,
)
from course.checks.exam import check
from course.checks.exceptions import hint_for, sentence
from course.checks.failure import CheckFailed
from course.checks.head_slips import MERGED_SHAPES, SPLIT_SHAPES, rescaled, wrong_counts, wrong_merges, wrong_splits
from course.checks.inputs import normal
from course.wording import words_of


@check("widths")
def widths(candidate, cases):
    """cases: (d_model, num_heads, width) triples."""
    for d_model, num_heads, width in cases:
        value = candidate(d_model, num_heads)
        case = f"head_width({d_model}, {num_heads})"
        hint = "Return a whole number of columns."
        if value == width:
            hint = "Divide with // : a width counts columns, so it is an int."
            hint = hint if isinstance(value, float) else "Turn it into a plain number with int(...)."
        check_int(value, hint, case)
        check_true(
            value == width, f"{case} is {value}.", "The heads share d_model evenly: d_model // num_heads columns each."
        )


@check("refuses widths that do not divide")
def refuses_uneven(candidate, cases, call=None, width="d_model"):
    """cases: (d_model, num_heads) pairs that do not divide; call makes the arguments from a pair.

    ``width`` is the name that d_model has there.
    """
    test, place = f"{width} % num_heads", " in __init__" if width == "embed_dim" else ""
    for d_model, num_heads in cases:
        arguments = (d_model, num_heads) if call is None else call(d_model, num_heads)
        error = candidate.raised_by(*arguments)
        if error is None:
            value = candidate(*arguments)
            raise CheckFailed(
                f"no error for {width} {d_model} and num_heads {num_heads}, but {kind_of(value)}.",
                _unraised(value) or f"When {test} is not 0, raise ValueError{place} with both numbers in its message.",
            )
        check_true(
            isinstance(error, ValueError),
            f"{sentence(error)} for {width} {d_model} and num_heads {num_heads}, wanted ValueError.",
            _instead_of(error, test),
        )


def _instead_of(error, test):
    """What to do about an error that should be a ValueError."""
    if isinstance(error, AssertionError):
        return f"An assert raises AssertionError: write if {test}: and raise ValueError(...) below it."
    if "should return None" in words_of(error):
        return "An error is raised, not returned: raise ValueError(...)."
    misplaced = any(words in words_of(error) for words in ("exceptions must derive", "positional argument"))
    if isinstance(error, NameError | RecursionError) or misplaced:
        return hint_for(error)
    return (
        f"Test {test} yourself, before anything else, and raise ValueError: {type(error).__name__} is another kind of "
        "error."
    )


def _unraised(value):
    """What to do about a value that came where a ValueError should be raised; None for no idea."""
    if value is None:
        return "Nothing is raised, and None comes back: raise ValueError(...), and neither print it nor catch it."
    if isinstance(value, BaseException):
        return (
            "The error is returned like any other value: write raise ValueError(...) instead of return ValueError(...)."
        )
    return None


def tokens_and_heads(d_model, num_heads):
    """The arguments of split_heads for a width and a number of heads, for refuses_uneven."""
    return torch.zeros(2, 4, d_model), num_heads


def _numbered(*shape):
    """A tensor whose entries all differ, exact in float32."""
    return torch.arange(float(math.prod(shape))).reshape(shape)


@check("order of the features")
def split_order(candidate, cases):
    """cases: (B, T, num_heads, d_head)."""
    for batch, time, heads, d_head in cases:
        x = _numbered(batch, time, heads * d_head)
        result = candidate(x, heads)
        name = f"split_heads of {tuple(x.shape)} into {heads}"
        check_tensor(result, name)
        hint = "First (B, T, d_model) -> (B, T, H, d_head), then swap T and H with transpose(1, 2)."
        expected = attention.split_heads(x, heads)
        if result.shape != expected.shape:
            cause = SPLIT_SHAPES.get(_shape_of(candidate, _numbered(2, 5, 12), 3))
            check_shape(result, expected.shape, cause or unless_squeezed(result, expected.shape, hint), name)
        suspects = [*wrong_splits(x, heads), rescaled(result, expected)]
        check_close(result, expected, f"Head h holds features h*d_head and up. {hint}", name, 0, suspects)


def _shape_of(candidate, *arguments):
    """Shape of the result for arguments whose sizes tell every slip from the others; () where there is none."""
    try:
        return tuple(getattr(candidate(*arguments), "shape", ()))
    except CheckFailed:
        return ()


@check("order of the features")
def merge_order(candidate, cases):
    """cases: (B, H, T, d_head)."""
    for shape in cases:
        x = _numbered(*shape)
        name = f"merge_heads of {shape}"
        result, expected = candidate(x), attention.merge_heads(x)
        check_tensor(result, name)
        hint = "First swap H and T with transpose(1, 2), then (B, T, H, d_head) -> (B, T, H*d_head) with reshape."
        if result.shape != expected.shape:
            cause = MERGED_SHAPES.get(_shape_of(candidate, _numbered(2, 3, 5, 4)))
            check_shape(result, expected.shape, cause or unless_squeezed(result, expected.shape, hint), name)
        hint = f"The features of head 0 come first. {hint}"
        check_close(result, expected, hint, name, 0, [*wrong_merges(x), rescaled(result, expected)])


@check("precision, gradients and arguments kept")
def split_keeps(candidate, sizes):
    """sizes: (B, T, num_heads, d_head)."""
    batch, time, heads, d_head = sizes
    x = normal(batch, heads * d_head, time, dtype=torch.float64).transpose(1, 2)  # a view, not contiguous
    _moves_numbers_only(candidate, attention.split_heads, x, heads)


@check("precision, gradients and arguments kept")
def merge_keeps(candidate, sizes):
    """sizes: (B, H, T, d_head)."""
    batch, heads, time, d_head = sizes
    x = normal(batch, time, heads, d_head, dtype=torch.float64).transpose(1, 2)  # as split_heads makes it
    _moves_numbers_only(candidate, attention.merge_heads, x)


def _moves_numbers_only(candidate, reference, x, *others):
    """The entries of x, a float64 view that is not contiguous, only change their places, and gradients follow.

    The dtype is kept, in single precision too.
    """
    result, after = candidate.observe(x, *others)
    right, hint = reference(x, *others), "Only axes change here, no number: keep the dtype of x."
    check_dtype(result, "float64", hint)
    check_shape(result, right.shape, "The sizes are those of x and of the arguments, in every call: fix none.")
    unchanged = after[0].shape == x.shape and bool((after[0] == x).all())
    check_true(unchanged, "x is changed by the call.", "Return a new tensor, and use no method that ends in _.")
    moved = "x is a transposed view here, and its entries stand in another order in memory: go by its axes alone."
    check_close(result, right, hint if agrees(result, right, atol=1e-2) else moved, atol=0)
    check_dtype(candidate(x.float(), *others), "float32", hint)
    x.requires_grad_()
    expected = reference(x, *others)
    cotangent = normal(*expected.shape, seed=1, dtype=torch.float64)
    gradient = candidate.gradients(cotangent, x, *others)[0]
    hint = "Stay in torch: no detach, no no_grad, no NumPy, no torch.tensor(...), no nn.Parameter."
    check_true(gradient is not None, "no gradient reaches x.", hint)
    check_close(gradient, torch.autograd.grad((expected * cotangent).sum(), x)[0], hint, "the gradient of x")


@check("parameter counts")
def parameter_counts(candidate, cases):
    """cases: (d_model, num_heads, count)."""
    for d_model, num_heads, count in cases:
        value = candidate(d_model, num_heads)
        case = f"parameter_count({d_model}, {num_heads})"
        hint = "Count with whole numbers: // rather than / and int rather than a tensor." if value == count else ""
        check_int(value, hint or "Return one whole number, the sum over all four projections.", case)
        if value != count:
            hint = "Four projections, each with d_model x d_model weights and d_model biases."
            check_true(False, f"{case} is {value}.", _cause_of_count(candidate) or hint)


def _cause_of_count(candidate, d_model=30, num_heads=6):
    """The hint of the slip that a count at telling sizes shows, or None."""
    value = candidate(d_model, num_heads)
    return next((hint for hint, wrong in wrong_counts(d_model, num_heads) if wrong == value), None)
