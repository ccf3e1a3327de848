"""Checks of the numbers that say what a head does, the scores of attention maps.

Maps are attention weights (..., T, T), queries first, rows summing to one. What a score says of one map,
and whether it takes many maps at once, are judged apart: stacks are held against the answer's own score of each map.
"""

import numpy as np
import torch

from course import head_scores
from course.checks.compare import (
    agrees,
    as_array,
    check_close,
    check_shape,
    check_tensor,
    check_true,
    kind_of,
    likeliest,
    unless_squeezed,
)
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.inputs import normal
from course.checks.map_slips import delimiter_slips, diagonal, entropy_slips, neighbour_slips

_GIVEN_TO = {-1: "the one before it", 0: "itself", 1: "the one after it"}
_ROWS = "Each query has a row: take the weight in its row, and then the mean over the queries."
_LEADING = "Work on the last two axes, whatever stands before them: (..., T, T) -> (...)."
_ALONE = "Maps with two axes in front go through, one map (T, T) alone does not: count axes from the end, -1 and -2."
_ARGUMENT = "It does not fit this map: compute with the arguments alone, and with no variable of the notebook."
_KEEPDIM = "An axis of length 1 is left over: leave keepdim out, (..., T, T) -> (...)."
_BITS = "For each query minus the sum over its keys of w * log2(w), and then the mean over the queries."
_ZEROS = "A weight of 0 adds 0 to the entropy, while 0 * log2(0) is NaN: leave such weights out, or use torch.xlogy."
_LOST = "A row with a 0 in it counts as 0 as a whole: leave out the single weights, before the sum over the keys."
_NEXT_TO_0 = 1e-9  # adds no more than 3e-8 bits to an entropy
_OWN_NUMBERS = "Make new tensors: *=, an assigned entry and methods that end in _ write into the map."
_COLUMNS = "Add up the columns of the delimiters in each row, and take the mean over all rows."


def maps(*shape, seed=0, dtype=torch.float32):
    """Attention weights of this shape, the last two axes T and T."""
    return normal(*shape, seed=seed, dtype=torch.float64, scale=1.5).softmax(-1).to(dtype)


_LARGER = maps(7, 7, seed=3452)  # where every slip gives another score, as it may not on paper


# Scores that read one diagonal of the map


@check("one map by hand")
def neighbour_by_hand(candidate, offset, weights, expected):
    """offset -1, 0 or 1: the previous token, the token itself, the next one."""
    _check_by_hand(
        candidate, (torch.tensor(weights),), expected, _neighbour_hint(offset), (_LARGER,), _slips_at(offset)
    )


@check("one map")
def neighbour_map(candidate, offset, sizes):
    """sizes: the T of each map."""
    for seed, size in enumerate(sizes):
        weights = maps(size, size, seed=seed)
        expected = diagonal(weights, offset).mean(-1)
        _check_number(candidate(weights), expected.item(), _neighbour_hint(offset), neighbour_slips(weights, offset))


@check("maps of all layers and heads")
def stack(candidate, shapes):
    """shapes: (..., T, T), of maps without a weight of 0."""
    for seed, shape in enumerate(shapes):
        _check_stack(candidate, maps(*shape, seed=seed + 100, dtype=(torch.float32, torch.float64)[seed % 2]))


def _neighbour_hint(offset):
    end = {-1: " The first token has none before it.", 0: "", 1: " The last token has none after it."}[offset]
    return f"Take the weight that each token gives to {_GIVEN_TO[offset]}.{end} {_ROWS}"


def _slips_at(offset):
    return lambda weights: neighbour_slips(weights, offset)


# Attention to the delimiters


@check("one map by hand")
def delimiter_by_hand(candidate, weights, tokens, expected):
    larger = maps(7, 7, seed=35), ["[CLS]", "a", "b", "c", "d", "e", "[SEP]"]
    _check_by_hand(candidate, (torch.tensor(weights), list(tokens)), expected, _COLUMNS, larger, delimiter_slips)


@check("sentences between [CLS] and [SEP]")
def delimiter_map(candidate, sizes):
    """sizes: the T of each map, [CLS] first and [SEP] last."""
    for seed, size in enumerate(sizes):
        weights, tokens = maps(size, size, seed=seed + 20), ["[CLS]", *"'a.b,c;de"[: size - 2], "[SEP]"]
        expected = head_scores.delimiter_score(weights, tokens).item()
        _check_number(candidate(weights, list(tokens)), expected, _COLUMNS, delimiter_slips(weights, tokens))


@check("any delimiters, all layers and heads")
def delimiter_any(candidate, cases):
    """cases: (leading axes, tokens), with several delimiters in any place, or with none."""
    for seed, (lead, tokens) in enumerate(cases):
        weights = maps(*lead, len(tokens), len(tokens), seed=seed + 40)
        count = sum(token in head_scores.DELIMITERS for token in tokens)
        one = weights.reshape(-1, *weights.shape[-2:])[0]
        expected = head_scores.delimiter_score(one, tokens).item()
        if not count:  # a plain 0 says it for all maps
            _check_without(candidate, one, list(tokens))
            continue
        hint = f"Here are {count} delimiters among {len(tokens)} tokens: look for them in tokens, wherever they stand."
        _check_number(candidate(one, list(tokens)), expected, hint, delimiter_slips(one, tokens))
        _check_stack(candidate, weights, list(tokens))


