"""Checks of a mended scaled_dot_product_attention: the axis of its softmax and its scale, each judged by itself."""

from itertools import chain

import torch

from course.attention import attention_scores
from course.checks.attention_slips import dropped, wrong_weights
from course.checks.compare import agrees, check_close, check_pair, check_shape, check_tensor, likeliest
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.inputs import normal
from course.checks.masks import normalised_axes

_AXES = {"queries": -2, "heads": -3, "batch": -4}


def _case(sizes, seed=0):
    """q (B, H, T, d), k (B, H, S, d), v (B, H, S, d_v), float32, for sizes (B, H, T, S, d, d_v)."""
    batch, heads, queries, keys, width, v_width = sizes
    shapes = ((queries, width), (keys, width), (keys, v_width))
    return tuple(normal(batch, heads, *shape, seed=10 * seed + i) for i, shape in enumerate(shapes))


def _weights(result, sizes):
    """The weights (B, H, T, S) of the pair that the student's function returned."""
    out, weights = check_pair(result)
    check_tensor(weights, "weights")
    if tuple(getattr(out, "shape", ())) == sizes[:4]:
        raise CheckFailed(f"out has the shape of the weights, {sizes[:4]}.", "Return out first, then weights.")
    check_shape(
        weights, sizes[:4], "weights stay (B, H, T, S): a row for each query, a column for each key.", "weights"
    )
    return weights.detach()


@check("softmax over the keys")
def softmax_axis(candidate, cases):
    """All rows of weights have one and the same sum, whatever the scale. cases: sizes, B, H, T and S all different.

    A sum other than one comes from dividing the weights, not the scores, and costs the part about the scale.
    """
    for seed, sizes in enumerate(cases):
        q, k, v = _case(sizes, seed)
        weights = _weights(candidate(q, k, v), sizes)
        all_one = bool((weights == 1).all())  # the softmax of an axis of length 1
        if normalised_axes(weights) == -1 and not all_one:
            continue
        found = [name for name, axis in _AXES.items() if agrees(weights.sum(axis), torch.ones_like(weights.sum(axis)))]
        where = f" They sum to one over the {found[0]} instead." if found else ""
        hint = "Each query shares its attention among the keys: the softmax runs over the last axis of (B, H, T, S)."
        if (weights == 0).any() and not found:
            hint = (
                "Some weights are exactly 0, which no softmax gives: use no dropout, and forbid nothing without a mask."
            )
        cause = None if found else likeliest(weights, _not_normalised(q.double(), k.double(), v.double()))
        raise CheckFailed(f"the weights of a query do not sum to one.{where}", cause or hint)


def _not_normalised(q, k, v):
    """The slips of wrong_weights, made with scaled scores and with others."""
    return chain(wrong_weights(q, k, v), wrong_weights(q * q.shape[-1] ** 0.5, k, v))


@check("scores divided by √d")
def score_scale(candidate, cases):
    """The weights are the softmax of q·k/√d, along whichever axis. cases: sizes."""
    for seed, sizes in enumerate(cases):
        q, k, v = _case(sizes, seed)
        weights = _weights(candidate(q, k, v), sizes)
        q, k, v = q.double(), k.double(), v.double()
        scores = attention_scores(q, k)
        if any(agrees(weights, scores.softmax(axis)) for axis in _AXES.values()):
            continue
        if sizes != _TELLING:
            _scaled_at_telling_sizes(candidate)
        hint = "weights = softmax of q @ k.transpose(-2, -1) / √d, where d is q.shape[-1]."
        suspects = chain(wrong_weights(q, k, v), [dropped(weights, scores.softmax(-1))])
        check_close(weights, scores.softmax(-1), hint, "weights", atol=1e-5, suspects=suspects)


_TELLING = (2, 3, 7, 13, 6, 11)  # sizes at which every slip looks different


def _scaled_at_telling_sizes(candidate):
    """Fail with the cause that the weights show at telling sizes, where they show one."""
    try:
        score_scale(cases=[_TELLING]).run(candidate)
    except CheckFailed as failure:
        if not failure.general and "raised" not in failure.seen:
            raise


@check("out from the weights")
def out_of_weights(candidate, sizes):
    """out is the student's own weights times v. sizes: (B, H, T, S, d, d_v)."""
    q, k, v = _case(sizes, seed=3)
    result = candidate(q, k, v)
    weights, out = _weights(result, sizes), check_pair(result)[0]
    check_tensor(out, "out")
    expected, hint = weights.double() @ v.double(), "out is weights @ v, as it was before the repair."
    check_close(out, expected, hint, "out", 1e-5, [dropped(out.detach().double(), expected)])
