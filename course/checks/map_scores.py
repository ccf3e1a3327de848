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
)
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.inputs import normal

_PLACES = {-1: "the previous token", 0: "the token itself", 1: "the next token"}
_GIVEN_TO = {-1: "the one before it", 0: "itself", 1: "the one after it"}
_ROWS = "Each query has a row: take the weight in its row, and then the mean over the queries."
_LEADING = "Work on the last two axes, whatever stands before them: (..., T, T) -> (...)."
_BITS = "For each query minus the sum over its keys of w * log2(w), and then the mean over the queries."
_ZEROS = "A weight of 0 adds 0 to the entropy, while 0 * log2(0) is NaN: leave such weights out, or use torch.xlogy."
_NEXT_TO_0 = 1e-9  # adds no more than 3e-8 bits to an entropy
_OWN_NUMBERS = "Make new tensors: *=, an assigned entry and methods that end in _ write into the map."
_COLUMNS = "Add up the columns of the delimiters in each row, and take the mean over all rows."


def maps(*shape, seed=0, dtype=torch.float32):
    """Attention weights of this shape, the last two axes T and T."""
    return normal(*shape, seed=seed, dtype=torch.float64, scale=1.5).softmax(-1).to(dtype)


_LARGER = maps(7, 7, seed=181)  # where every slip gives another score, as it may not on paper


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
        expected = _diagonal(weights, offset).mean(-1)
        _check_number(candidate(weights), expected.item(), _neighbour_hint(offset), _neighbour_slips(weights, offset))


@check("maps of all layers and heads")
def stack(candidate, shapes):
    """shapes: (..., T, T), of maps without a weight of 0."""
    for seed, shape in enumerate(shapes):
        _check_stack(candidate, maps(*shape, seed=seed + 100, dtype=(torch.float32, torch.float64)[seed % 2]))


def _diagonal(weights, offset):
    return weights.diagonal(offset, -2, -1)


def _neighbour_hint(offset):
    end = {-1: " The first token has none before it.", 0: "", 1: " The last token has none after it."}[offset]
    return f"Take the weight that each token gives to {_GIVEN_TO[offset]}.{end} {_ROWS}"


def _slips_at(offset):
    return lambda weights: _neighbour_slips(weights, offset)


def _neighbour_slips(weights, offset):
    """(hint, scores) for what people return instead."""
    size, own = weights.shape[-1], _diagonal(weights, offset)
    for other in {-1, 0, 1} - {offset}:
        turned = "; queries are rows, keys are columns" if other == -offset else ""
        yield f"This is the weight on {_PLACES[other]}{turned}.", _diagonal(weights, other).mean(-1)
    if offset:
        edge = "first token has none before it" if offset < 0 else "last token has none after it"
        yield f"The {edge} and does not count: the mean is over T - 1 queries.", own.sum(-1) / size
        around = weights.gather(-1, (torch.arange(size) + offset).remainder(size)[:, None].expand_as(weights)[..., :1])
        yield (
            f"The {edge} and does not count: here it was paired with the token at the other end.",
            around.mean((-2, -1)),
        )
        side = weights.tril(-1) if offset < 0 else weights.triu(1)
        whole = side.sum(-1)
        where = "before" if offset < 0 else "after"
        yield f"This adds up all tokens {where}: take the one directly {where}.", whole.mean(-1)
        yield f"This adds up all tokens {where}: take the one directly {where}.", whole.sum(-1) / (size - 1)
        two = weights.diagonal(2 * offset, -2, -1)
        if two.shape[-1]:
            yield "This is two places away: take the token directly beside.", two.mean(-1)
    best = weights.argmax(-1) == torch.arange(size) + offset
    counted = best[..., 1:] if offset < 0 else best[..., : size - offset]
    yield "Take the weights themselves; here it was counted how often they are the largest.", counted.double().mean(-1)
    yield "Take the mean over the queries; here it is their sum.", own.sum(-1)
    yield "Take the mean over the queries; here it is the largest.", own.max(-1).values
    yield "Take the mean over the queries; here it is the median.", own.median(-1).values
    yield "Take the mean over all queries; here one query stands for them.", own[..., 0]
    yield "Take the mean over all queries; here one query stands for them.", own[..., -1]
    if own.shape[-1] > 1:
        yield "Take the mean over all queries; here one is left out.", own[..., 1:].mean(-1)
        yield "Take the mean over all queries; here one is left out.", own[..., :-1].mean(-1)
    yield "The weights are normalised already: no softmax.", _diagonal(weights.softmax(-1), offset).mean(-1)
    yield "The mean of the whole map is 1/T whatever the head does.", weights.mean((-2, -1))


