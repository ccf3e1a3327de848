"""A student's layer read as four projections, the layer it should agree with, and what is usually mistaken.

A reading is {role: (weight (E, E), bias (E,) or None)} for the roles q_proj, k_proj, v_proj and out_proj.
"""

import itertools
import math

import torch
from torch.nn.functional import linear

from course.attention import MultiHeadAttention, merge_heads, split_heads
from course.checks.attention_slips import wrong_weights

ROLES = ("q_proj", "k_proj", "v_proj", "out_proj")


def packed_reading(parameters, prefix):
    """The reading of an nn.MultiheadAttention whose parameters' names start with prefix."""
    weights = parameters[f"{prefix}in_proj_weight"].chunk(3)
    bias = parameters.get(f"{prefix}in_proj_bias")
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    last = (parameters[f"{prefix}out_proj.weight"], parameters.get(f"{prefix}out_proj.bias"))
    return dict(zip(ROLES, (*zip(weights, biases, strict=True), last), strict=True))


def readings(parameters):
    """Every reading of a from-scratch layer's parameters: one where the names are right, else what they may mean.

    Wrong names cost the points for the structure; what the layer computes can still be judged.
    """
    width = next((value.shape[-1] for value in parameters.values() if value.dim() == 2), 0)
    if all(getattr(parameters.get(f"{role}.weight"), "shape", None) == (width, width) for role in ROLES):
        yield {role: (parameters[f"{role}.weight"], parameters.get(f"{role}.bias")) for role in ROLES}
        return
    matrices = {name: value for name, value in parameters.items() if value.dim() == 2}
    biases = {name: parameters.get(name.removesuffix("weight") + "bias") for name in matrices}
    square = [(value, biases[name]) for name, value in matrices.items() if value.shape[0] == value.shape[1]]
    triple = [(value, biases[name]) for name, value in matrices.items() if value.shape[0] == 3 * value.shape[1]]
    if len(square) == 4:
        for order in itertools.permutations(square):
            yield dict(zip(ROLES, order, strict=True))
        for order in itertools.permutations(square):
            yield {role: (weight.T, bias) for role, (weight, bias) in zip(ROLES, order, strict=True)}
    elif len(square) == len(triple) == 1:
        weight, bias = triple[0]
        parts = zip(weight.chunk(3), (None,) * 3 if bias is None else bias.chunk(3), strict=True)
        yield dict(zip(ROLES, (*parts, square[0]), strict=True))


def reference(reading, num_heads):
    """The course's own layer with these projections, in double precision and eval mode."""
    layer = MultiHeadAttention(len(reading["q_proj"][0]), num_heads).double().eval()
    with torch.no_grad():
        for role, (weight, bias) in reading.items():
            getattr(layer, role).weight.copy_(weight)
            getattr(layer, role).bias.copy_(torch.zeros(len(weight)) if bias is None else bias)
    return layer


def projected(reading, x):
    """q, k and v (B, T, E) of x in double precision."""
    x = x.double()
    return [linear(x, *_double(reading[role])) for role in ROLES[:3]]


def _double(pair):
    weight, bias = pair
    return weight.double(), None if bias is None else bias.double()


