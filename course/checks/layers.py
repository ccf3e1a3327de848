"""Checks of MultiHeadAttention, which wraps PyTorch's layer, and what it shares with the layer from scratch.

``cases`` and ``case`` are (B, T, E, H). A layer's parameters are overwritten with random ones before it is called, so
that biases count and nothing depends on how a layer starts.
"""

import math
from itertools import chain
from typing import NamedTuple

import torch

from course.checks.attention_slips import dropped
from course.checks.compare import (
    agrees,
    check_close,
    check_pair,
    check_shape,
    check_tensor,
    check_true,
    kind_of,
    refuse_none,
)
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.inputs import causal, normal
from course.checks.layer_slips import mistaken_outputs, mistaken_weights, packed_reading, reference
from course.wording import noun

_OVER_BATCH = "The layer attends over the batch: x is (B, T, E), for which PyTorch's layer wants batch_first=True."
_NEW = "Compute new tensors: += and methods ending in _ write into it."


def loaded_layer(candidate, width, num_heads, seed=0, dtype=torch.float32):
    """(layer in eval mode, its parameters by name), the parameters random."""
    layer = candidate.build(width, num_heads)
    if dtype != torch.float32:
        layer.to(dtype)
    values = {
        name: normal(*value.shape, seed=1000 * seed + i, dtype=dtype, scale=1 / math.sqrt(max((1, *value.shape[-1:]))))
        for i, (name, value) in enumerate(layer.parameters().items())
    }
    layer.load(values)
    return layer.eval(), values


def tokens(case, seed=0, dtype=torch.float32):
    batch, time, width, _ = case
    return normal(batch, time, width, seed=seed + 500, dtype=dtype)


def output_in(result, x):
    """The output in a result, of x's shape, wherever it stands; that a pair comes back is for others to judge."""
    refuse_none(result)
    items = list(result) if isinstance(result, tuple | list) else [result]
    tensors = [item for item in items if isinstance(item, torch.Tensor)]
    found = next((item for item in tensors if item.shape == x.shape), tensors[0] if tensors else None)
    if found is None:
        if len(items) == 2:
            hint = "Return the tensors themselves, out and weights: not their shapes, and no pair within a pair."
            raise CheckFailed(f"out is {kind_of(items[0])}, wanted a tensor.", hint)
        raise CheckFailed(
            f"the result is {kind_of(result)}, wanted the pair (out, weights).", "End with return out, weights."
        )
    check_shape(found, x.shape, "The output has the shape of x, (B, T, embed_dim).", "out")
    return found.detach()


def _place(result, x):
    """Index of the output in a result."""
    items = list(result) if isinstance(result, tuple | list) else [result]
    return next((i for i, item in enumerate(items) if getattr(item, "shape", None) == x.shape), 0)


def weights_in(result, case, expected=None):
    """The weights (B, H, T, T) of a pair (out, weights); the expected ones help to say which axis is gone."""
    batch, time, width, num_heads = case
    _, weights = check_pair(result)
    if weights is None:
        raise CheckFailed("weights is None.", "need_weights=False leaves them out: ask for them.")
    check_tensor(weights, "weights")
    hints = {
        (batch, time, time): _one_map_hint(weights, expected),
        (batch, 1, time, time): "Every head has weights of its own: neither average them nor take one head's.",
        (time, num_heads, batch, batch): _OVER_BATCH,
        (time, batch, batch): _OVER_BATCH,
        (batch, time, width): "Return out first, then weights.",
        (num_heads, time, time): "Keep the batch: every item has weights of its own.",
        (
            batch,
            time,
            num_heads,
            num_heads,
        ): "Each token's heads meet one another here: after the cut swap T and H, with transpose(1, 2).",
    }
    hint = hints.get(tuple(weights.shape), "One map (T, T) for each head of each item: (B, H, T, T).")
    if weights.dim() == 4 and weights.shape[1] not in (1, num_heads) and weights.shape[::3] == (batch, time):
        hint = f"Here are {weights.shape[1]} heads, and num_heads is {num_heads}: use the num_heads that __init__ gets."
    check_shape(weights, (batch, num_heads, time, time), hint, "weights")
    return weights.detach()


def _one_map_hint(weights, expected):
    """What to say of one map (B, T, T) for all heads, by the maps (B, H, T, T) that are expected, if they are known."""
    if expected is not None and weights.shape == expected[:, 0].shape:
        if agrees(weights, expected.sum(1)):
            return "Added up over the heads: keep the map of every head, an axis of its own."
        if any(agrees(weights, one) for one in expected.unbind(1)):
            return "These are one head's weights: keep the map of every head, an axis of its own."
        if not agrees(weights, expected.mean(1)):
            return "The axis of the heads is missing: every head has a map of its own, (B, H, T, T)."
    return "Averaged over the heads, as PyTorch does unless average_attn_weights=False: keep all maps."


class _Wrapped(NamedTuple):
    """A layer around nn.MultiheadAttention, an x for it, its parameters, and what the names of PyTorch's start with."""

    layer: object
    x: torch.Tensor
    values: dict
    prefix: str

    def reading(self):
        return packed_reading(self.values, self.prefix)

    def hint(self, otherwise):
        """The hint for wrong numbers: another one when there are parameters beside PyTorch's own."""
        if all(name.startswith(self.prefix) for name in self.values):
            return otherwise
        return (
            "nn.MultiheadAttention has its projections inside: hand it x itself, and add no layer before or behind it."
        )