# Attention to the delimiters


@check("one map by hand")
def delimiter_by_hand(candidate, weights, tokens, expected):
    larger = maps(7, 7, seed=35), ["[CLS]", "a", "b", "c", "d", "e", "[SEP]"]
    _check_by_hand(candidate, (torch.tensor(weights), list(tokens)), expected, _COLUMNS, larger, _delimiter_slips)


@check("sentences between [CLS] and [SEP]")
def delimiter_map(candidate, sizes):
    """sizes: the T of each map, [CLS] first and [SEP] last."""
    for seed, size in enumerate(sizes):
        weights, tokens = maps(size, size, seed=seed + 20), ["[CLS]", *"'a.b,c;de"[: size - 2], "[SEP]"]
        expected = head_scores.delimiter_score(weights, tokens).item()
        _check_number(candidate(weights, list(tokens)), expected, _COLUMNS, _delimiter_slips(weights, tokens))


@check("any delimiters, all layers and heads")
def delimiter_any(candidate, cases):
    """cases: (leading axes, tokens), with several delimiters in any place, or with none."""
    for seed, (lead, tokens) in enumerate(cases):
        weights = maps(*lead, len(tokens), len(tokens), seed=seed + 40)
        count = sum(token in head_scores.DELIMITERS for token in tokens)
        one = weights.reshape(-1, *weights.shape[-2:])[0]
        expected = head_scores.delimiter_score(one, tokens).item()
        hint = f"Here are {count} delimiters among {len(tokens)} tokens: look for them in tokens, wherever they stand."
        _check_number(candidate(one, list(tokens)), expected, hint, _delimiter_slips(one, tokens))
        if count:  # without any, a plain 0 says it for all maps
            _check_stack(candidate, weights, list(tokens))


def _delimiter_slips(weights, tokens):
    """(hint, scores) for what people return instead."""
    places = [place for place, token in enumerate(tokens) if token in head_scores.DELIMITERS]
    if not places:
        return
    columns = weights[..., places]
    others = [place for place in range(len(tokens)) if place not in places]
    marks = [place for place, token in enumerate(tokens) if not token.isalpha()]
    if marks != places:
        yield "Only [CLS] and [SEP] count; here other signs do as well.", weights[..., marks].sum(-1).mean(-1)
    yield "Add the delimiters up in each row; here it is their mean.", columns.mean((-2, -1))
    yield "Both [CLS] and [SEP] count; here one of them is missing.", columns[..., 0].mean(-1)
    yield "Both [CLS] and [SEP] count; here one of them is missing.", columns[..., -1].mean(-1)
    rows = weights[..., places, :]
    yield "Attention *to* a delimiter stands in its column; its row is what the delimiter looks at.", rows.sum((-2, -1))
    yield "Attention *to* a delimiter stands in its column; its row is what it looks at.", rows.mean(-1).sum(-1)
    yield "Attention *to* a delimiter stands in its column; its row is what it looks at.", rows.mean((-2, -1))
    yield (
        "Whole rows are added up: a delimiter stands in its column. (And x == a or b is always true: x in (a, b).)",
        rows.sum(-1).mean(-1),
    )
    yield "Take the mean over the queries; here it is the sum.", columns.sum((-2, -1))
    yield "This is the attention to all the other tokens.", 1 - columns.sum(-1).mean(-1)
    if others:
        yield "All queries count, the delimiters themselves too.", columns[..., others, :].sum(-1).mean(-1)
    yield "Here the delimiters alone count as queries: all tokens do.", columns[..., places, :].sum(-1).mean(-1)
    yield "Take the delimiters together; here it is the larger of them.", columns.max(-1).values.mean(-1)
    yield "Take the delimiters together; here it is the larger of them.", columns.mean(-2).max(-1).values
    edges = weights[..., 0].mean(-1) + weights[..., -1].mean(-1)
    yield "The first and the last token are not always the delimiters: look for them in tokens.", edges
    most = torch.isin(weights.argmax(-1), torch.tensor(places)).double().mean(-1)
    yield "Take the weights themselves; here it was counted how often they are the largest.", most