def viewed(x, num_heads):
    """x (B, T, E) seen as (B, H, T, d_head) without a transpose: heads mix the tokens."""
    batch, time, width = x.shape
    return x.reshape(batch, num_heads, time, width // num_heads)


def strided(x, num_heads):
    """x (B, T, E) as (B, H, T, d_head) where head h takes every H-th feature from h."""
    batch, time, width = x.shape
    return x.reshape(batch, time, width // num_heads, num_heads).permute(0, 3, 1, 2)


def attended(q, k):
    """Weights (B, H, T, T) of heads q and k."""
    return (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).softmax(-1)


def mistaken_weights(reading, x, num_heads):
    """(hint, weights (B, H, T, T)) of the usual slips on the way to the weights."""
    q, k, v = projected(reading, x)
    heads = [split_heads(part, num_heads) for part in (q, k, v)]
    yield from wrong_weights(*heads)
    splits = (
        (viewed, "Split with view(B, T, H, d_head).transpose(1, 2); view(B, H, T, d_head) alone mixes the tokens."),
        (strided, "Head h holds the features h*d_head to (h+1)*d_head - 1, a block; here it takes every H-th."),
    )
    for split, hint in splits:
        yield hint, attended(split(q, num_heads), split(k, num_heads))
        yield (
            f"{hint} And divide by √d_head.",
            (split(q, num_heads) @ split(k, num_heads).transpose(-2, -1)).softmax(-1),
        )
    plain = {role: (weight, None) for role, (weight, _) in reading.items()}
    turned = {role: (weight.T, bias) for role, (weight, bias) in reading.items()}
    both = {role: (weight.T, None) for role, (weight, _) in reading.items()}
    swapped = "The weights compare q_proj(x), the queries, with k_proj(x), the keys; here "
    unlike = (
        (f"{swapped}their roles are exchanged.", k, q),
        (f"{swapped}it is q with q.", q, q),
        (f"{swapped}it is k with k.", k, k),
        (f"{swapped}it is q with v.", q, v),
        (f"{swapped}x is used without its projections.", x.double(), x.double()),
        ("The biases of q_proj and k_proj are left out: call the layers, q_proj(x).", *projected(plain, x)[:2]),
        ("nn.Linear computes x @ weight.T: call the layers, q_proj(x).", *projected(turned, x)[:2]),
        ("nn.Linear computes x @ weight.T + bias: call the layers, q_proj(x).", *projected(both, x)[:2]),
    )
    for hint, first, second in unlike:
        yield hint, attended(split_heads(first, num_heads), split_heads(second, num_heads))


def mistaken_outputs(reading, x, num_heads):
    """(hint, out (B, T, E)) of the usual slips after the weights, and of those before them."""
    q, k, v = projected(reading, x)
    heads = [split_heads(part, num_heads) for part in (q, k, v)]
    weights, last = attended(*heads[:2]), _double(reading["out_proj"])
    context = weights @ heads[2]  # (B, H, T, d_head)
    merged, shape = merge_heads(context), x.shape
    yield "out_proj is missing: the joined heads go through it at the end.", merged
    yield "out_proj is there once too often.", linear(linear(merged, *last), *last)
    yield "The bias of out_proj is left out: call the layer, out_proj(...).", linear(merged, last[0])
    joined = "Join the heads with transpose(1, 2) before the reshape: "
    yield f"{joined}(B, H, T, d_head) alone mixes the tokens.", linear(context.reshape(shape), *last)
    yield (
        f"{joined}here the features of the heads alternate.",
        linear(context.permute(0, 2, 3, 1).reshape(shape), *last),
    )
    yield f"{joined}here d_head changes its place.", linear(context.transpose(2, 3).reshape(shape), *last)
    for other, name in ((heads[0], "q"), (heads[1], "k"), (split_heads(x.double(), num_heads), "x without projection")):
        yield f"The average is of the values v; here it is of {name}.", linear(merge_heads(weights @ other), *last)
    yield "The output is out_proj of the heads alone: x is not added to it.", linear(merged, *last) + x.double()
    yield (
        "Each query takes a row of weights: weights @ v, without a transpose.",
        linear(merge_heads(weights.transpose(-2, -1) @ heads[2]), *last),
    )
    mixed = "Heads were split by view(B, H, T, d_head) without a transpose, and joined by a reshape: the tokens mix."
    parts = [viewed(part, num_heads) for part in (q, k, v)]
    yield mixed, linear((attended(*parts[:2]) @ parts[2]).reshape(shape), *last)
    parts = [strided(part, num_heads) for part in (q, k, v)]
    strided_out = (attended(*parts[:2]) @ parts[2]).permute(0, 2, 3, 1).reshape(shape)
    yield "Head h holds a block of d_head features; here it takes every H-th.", linear(strided_out, *last)
    mean = "The heads are joined side by side, not averaged."
    yield mean, linear(context.mean(1, keepdim=True).expand_as(context).transpose(1, 2).reshape(shape), *last)
    yield mean, linear(merge_heads(weights.mean(1, keepdim=True) @ heads[2]), *last)
    for hint, wrong in mistaken_weights(reading, x, num_heads):
        yield f"out comes from other weights than those returned. {hint}", linear(merge_heads(wrong @ heads[2]), *last)
