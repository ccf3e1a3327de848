"""Checks of order_sensitivity, which measures how far a model is from permutation equivariance."""

import contextlib
import math

import torch

from course.checks.compare import agrees, check_close, check_true, kind_of, likeliest, refuse_none
from course.checks.exam import check
from course.checks.exceptions import LAST
from course.checks.failure import CheckFailed
from course.checks.inputs import normal
from course.checks.probes import OrderProbe

_MEASURE = "Take the mean of abs(model(x[:, permutation]) - model(x)[:, permutation]), over all entries."
_RAISED = {
    "out of bounds": "Permute along T, the second axis, x[:, permutation]; and take item [0] of a tuple only.",
    "values to unpack": "This model returns a tensor: take item [0] of a tuple only.",
    "OrderProbe.forward() takes": "A model takes x and nothing else: hand it x[:, permutation].",
}
_NUMBER = "Turn the mean into a number with .item() or float()."


def _case(batch, permutation, width, dtype=torch.float32, seed=0, **settings):
    """(model in eval mode, x (B, T, E), permutation (T,))."""
    model = OrderProbe(width, **settings).to(dtype).eval()
    x = normal(batch, len(permutation), width, seed=seed, dtype=dtype) + 0.25  # off zero, so that a sign can be missed
    return model, x, torch.tensor(permutation)


def _outputs(model, x, permutation):
    """Outputs (B, T, E) for x and for x permuted."""
    with torch.no_grad():
        outputs = [model(inputs) for inputs in (x, x[:, permutation])]
    return [out[0] if isinstance(out, tuple) else out for out in outputs]


def _measured(model, x, permutation):
    """The value wanted."""
    y, moved = _outputs(model, x, permutation)
    return (moved - y[:, permutation]).abs().mean()


def mistaken_measures(model, x, permutation):
    """(hint, number) for what people compute instead."""
    y, moved = _outputs(model, x, permutation)
    inverse = permutation.argsort()
    difference = moved - y[:, permutation]
    size = difference.abs()
    moves = "Permute the output in the same way as the input, with permutation itself"
    yield f"{moves}; here it is the inverse.", (moved - y[:, inverse]).abs().mean()
    turned = _measured(model, x, inverse)
    yield "Use permutation itself, for the input and for the output; here it is the inverse in both.", turned
    yield f"{moves}; here the two outputs are compared as they are.", (moved - y).abs().mean()
    yield f"{moves}; here it is done twice.", (moved - y[:, permutation][:, permutation]).abs().mean()
    yield (
        "Run the model on the permuted input too; here its output alone is permuted.",
        (y - y[:, permutation]).abs().mean(),
    )
    yield "Both sides are the same here: permute the input for one and the output for the other.", size.sum() * 0
    yield "Take the absolute value before the mean: differences of opposite sign cancel.", difference.mean()
    yield "Take the absolute value of each entry before the mean, not of the mean.", difference.mean().abs()
    yield "Take the mean over all entries; here it is the sum.", size.sum()
    yield "Take the mean over all entries; here it is the largest.", size.max()
    yield "Take the mean over all entries; here it is the median.", size.median()
    yield "Take absolute differences; here they are squared.", (difference**2).mean()
    yield "Take absolute differences; here it is the root of the mean square.", (difference**2).mean().sqrt()
    yield "Take the mean over all entries; here it is a norm.", difference.norm()
    yield "Take the mean over all entries; here each token's norm is taken first.", difference.norm(dim=-1).mean()
    yield "Take the mean over the features as well; here they are added up.", size.sum(-1).mean()
    yield "Take the mean over the positions as well; here they are added up.", size.sum(1).mean()
    yield "Take the mean over the batch as well; here its items are added up.", size.sum(0).mean()
    yield "The mean over all items of the batch is wanted; here it is the first one's.", size[0].mean()
    yield "The mean over all positions is wanted; here it is the first one's.", size[:, 0].mean()
    yield "The two outputs are subtracted; here they are added.", (moved + y[:, permutation]).abs().mean()
    yield "Compare with the permuted output, not with the permuted x.", (moved - x[:, permutation]).abs().mean()
    backwards = torch.arange(len(permutation)).flip(0)
    yield "Use the permutation that is given; here the tokens are turned back to front.", _measured(model, x, backwards)
    for digits in (2, 3, 4):
        yield "Return the number as it is, not rounded.", size.mean().double().round(decimals=digits)
    yield "Take the mean as it is, without dividing by the size of the output.", size.mean() / y.abs().mean()
    yield "Permute one of x and the output each time; here the difference is counted double.", 2 * size.mean()


def _measure(candidate, model, x, permutation):
    """The student's number; that it must be a float is for sensitivity_float to judge."""
    try:
        result = candidate(model, x, permutation)
    except CheckFailed as failure:
        hints = (hint for words, hint in _RAISED.items() if words in failure.seen)
        raise CheckFailed(failure.seen, next(hints, failure.hint)) from None
    refuse_none(result)
    if isinstance(result, int) and not isinstance(result, bool):
        raise CheckFailed("the result is an int, wanted a float.", f"int() cuts the fraction off. {_NUMBER}")
    number = result[0] if isinstance(result, tuple | list) and len(result) == 1 else result
    with contextlib.suppress(TypeError, ValueError, RuntimeError):  # a number in a string or a list costs one part
        return float(number)
    if math.prod(getattr(result, "shape", ())) != 1:
        raise CheckFailed(f"the result is {kind_of(result)}, wanted one number.", "Take the mean over all entries.")
    raise CheckFailed(f"the result is {kind_of(result)}, wanted a float.", _NUMBER)