# Entropy


@check("entropy by hand")
def entropy_by_hand(candidate, weights, expected):
    _check_by_hand(candidate, (torch.tensor(weights),), expected, _BITS, (_LARGER,), _entropy_slips)


@check("entropy of one map")
def entropy_map(candidate, sizes):
    """sizes: the T of each map; no weight is 0."""
    for seed, size in enumerate(sizes):
        weights = maps(size, size, seed=seed + 60)
        expected = head_scores.entropy(weights).item()
        _check_number(candidate(weights), expected, _BITS, _entropy_slips(weights))


@check("entropy of small weights")
def entropy_small(candidate, size):
    """A map of T = size tokens whose rows hold 1/2, 1/4, 1/8 ... and the last of them twice."""
    row = torch.tensor([2.0**-k for k in range(1, size)] + [2.0 ** (1 - size)])
    weights = torch.stack([row.roll(shift) for shift in range(size)])
    _check_number(candidate(weights), 2 - 2.0 ** (2 - size), _BITS, _entropy_slips(weights))


@check("weights that are 0")
def entropy_zeros(candidate, cases):
    """cases: weights (4, 4). A 0 counts as what is next to 0; what the answer makes of that costs points elsewhere."""
    even = _number(candidate(torch.full((4, 4), 0.25)))
    for weights in map(torch.tensor, cases):
        found = _number(candidate(weights))
        check_true(bool(np.isfinite(found)), "the entropy of a map with weights of 0 is NaN or infinite.", _ZEROS)
        near = _number(candidate(weights.clamp(min=_NEXT_TO_0)))
        check_close(found, near, _ZEROS, "the entropy of a map with weights of 0", atol=1e-3)
        check_true(abs(found - even) > 1e-3, "the entropy is the same as that of equal weights.", _BITS)


@check("a map with weights of 0 left as it was")
def entropy_keeps(candidate, weights):
    """Whatever is done about zeros, is done to the answer's own numbers."""
    weights = torch.tensor(weights)
    _, (after,) = candidate.observe(weights)
    check_true(torch.equal(weights, after), "the map was changed in place.", _OWN_NUMBERS)