def _wrapped(candidate, case, seed=0, dtype=torch.float32):
    """The candidate's layer of a case, with random parameters."""
    *_, width, num_heads = case
    layer, values = loaded_layer(candidate, width, num_heads, seed, dtype)
    found = layer.find("MultiheadAttention")
    check_true(
        bool(found),
        "there is no nn.MultiheadAttention among the layer's modules.",
        "Make it in __init__ and keep it in an attribute of self; a list, a dict or a local name hides it.",
    )
    prefix = f"{found[0]}." if found[0] else ""
    shape = tuple(values.get(f"{prefix}in_proj_weight", torch.empty(0)).shape)
    check_true(
        shape == (3 * width, width),
        f"nn.MultiheadAttention was not made for embed_dim {width}.",
        "Hand on the sizes that __init__ gets: nn.MultiheadAttention(embed_dim, num_heads, batch_first=True).",
    )
    return _Wrapped(layer, tokens(case, seed, dtype), values, prefix)


@check("output of nn.MultiheadAttention")
def wrapped_output(candidate, cases):
    """The output in eval and in train mode."""
    for seed, case in enumerate(cases):
        wrapped = _wrapped(candidate, case, seed, torch.float64 if seed == 0 else torch.float32)
        layer, x, reading = wrapped.layer, wrapped.x, wrapped.reading()
        out = output_in(unchanged(layer, x), x)
        expected, _ = reference(reading, case[-1])(x.double())
        hint = "out is what self.mha(x, x, x) returns first, with the num_heads that __init__ got."
        slips = chain(_wrapped_slips(reading, x, case[-1]), [dropped(out.double(), expected.detach())])
        check_close(out.double(), expected.detach(), wrapped.hint(hint), "out", 1e-5, slips)
        if seed == 0:
            check_no_dropout(layer, x, out)


def check_no_dropout(layer, x, out):
    """Fail when the output in train mode differs from out, that in eval mode."""
    same = agrees(out, output_in(layer.train()(x), x))
    check_true(same, "out in train mode differs from out in eval mode.", "Leave dropout out: none is asked for.")


@torch.no_grad()
def _wrapped_slips(reading, x, num_heads):
    """(hint, out) for slips in the use of nn.MultiheadAttention."""
    x, width = x.double(), x.shape[-1]
    across = reference(reading, num_heads)(x.transpose(0, 1))[0].transpose(0, 1)
    yield "The layer attends over the batch: PyTorch wants batch_first=True for x (B, T, E).", across
    for heads in range(1, width + 1):
        if width % heads == 0 and heads != num_heads:
            hint = f"The layer has {heads} {noun(heads, 'head')}: hand on num_heads."
            yield hint, reference(reading, heads)(x)[0]
    out, _ = reference(reading, num_heads)(x)
    yield "Return the output as it is, without adding x.", out + x
    hint = "No mask here: every token may attend to every token."
    yield hint, reference(reading, num_heads)(x, causal(x.shape[1], x.shape[1]))[0]
    yield from mistaken_outputs(reading, x, num_heads)


@check("weights of every head")
def wrapped_weights(candidate, cases):
    for seed, case in enumerate(cases):
        wrapped = _wrapped(candidate, case, seed)
        x, reading = wrapped.x, wrapped.reading()
        expected = reference(reading, case[-1])(x.double())[1].detach()
        result, (after,) = wrapped.layer.observe(x)
        weights = weights_in(result, case, expected)
        suspects = chain(_taken_wrongly(expected), mistaken_weights(reading, x, case[-1]))
        hint = "Return the weights that self.mha(x, x, x, average_attn_weights=False) returns second."
        if not torch.equal(x, after):
            hint = f"x was changed in place, and these are the weights of what became of it. {_NEW}"
        check_close(weights.double(), expected, wrapped.hint(hint), "weights", 1e-5, suspects)


def _taken_wrongly(weights):
    """(hint, wrong weights) for the weights (B, H, T, T) of nn.MultiheadAttention, asked for or used in a wrong way."""
    hint = "These are averages over the heads, repeated: ask for average_attn_weights=False."
    yield hint, weights.mean(1, True).expand_as(weights)
    yield "These are one head's weights, repeated.", weights[:, :1].expand_as(weights)
    yield "These are transposed: rows are queries, columns are keys.", weights.transpose(-2, -1)
    yield "These are the weights as PyTorch gives them, normalised once more.", weights.softmax(-1)


@check("gradients")
def wrapped_gradients(candidate, case):
    """Gradients reach x and every parameter that PyTorch's layer uses."""
    layer, x, _, prefix = _wrapped(candidate, case)
    check_gradients_arrive(layer, x, [name for name in layer.trainable() if name.startswith(prefix)])


def unchanged(layer, *arguments):
    """The result of a call; CheckFailed when it writes into the last of its arguments, x or the mask."""
    result, after = layer.observe(*arguments)
    name = ("x", "mask")[len(arguments) - 1]
    same = after[-1].shape == arguments[-1].shape and bool((after[-1] == arguments[-1]).all())
    check_true(same, f"{name} was changed in place.", _NEW)
    return result


def check_gradients_arrive(layer, x, names, instruction=()):
    """Gradients of the output by name; fail unless one reaches x and each of names."""
    place = _place(layer(x, *instruction), x)
    cotangent = normal(*x.shape, seed=9, dtype=x.dtype)
    gradients = layer.gradients(cotangent, x, *instruction, output=place)
    for name in ("x", *names):
        check_true(
            gradients.get(name) is not None,
            f"no gradient reaches {name}.",
            "Stay in torch from x to out: no detach, .data, no_grad, NumPy or torch.tensor(...).",
        )
    return gradients