def _check_value(candidate, model, x, permutation):
    expected = float(_measured(model, x, permutation))
    numbers = ((hint, float(wrong)) for hint, wrong in mistaken_measures(model, x, permutation))
    suspects = ((hint, wrong) for hint, wrong in numbers if abs(wrong - expected) > 2e-5)
    given = _measure(candidate, model, x, permutation)
    if not agrees(given, expected):
        hint = _written(candidate, model, x, permutation) or _MEASURE
        check_close(given, expected, hint, atol=1e-5, suspects=suspects)


def _written(candidate, model, x, permutation):
    """The hint for an answer that writes into x or the permutation, and measures what became of them; else None."""
    _, (_, *after) = candidate.observe(model, x, permutation)
    kept = all(map(torch.equal, after, (x, permutation)))
    return None if kept else "x or the permutation is written into: make new tensors, as x[:, permutation] does."


@check("numbers by hand")
def sensitivity_by_hand(candidate, x, permutation, place, expected):
    """A model that multiplies the token at position p by 1 + place * p; x are the numbers of one sequence, E = 1."""
    model = OrderProbe(1, place=place, identity=True).eval()
    tokens, permutation = torch.tensor(x)[None, :, None], torch.tensor(permutation)
    given = _measure(candidate, model, tokens, permutation)
    if not agrees(given, expected):
        check_close(given, expected, _cause(candidate) or _MEASURE, atol=1e-5)


def _cause(candidate):
    """The hint of the slip that the candidate's number shows in a case where every slip gives another, or None."""
    case = _case(3, [1, 2, 0, 4, 3], 4, place=0.5, past=0.2)
    try:
        return likeliest(_measure(candidate, *case), mistaken_measures(*case)) or _written(candidate, *case)
    except CheckFailed as failure:
        return failure.hint if failure.hint != LAST else None


@check("0 for a model without order")
def sensitivity_zero(candidate, batch, permutation, width):
    """A permutation-equivariant model."""
    _check_value(candidate, *_case(batch, permutation, width))


@check("models that see order")
def sensitivity_values(candidate, cases):
    """cases: (B, permutation, E, place, past) of models that use position, the past, or both."""
    for seed, (batch, permutation, width, place, past) in enumerate(cases):
        for dtype in (torch.float32, torch.float64):
            _check_value(candidate, *_case(batch, permutation, width, dtype, seed, place=place, past=past))


@check("models that return a tuple")
def sensitivity_of_tuple(candidate, batch, permutation, width):
    """A model whose output is the first item of a tuple."""
    model, x, permutation = _case(batch, permutation, width, place=0.5, past=0.25, as_tuple=True)
    try:
        _check_value(candidate, model, x, permutation)
    except CheckFailed as failure:
        hint = "This model returns a tuple, of any length: its output is the first item, [0]."
        raise CheckFailed(failure.seen, hint if " raised " in failure.seen else failure.hint) from None


@check("a Python float")
def sensitivity_float(candidate, batch, permutation, width):
    """The type of the result."""
    result = candidate(*_case(batch, permutation, width, place=1.0))
    refuse_none(result)
    check_true(isinstance(result, float), f"the result is {kind_of(result)}, wanted a float.", _NUMBER)


@check("model, x and permutation left as they were")
def sensitivity_leaves(candidate, cases):
    """Mode, parameters and gradients of the model, and the two tensors.

    cases: (B, permutation, E). One that raises is passed over when another one runs: the value has cost its points.
    """
    failures = []
    for case in cases:
        given = _case(*case, place=1.0, past=0.5)
        try:
            _, after = candidate.observe(*given)
        except CheckFailed as failure:
            failures.append(failure)
            continue
        _check_left(given, after)
    if len(failures) == len(cases):
        raise failures[0]


def _check_left(given, left):
    """Fail when the model, x or the permutation came back different."""
    (model, x, permutation), (after, x_after, permutation_after) = given, left
    same = torch.equal(model.weight, after.weight) and model.weight.dtype == after.weight.dtype
    kept, frozen = after.get_extra_state().tolist()
    for condition, seen, hint in (
        (not after.training, "the model came back in train mode.", "It is given in eval mode: leave it so."),
        (
            after.calls[0] == 0,
            "the model ran in train mode.",
            "It is given in eval mode, without dropout: leave it so.",
        ),
        (kept == 0, "the model's parameters hold gradients now.", "Measure under torch.no_grad(), without backward()."),
        (frozen == 0, "the model's parameters were frozen.", "Use torch.no_grad() instead of requires_grad_(False)."),
        (same, "the model's parameters were changed.", "Only call the model."),
        (torch.equal(x, x_after), "x was changed in place.", "x[:, permutation] makes a new tensor: use that."),
        (torch.equal(permutation, permutation_after), "permutation was changed in place.", "Leave it as it is."),
    ):
        check_true(bool(condition), seen, hint)