def _check_without(candidate, weights, tokens):
    hint = "None of these tokens is a delimiter: the score is 0, a sum without terms."
    try:
        found = _number(candidate(weights, tokens))
    except CheckFailed as failure:
        raise CheckFailed(failure.seen, hint) from None
    check_true(found == 0, f"the score of a sentence without delimiters is {found:.2g}.", hint)


# Entropy


@check("entropy by hand")
def entropy_by_hand(candidate, weights, expected):
    _check_by_hand(candidate, (torch.tensor(weights),), expected, _BITS, (_LARGER,), entropy_slips)


@check("entropy of one map")
def entropy_map(candidate, sizes):
    """sizes: the T of each map; no weight is 0."""
    for seed, size in enumerate(sizes):
        weights = maps(size, size, seed=seed + 60)
        expected = head_scores.entropy(weights).item()
        _check_number(candidate(weights), expected, _BITS, entropy_slips(weights))


@check("entropy of small weights")
def entropy_small(candidate, size):
    """A map of T = size tokens whose rows hold 1/2, 1/4, 1/8 ... and the last of them twice."""
    row = torch.tensor([2.0**-k for k in range(1, size)] + [2.0 ** (1 - size)])
    weights = torch.stack([row.roll(shift) for shift in range(size)])
    _check_number(candidate(weights), 2 - 2.0 ** (2 - size), _BITS, entropy_slips(weights))


@check("weights that are 0")
def entropy_zeros(candidate, cases):
    """cases: weights (4, 4). A 0 counts as what is next to 0; what the answer makes of that costs points elsewhere."""
    even = _number(candidate(torch.full((4, 4), 0.25)))
    for weights in map(torch.tensor, cases):
        found = _number(candidate(weights))
        check_true(bool(np.isfinite(found)), "the entropy of a map with weights of 0 is NaN or infinite.", _ZEROS)
        near = _number(candidate(weights.clamp(min=_NEXT_TO_0)))
        rows = torch.special.entr(weights).sum(-1) * (weights > 0).all(-1) / np.log(2)
        lost = [(_LOST, rows.mean().item())]
        check_close(found, near, _ZEROS, "the entropy of a map with weights of 0", atol=1e-3, suspects=lost)
        check_true(abs(found - even) > 1e-3, "the entropy is the same as that of equal weights.", _BITS)


@check("a map with weights of 0 left as it was")
def entropy_keeps(candidate, weights):
    """Whatever is done about zeros, is done to the answer's own numbers."""
    weights = torch.tensor(weights)
    _, (after,) = candidate.observe(weights)
    check_true(torch.equal(weights, after), "the map was changed in place.", _OWN_NUMBERS)


# What all scores share


def _number(value):
    """The one number that a score of one map is: a tensor (), or any other number."""
    array = as_array(value)
    if array.size != 1:
        hint = "One number for each map: a mean over the queries is the last step."
        raise CheckFailed(f"the result is {kind_of(value)}, wanted one number for one map.", hint)
    return float(array.reshape(()).real)


def _check_number(value, expected, hint, slips):
    found = _number(value)
    wrong = ((cause, float(value)) for cause, value in slips)
    suspects = ((cause, value) for cause, value in wrong if abs(found - value) < abs(value - expected) / 4)
    check_close(found, expected, hint, atol=1e-5, suspects=suspects)


def _check_by_hand(candidate, arguments, expected, hint, larger, slips):
    """A case done on paper; ``larger`` are arguments on which the slips can be told apart."""
    found = _score(candidate, *arguments)
    if agrees(found, expected):
        return
    try:
        shown = _number(candidate(*larger))
    except CheckFailed:
        shown = found
    cause = likeliest(shown, ((said, float(wrong)) for said, wrong in slips(*larger)))
    check_close(found, expected, cause or hint, atol=1e-5)


def _score(candidate, weights, *more):
    """What the answer says of one map (T, T)."""
    try:
        value = candidate(weights, *more)
    except CheckFailed as failure:
        if more and "out of bounds" in failure.seen:
            raise CheckFailed(failure.seen, _ARGUMENT) from None
        if _goes_through(candidate, weights.expand(2, 3, -1, -1), *more):
            raise CheckFailed(failure.seen, _ALONE) from None
        raise
    foreign = any(axis > len(weights) for axis in getattr(value, "shape", ()))
    check_true(not foreign, f"one map of {len(weights)} tokens gives {kind_of(value)}.", _ARGUMENT)
    return _number(value)


def _goes_through(candidate, *arguments):
    try:
        candidate(*arguments)
    except CheckFailed:
        return False
    return True


def _check_stack(candidate, weights, *more):
    """The scores of weights (..., T, T): a tensor with, for each map, what the answer says of it alone."""
    lead, size = weights.shape[:-2], weights.shape[-1]
    own = [_score(candidate, one, *more) for one in weights.reshape(-1, size, size)]
    expected = torch.tensor(own, dtype=torch.float64).reshape(lead)
    try:
        value, (after, *more_after) = candidate.observe(weights, *more)
    except CheckFailed as failure:  # one map alone went through
        raise CheckFailed(failure.seen, _LEADING) from None
    check_tensor(value)
    left_over = tuple(value.shape) in {(*lead, 1), (*lead, 1, 1)}
    check_shape(value, lead, _KEEPDIM if left_over else unless_squeezed(value, lead, _LEADING))
    check_close(value, expected, f"{_LEADING} A map among others gets another score than alone.", atol=1e-5)
    check_true(torch.equal(weights, after), "the map was changed in place.", _OWN_NUMBERS)
    hint = "Make a list of your own: pop, remove and an assigned entry change the caller's."
    check_true(more_after == list(more), "the list of tokens was changed.", hint)