def _entropy_slips(weights):
    """(hint, entropies) for what people return instead."""
    size = weights.shape[-1]
    terms = -torch.special.xlogy(weights, weights)  # in nats
    rows = terms.sum(-1)
    bits = rows.mean(-1) / np.log(2)
    yield "Entropy in bits takes log2; this is the natural logarithm.", rows.mean(-1)
    yield "Entropy in bits takes log2; this is log10.", rows.mean(-1) / np.log(10)
    yield "log2(w) is log(w) / log(2): divide, do not multiply.", rows.mean(-1) * np.log(2)
    yield "The sign: a logarithm of a weight is negative, and an entropy is not.", -bits
    yield "The sign, and log2 instead of log: an entropy in bits is not negative.", -rows.mean(-1)
    yield "Take the mean over the queries; here it is the sum.", rows.sum(-1) / np.log(2)
    yield "Add up over the keys, and take the mean over the queries alone.", bits / size
    for added in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2):
        yield (
            "What is added to the weights before the logarithm changes the value: take 1e-12, or torch.xlogy.",
            -(weights * (weights + added).log2()).sum(-1).mean(-1),
        )
    for floor in (1e-5, 1e-4, 1e-3, 1e-2):
        if (weights < floor).any():
            yield (
                "Small weights count as they are: raise none but the zeros, to 1e-12, or use torch.xlogy.",
                -(weights * weights.clamp(min=floor).log2()).sum(-1).mean(-1),
            )
    average = weights.mean(-2)
    yield (
        "Take the entropy of each row, and then the mean; here it is the entropy of the mean row.",
        -torch.special.xlogy(average, average).sum(-1) / np.log(2),
    )
    yield "This is divided by the largest possible entropy, log2(T): leave it in bits.", bits / np.log2(size)
    yield "This is 2 to the entropy, a number of tokens: return the entropy.", 2**bits
    yield "This is 2 to the entropy, a number of tokens: return the entropy.", (2 ** (rows / np.log(2))).mean(-1)
    yield (
        "Multiply each logarithm by its weight; here the logarithms alone are summed.",
        -weights.log2().sum(-1).mean(-1),
    )
    yield (
        "Multiply each logarithm by its weight; here the logarithms alone are averaged.",
        -weights.log2().mean((-2, -1)),
    )
    again = weights.softmax(-1)
    yield (
        "The weights are normalised already: no softmax.",
        -torch.special.xlogy(again, again).sum(-1).mean(-1) / np.log(2),
    )
    yield "Take the mean over the queries; here it is the largest.", rows.max(-1).values / np.log(2)
    yield "Take the mean over all queries; here the first stands for them.", rows[..., 0] / np.log(2)
    yield "Take the mean over all queries; here the last stands for them.", rows[..., -1] / np.log(2)
    yield "Take the mean over the queries; here it is the median.", rows.median(-1).values / np.log(2)
    yield "log2 is there already: no further division by log(2).", bits / np.log(2)
    yield (
        "This measures how even the weights are by their squares; entropy takes w * log2(w).",
        1 - (weights**2).sum(-1).mean(-1),
    )


# What all scores share


def _number(value):
    """The one number that a score of one map is: a tensor (), or any other number."""
    array = as_array(value)
    if array.size != 1:
        raise CheckFailed(
            f"the result is {kind_of(value)}, wanted one number for one map.",
            "One number for each map: a mean over the queries is the last step.",
        )
    return float(array.reshape(()).real)


def _check_number(value, expected, hint, slips):
    found = _number(value)
    suspects = [(cause, float(wrong)) for cause, wrong in slips if abs(float(wrong) - expected) > 2e-5]
    check_close(found, expected, hint, atol=1e-5, suspects=suspects)


def _check_by_hand(candidate, arguments, expected, hint, larger, slips):
    """A case done on paper; ``larger`` are arguments on which the slips can be told apart."""
    found = _number(candidate(*arguments))
    if agrees(found, expected):
        return
    try:
        shown = _number(candidate(*larger))
    except CheckFailed:
        shown = found
    cause = likeliest(shown, ((said, float(wrong)) for said, wrong in slips(*larger)))
    check_close(found, expected, cause or hint, atol=1e-5)


def _check_stack(candidate, weights, *more):
    """The scores of weights (..., T, T): a tensor with, for each map, what the answer says of it alone."""
    lead, size = weights.shape[:-2], weights.shape[-1]
    own = [_number(candidate(one, *more)) for one in weights.reshape(-1, size, size)]
    expected = torch.tensor(own, dtype=torch.float64).reshape(lead)
    try:
        value, (after, *more_after) = candidate.observe(weights, *more)
    except CheckFailed as failure:  # one map alone went through
        raise CheckFailed(failure.seen, _LEADING) from None
    check_tensor(value)
    check_shape(value, lead, _LEADING)
    check_close(value, expected, f"{_LEADING} A map among others gets another score than alone.", atol=1e-5)
    check_true(torch.equal(weights, after), "the map was changed in place.", _OWN_NUMBERS)
    hint = "Make a list of your own: pop, remove and an assigned entry change the caller's."
    check_true(more_after == list(more), "the list of tokens was changed.", hint)
