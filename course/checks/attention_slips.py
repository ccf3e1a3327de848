"""What is usually mistaken in attention: for each mistake a hint, and the weights that it makes.

``wrong_weights``, ``dropped`` and ``masked_wrongly`` give the suspects of ``check_close``.
"""

import math

import torch

from course.checks.inputs import causal

_USUAL_WIDTHS = (8, 16, 32, 64, 128, 256, 512)  # of heads and of models, in books and examples


def wrong_weights(q, k, v):
    """(hint, wrong weights) for q (B, H, T, d), k (B, H, S, d) and v (B, H, S, d_v), the likeliest first."""
    dots = q @ k.transpose(-2, -1)
    scores = dots / math.sqrt(q.shape[-1])
    yield from _wrong_scales(dots, q, v)
    yield from _wrong_axes(dots, scores)
    hint = "Divide by √d with /: // rounds each score down."
    yield hint, (dots // math.sqrt(q.shape[-1])).softmax(-1)
    yield from _wrong_functions(dots, scores, q.shape[-1])
    yield from _wrong_comparisons(q, k)


def _wrong_scales(dots, q, v):
    batch, heads, queries, keys = dots.shape
    d, root = q.shape[-1], math.sqrt
    divisors = (
        (f"that are not scaled at all{', or by int(√d), which is 1 here' if 1 < d < 4 else ''}", 1),
        ("divided by d, not by its square root", d),
        ("multiplied by √d instead of divided", 1 / root(d)),
        ("divided by √d_model, the width of all heads together", root(heads * d)),
        ("divided by √(d/H): d is the width of one head already", root(max(1, d // heads))),
        ("divided by √d_v, the width of a value", root(v.shape[-1])),
        ("divided by √S, the square root of the number of keys", root(keys)),
        ("divided by √T, the square root of the number of queries", root(queries)),
        ("divided by √H, the square root of the number of heads", root(heads)),
        ("divided by √B, the square root of the batch size", root(batch)),
        ("divided by d_model, the width of all heads together", heads * d),
        ("divided by d squared", d * d),
        ("divided by the fourth root of d", root(root(d))),
        ("divided by √2d", root(2 * d)),
        ("divided by 2d: ** 1 / 2 halves, and the root is ** (1 / 2)", 2 * d),
        ("divided by d/2: ** 1 / 2 halves, and the root is ** (1 / 2)", d / 2),
        ("divided by a root that was rounded down", max(1, int(root(d)))),
        *((f"divided by √{width} whatever the width", root(width)) for width in _USUAL_WIDTHS),
    )
    for what, divisor in divisors:
        hint = f"These are the weights of scores {what}. Divide by √d, where d is q.shape[-1], the width of a query."
        yield hint, (dots / divisor).softmax(-1)


def _wrong_axes(dots, scores):
    for name, axis in (("queries", -2), ("heads", -3), ("batch", -4)):
        hint = (
            f"Your softmax runs over the {name}. Normalise over the keys, the last axis, so that each row sums to one."
        )
        yield hint, scores.softmax(axis)
        yield f"Two things: the scores are not divided by √d, and the softmax runs over the {name}.", dots.softmax(axis)
        exponentials = (scores - scores.amax(-1, keepdim=True)).exp()
        hint = f"Divide the exponentials by their sum over the keys, the last axis; here the sum is over the {name}."
        yield hint, exponentials / exponentials.sum(axis, keepdim=True)
    hint = "Your softmax runs over more than one axis. Normalise over the keys alone: softmax(dim=-1)."
    for first in range(3):
        yield hint, scores.flatten(first).softmax(-1).reshape(scores.shape)


def _wrong_functions(dots, scores, d):
    weights = scores.softmax(-1)
    normalise = "Divide exp(scores) by its sum over the keys, keepdim=True."
    yield "These are the scores: turn them into weights with a softmax over the keys.", scores
    yield "These are the dot products: divide them by √d, then take the softmax over the keys.", dots
    yield normalise, scores.exp()
    yield "These are logarithms of weights: use softmax, not log_softmax.", scores.log_softmax(-1)
    yield "A sigmoid treats each key on its own: use softmax, so that a row sums to one.", scores.sigmoid()
    yield "Divide the scores by √d before the softmax, not the weights afterwards.", dots.softmax(-1) / math.sqrt(d)
    yield "Divide the scores by √d once, and the weights by nothing.", weights / math.sqrt(d)
    yield "Take the softmax once: the weights are already normalised.", weights.softmax(-1)
    yield "Divide exp(scores), not the scores themselves, by the sum over the keys.", scores / scores.sum(-1, True)
    yield "The keys compete: softmax(-scores) favours the key that fits least.", (-scores).softmax(-1)
    hint = "Every head has its own weights: neither average them nor repeat those of one head."
    yield hint, weights.mean(1, keepdim=True).expand_as(weights)
    yield hint, weights[:, :1].expand_as(weights)
    hint = "Every item of the batch has its own weights: the first one's do not serve for all."
    yield hint, weights[:1].expand_as(weights)
    yield (
        "Attention without an instruction is not causal: forbid only what the mask forbids.",
        _softmax_where(scores, causal(*scores.shape[-2:])),
    )
    yield "Every key takes part: a weight for each, not all of it for the best.", _one_hot(scores)


def _wrong_comparisons(q, k):
    root, (*others, keys, d) = math.sqrt(q.shape[-1]), k.shape
    hint = "k is reshaped here, which mixes the keys: k.transpose(-2, -1) exchanges its last two axes."
    yield hint, (q @ k.reshape(*others, d, keys) / root).softmax(-1)
    q, k = q / q.norm(dim=-1, keepdim=True), k / k.norm(dim=-1, keepdim=True)
    hint = "Take q and k as they are: here their rows are brought to length 1 first."
    yield hint, (q @ k.transpose(-2, -1) / root).softmax(-1)
    yield hint, (q @ k.transpose(-2, -1)).softmax(-1)


def _softmax_where(scores, mask):
    return scores.masked_fill(~mask, -math.inf).softmax(-1)


def _one_hot(scores):
    return (scores == scores.amax(-1, keepdim=True)).to(scores.dtype)


def dropped(given, expected):
    """(hint, wrong value): what dropout makes of the expected numbers, if it has left just the given ones.

    Where it has left them all, as it may with few, they differ by a factor alone.
    """
    kept = given != 0
    factor = abs(given[kept]).sum() / abs(expected[kept]).sum()
    hint = "Some numbers are zero and the rest too large, as dropout leaves them: use no dropout."
    if bool((kept | (expected == 0)).all()):
        dropout = ", and use no dropout, which multiplies what it leaves" if factor > 1 else ""
        hint = f"These are the right numbers, all times one and the same factor: take it out{dropout}."
    elif factor < 1 + 1e-3:
        hint = "Some numbers are zero that should not be; the rest are right."
    return hint, expected * kept * factor


def masked_wrongly(own, q, k, mask):
    """(hint, wrong weights) for the student's own weights without a mask, and q, k and mask."""
    own, allowed = own.double(), mask.expand(own.shape).double()
    dots = q @ k.transpose(-2, -1)
    scores = dots / math.sqrt(q.shape[-1])
    below = "A forbidden score must be -inf (or -1e9): 0 is a score like any other, and exp(0) is 1."
    before = "Mask the scores before the softmax: zeroing weights afterwards leaves rows that do not sum to one."
    yield "The mask changes nothing: masked_fill returns a new tensor; keep it, and before the softmax.", own
    yield (
        "The mask is read the wrong way round: True means may attend, so fill where it is False, with ~mask.",
        _renormalised(own * (1 - allowed)),
    )
    yield before, own * allowed
    yield f"{before} And True means may attend.", own * (1 - allowed)
    yield "Fill the scores before the softmax: -inf is a score and not a weight.", own.masked_fill(~mask, -math.inf)
    yield "Fill the scores before the softmax: -1e9 is a score and not a weight.", own.masked_fill(~mask, -1e9)
    if allowed.shape[-2] == allowed.shape[-1]:
        turned = _renormalised(own * allowed.transpose(-2, -1))
        yield "The mask is transposed here: its rows are queries and its columns keys, as those of the scores.", turned
    yield below, (scores * allowed).softmax(-1)
    yield below, (scores * (1 - allowed)).softmax(-1)
    yield (
        "Adding the mask as 0 and 1 does not forbid anything: a forbidden score must be -inf.",
        _renormalised(own * allowed.exp()),
    )
    yield "Forbidden scores got the largest value: fill with -inf, not with inf or 1e9.", _renormalised(1 - allowed)
    yield "The weights of allowed keys differ: only forbidden scores change.", _renormalised(allowed)
    yield "Take the softmax once: the weights are already normalised.", _softmax_where(scores, mask).softmax(-1)
    yield (
        "The causal mask is not the only one: use the mask that is given.",
        _softmax_where(scores, causal(*scores.shape[-2:])),
    )
    yield "With a mask the scores are not divided by √d, as they are without one.", _softmax_where(dots, mask)
    yield from _masked_in_part(own, allowed)


def _renormalised(weights):
    return weights / weights.sum(-1, keepdim=True)


def _masked_in_part(own, allowed):
    """Weights masked in one head or one item alone, or with the mask of one for all."""
    masked = _renormalised(own * allowed)
    for axis, name in ((0, "item of the batch"), (1, "head")):
        first = torch.arange(own.shape[axis]).reshape([-1 if i == axis else 1 for i in range(4)]) == 0
        yield (
            f"Only the first {name} is masked: apply the mask to all of the scores at once.",
            torch.where(first, masked, own),
        )
        for_all = allowed.narrow(axis, 0, 1)
        yield f"Each {name} may have its own mask: the first one's is used for all.", _renormalised(own * for_all)
    yield (
        "Each head of each item may have its own mask: mask[0, 0] is used for all.",
        _renormalised(own * allowed[:1, :1]),
    )
