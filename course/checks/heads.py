"""Checks of how a width is cut into heads: head_width, split_heads, merge_heads, parameter_count."""

import math

import torch

from course import attention
from course.checks.compare import (
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
            cause = _SPLIT_SHAPES.get(_shape_of(candidate, _numbered(2, 5, 12), 3))
            check_shape(result, expected.shape, cause or unless_squeezed(result, expected.shape, hint), name)
        suspects = [*_wrong_splits(x, heads), _rescaled(result, expected)]
        check_close(result, expected, f"Head h holds features h*d_head and up. {hint}", name, 0, suspects)


def _shape_of(candidate, *arguments):
    """Shape of the result for arguments whose sizes tell every slip from the others; () where there is none."""
    try:
        return tuple(getattr(candidate(*arguments), "shape", ()))
    except CheckFailed:
        return ()


_SPLIT_SHAPES = {  # of x (2, 5, 12) in 3 heads of 4 columns, (2, 3, 5, 4)
    (2, 5, 12): "x came back as it was: reshape and transpose return a new tensor, so keep it, x = x.reshape(...).",
    (2, 5, 3, 4): "Now swap T and H with transpose(1, 2), which returns a new tensor: keep it.",
    (3, 2, 5, 4): "The heads stand before the batch: they are axis 1, as torch.stack(heads, dim=1) puts them.",
    (6, 5, 4): "Batch and heads are one axis here: keep them apart, (B, H, T, d_head).",
    (2, 1, 5, 4): "Only one head is there: a return inside the loop ends it after the first.",
    (2, 3, 5, 3): "A column of each head is missing: the end of a slice is not part of it, so it is (h + 1)*d_head.",
    (2, 3, 5, 12): "Every head has all columns here: head h holds its own d_head of them, from h*d_head on.",
}


def _rescaled(result, right):
    """(hint, wrong value): the right numbers times one factor, if that is what the result holds."""
    hint = "Only places change here, no number: multiply and divide by nothing."
    return hint, right * (result.sum() / right.sum())


def _wrong_splits(x, heads):
    """(hint, wrong heads) for x (B, T, d_model)."""
    batch, time, width = x.shape
    shape = (batch, heads, time, width // heads)
    right = attention.split_heads(x, heads)
    block = "Head h holds a block of neighbouring features: (B, T, H, d_head), the heads outside and d_head inside."
    return [
        (
            "A view alone mixes the tokens: first (B, T, H, d_head), then swap T and H with transpose(1, 2).",
            x.reshape(shape),
        ),
        (block, x.reshape(batch, time, width // heads, heads).permute(0, 3, 1, 2)),
        (
            "Do not swap time and features first: cut the last axis, then swap T and H.",
            x.transpose(1, 2).reshape(shape),
        ),
        ("Do not mix the batch with the heads: only T and H change places.", x.transpose(0, 1).reshape(shape)),
        ("The heads are counted from 0, in the order of the features: this order is reversed.", right.flip(1)),
        ("Time keeps its order; here it is reversed.", right.flip(2)),
        ("Every head has its own features: here all heads hold the first head's.", right[:, :1].expand(shape)),
        ("Every item of the batch is cut: here all are copies of the first.", right[:1].expand(shape)),
    ]


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
            cause = _MERGED_SHAPES.get(_shape_of(candidate, _numbered(2, 3, 5, 4)))
            check_shape(result, expected.shape, cause or unless_squeezed(result, expected.shape, hint), name)
        hint = f"The features of head 0 come first. {hint}"
        check_close(result, expected, hint, name, 0, [*_wrong_merges(x), _rescaled(result, expected)])


_BESIDE = "The heads go side by side, along the last axis: torch.cat(heads, dim=-1)"
_MERGED_SHAPES = {  # of heads (2, 3, 5, 4), (2, 5, 12)
    (
        2,
        3,
        5,
        4,
    ): "x came back as it was: transpose and reshape return a new tensor, so keep it, x = x.transpose(1, 2).",
    (2, 5, 3, 4): "H and d_head are still two axes: make them one, (B, T, H*d_head), with reshape.",
    (
        2,
        5,
        4,
    ): "One head's width is left: the heads stand side by side, none left out, and neither summed nor averaged.",
    (2, 5, 8): "A head is missing: h runs from 0 to H - 1, whatever H is.",
    (2, 15, 4): f"{_BESIDE}, or H and d_head as neighbours before they become one axis.",
    (6, 5, 4): f"{_BESIDE}, and not along the batch.",
    (3, 5, 8): "The heads are axis 1 of x, and a loop over x runs over the batch: take x[:, h], or x.unbind(1).",
    (2, 3, 20): "T went into the last axis: x comes as (B, H, T, d_head), so swap H and T with transpose(1, 2) first.",
    (5, 2, 12): "Batch and time are exchanged: they come first, in this order, (B, T, H*d_head).",
}


def _wrong_merges(x):
    """(hint, wrong tokens) for heads x (B, H, T, d_head)."""
    batch, heads, time, d_head = x.shape
    shape = (batch, time, heads * d_head)
    right = attention.merge_heads(x)
    return [
        ("A view alone mixes the tokens: swap H and T with transpose(1, 2) first.", x.reshape(shape)),
        (
            "The heads stand side by side: all features of head 0, then all of head 1, not one of each in turn.",
            x.permute(0, 2, 3, 1).reshape(shape),
        ),
        ("Swap H and T, and leave d_head the last axis.", x.transpose(2, 3).reshape(shape)),
        ("Swap H and T, and leave d_head the last axis.", x.permute(0, 3, 1, 2).reshape(shape)),
        ("The heads keep their order: head 0 comes first.", x.flip(1).transpose(1, 2).reshape(shape)),
        ("Time keeps its order; here it is reversed.", right.flip(1)),
        (
            "Concatenate the heads; neither sum nor average them.",
            x.mean(1).repeat(1, 1, heads),
        ),
        ("Every head has its own features: here the first head's are repeated.", x[:, 0].repeat(1, 1, heads)),
        ("Every item of the batch is merged: here all are copies of the first.", right[:1].expand(shape)),
    ]


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
    """The float64 entries of x, a view that is not contiguous, change their places alone, and gradients follow."""
    result, after = candidate.observe(x, *others)
    hint = "Only axes change here, no number: keep the dtype of x."
    check_dtype(result, "float64", hint)
    unchanged = after[0].shape == x.shape and bool((after[0] == x).all())
    check_true(unchanged, "x is changed by the call.", "Return a new tensor, and use no method that ends in _.")
    check_close(result, reference(x, *others), hint, atol=0)
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
    return next((hint for hint, wrong in _wrong_counts(d_model, num_heads) if wrong == value), None)


def _wrong_counts(d_model, num_heads):
    """(hint, wrong count): what is usually left out or counted twice."""
    one, weights, d_head = d_model * d_model + d_model, d_model * d_model, d_model // num_heads
    shared = "The heads share the columns of the projections: their number changes nothing."
    biases = "Each of the four projections has a bias of d_model numbers."
    output = "The output projection counts too: Q, K, V and output make four."
    all_heads = "That is one head's share: count the columns of all the heads."
    return [
        (biases, 4 * weights),
        (biases, 4 * weights + d_model),
        (biases, 4 * weights + 3 * d_model),
        (biases, 4 * weights + 4),
        (output, 3 * one),
        (f"{output} And {biases[0].lower()}{biases[1:]}", 3 * weights),
        ("That is one projection: Q, K, V and output make four.", one),
        ("That is one projection without its bias: Q, K, V and output make four.", weights),
        (shared, 4 * one * num_heads),
        (shared, 3 * one * num_heads + one),
        (f"{shared} {output}", 3 * one * num_heads),
        (f"{shared} {biases}", 4 * weights * num_heads),
        (all_heads, 4 * (d_model * d_head + d_head)),
        (all_heads, 4 * d_model * d_head),
        (all_heads, 3 * (d_model * d_head + d_head) + one),
        ("A head's projection has d_model rows and d_head columns.", 4 * (d_head * d_head + d_head)),
        ("A head's projection has d_model rows and d_head columns.", 4 * num_heads * (d_head * d_head + d_head)),
        ("A power is written d_model ** 2: in Python ^ does something else.", 4 * (d_model ^ (2 + d_model))),
        ("A power is written d_model ** 2: in Python ^ does something else.", 4 * ((d_model ^ 2) + d_model)),
        ("Bias and weights are added: d_model * d_model + d_model for each projection.", 4 * weights * d_model),
        ("Count numbers, and not their bytes.", 16 * one),
        ("The arguments come as d_model, num_heads: here they are exchanged.", 4 * (num_heads * num_heads + num_heads)),
    ]
