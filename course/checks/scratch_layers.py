"""Checks of MultiHeadAttentionFromScratch. ``cases`` and ``case`` are (B, T, E, H), as in ``layers``."""

import math
from itertools import chain

import torch

from course.attention import split_heads
from course.checks.attention_slips import dropped, masked_wrongly
from course.checks.compare import SINGLE, agrees, check_close, check_finite, check_pair, check_shape, check_true, same
from course.checks.exam import check
from course.checks.exceptions import message_in
from course.checks.failure import CheckFailed
from course.checks.inputs import causal, normal
from course.checks.layer_slips import (
    ROLES,
    attended,
    mistaken_outputs,
    mistaken_weights,
    projected,
    readings,
    reference,
)
from course.checks.layers import (
    check_gradients_arrive,
    check_no_dropout,
    loaded_layer,
    output_in,
    tokens,
    unchanged,
    weights_in,
)
from course.checks.masks import judged, mask_of


def _scratch(candidate, case, seed=0, dtype=torch.float32):
    """(layer, x, its readings); CheckFailed when the parameters cannot be read as four projections."""
    *_, width, num_heads = case
    layer, values = loaded_layer(candidate, width, num_heads, seed, dtype)
    found = list(readings(values))
    if not found and {f"{role}.weight" for role in ROLES} <= set(values):
        seen = f"the layer's parameters are {_listed(values)}."
        raise CheckFailed(seen, "Each of the four is nn.Linear(embed_dim, embed_dim): all heads share it.")
    if not found:
        hint = "Make self.q_proj, k_proj, v_proj, out_proj in __init__, each an nn.Linear of its own; a list or a dict "
        raise CheckFailed(f"the layer's parameters are {_listed(values)}.", f"{hint}hides them.")
    return layer, tokens(case, seed, dtype), found


def _listed(values):
    """Parameters by name, with their shapes; a layer stands for its weight and its bias."""
    shapes = {name: tuple(value.shape) for name, value in values.items()}
    layers = {name.removesuffix(".weight") for name in shapes if name.endswith(".weight")}
    shown = {
        name.removesuffix(".weight"): shape
        for name, shape in shapes.items()
        if not (name.endswith(".bias") and name.removesuffix(".bias") in layers)
    }
    return f"{', '.join(f'{name} {shape}' for name, shape in shown.items()) or 'none':.150}"


def _right_reading(found, x, num_heads, result):
    """The reading with which the result's output is right, or the first one."""
    out = output_in(result, x)
    if len(found) == 1:
        return found[0]
    for reading in found:
        if agrees(out, reference(reading, num_heads)(x.double())[0], 1e-5):
            return reading
    return found[0]


@check("shapes")
def scratch_shapes(candidate, case):
    layer, values = loaded_layer(candidate, case[2], case[3])
    x = tokens(case)
    result, reading = layer(x), next(readings(values), None)
    expected = None if reading is None else reference(reading, case[-1])(x.double())[1].detach()
    weights_in(result, case, expected)
    check_shape(check_pair(result)[0], x.shape, "The output has the shape of x, (B, T, embed_dim).", "out")


@check("agrees with nn.MultiheadAttention")
def scratch_values(candidate, cases):
    """Out and weights without a mask; for the first case also in float64 and in train mode."""
    for seed, case in enumerate(cases):
        for dtype in (torch.float32, torch.float64) if seed == 0 else (torch.float32,):
            layer, x, found = _scratch(candidate, case, seed, dtype)
            result = unchanged(layer, x)
            _check_values(result, x, found, case, _beside(layer))
            if seed == 0:
                check_no_dropout(layer, x, output_in(result, x))


def _beside(layer):
    """The hint for wrong numbers of a layer with parameters beside its projections; None without any."""
    extra = [name for name in layer.parameters() if name.split(".")[0] not in ROLES]
    if not extra or len(layer.parameters()) - len(extra) < len(ROLES):
        return None
    return f"Leave {', '.join(extra):.60} out: the four projections are all the parameters."


def _check_values(result, x, found, case, beside=None):
    """``beside`` is the hint to give where no usual slip is seen."""
    weights = weights_in(result, case)
    reading = _right_reading(found, x, case[-1], result)
    expected_out, expected_weights = (part.detach() for part in reference(reading, case[-1])(x.double()))
    for value, name in ((weights, "weights"), (output_in(result, x), "out")):
        seen = f"{name} is {value.dtype} for x in {x.dtype}."
        check_true(value.dtype == x.dtype, seen.replace("torch.", ""), "Stay in the precision of x: no .float().")
    hint = "weights = softmax over the keys of q @ k.transpose(-2, -1) / √d_head, for every head."
    atol = 1e-5 if x.dtype == torch.float32 else 1e-8 if _root_is_exact(case) else SINGLE
    suspects = chain(mistaken_weights(reading, x, case[-1]), [dropped(weights.double(), expected_weights)])
    check_close(weights, expected_weights, beside or hint, "weights", atol, suspects)
    hint = "The weights are right; out is out_proj of the heads weights @ v, joined side by side."
    check_close(output_in(result, x), expected_out, beside or hint, "out", atol, mistaken_outputs(reading, x, case[-1]))


def _root_is_exact(case):
    """Whether √d_head is a power of two: a scale that is kept as a float32 tensor costs no precision then."""
    return math.log2(case[2] // case[3]) % 2 == 0


@check("large scores")
def scratch_large(candidate, case, factor):
    """x so large that exp of a score overflows; the softmax must still be right."""
    layer, x, found = _scratch(candidate, case, dtype=torch.float64)
    small = layer(x)
    reading = _right_reading(found, x, case[-1], small)
    if not agrees(output_in(small, x), reference(reading, case[-1])(x)[0]):
        return
    expected, _ = reference(reading, case[-1])(factor * x)
    out = output_in(layer(factor * x), x)
    hint = "exp of a large score overflows: use softmax, which subtracts each row's maximum first."
    check_finite(out, hint, "out for large x")
    hint = "Large scores stay as they are: do not clamp, round or shrink them."
    check_close(out / factor, expected.detach() / factor, hint, "out for large x", 1e-6)


@check("a mask beside large scores")
def scratch_large_masked(candidate, case, factor):
    """Forbidden keys weigh nothing where allowed scores are far below zero.

    Says nothing where small x is masked wrongly, or large x is wrong without a mask: that costs its points elsewhere.
    """
    layer, x, found = _scratch(candidate, case)
    mask = mask_of("shape (B, 1, T, S)", (case[0], case[-1], case[1], case[1]))
    wanted = reference(_right_reading(found, x, case[-1], layer(x)), case[-1])
    large, atol = factor * x, 0.05  # in float32 scores so large are right to a few hundredths
    rightly = agrees(output_in(layer(large), x) / factor, wanted(large.double())[0] / factor, atol)
    if rightly and _gives(layer, x, (mask,), wanted(x.double(), mask)[0]):
        hint = "Fill forbidden scores with -inf before the softmax: a number like -1e4 is not below every score."
        out, expected = output_in(layer(large, mask), x), wanted(large.double(), mask)[0].detach()
        check_close(out.double() / factor, expected / factor, hint, "out for large x with a mask", atol)


@check("x in any layout")
def scratch_views(candidate, case):
    """A transposed view of x gives what its copy gives."""
    layer, _ = loaded_layer(candidate, case[2], case[3])
    x = tokens(case)
    view = x.transpose(1, 2).contiguous().transpose(1, 2)
    hint = "x may be a transposed view: use reshape, or contiguous() before view."
    check_close(output_in(layer(view), x), output_in(layer(x), x), hint, "out for a transposed view", 1e-5)


@check("masks")
def scratch_mask(candidate, case, kinds):
    """Masked weights are the layer's own without a mask, restricted; out is judged where it is right without one."""
    batch, time, _, num_heads = case
    layer, x, found = _scratch(candidate, case, seed=3)
    plain = layer(x)
    reading = _right_reading(found, x, num_heads, plain)
    layer_wanted = reference(reading, num_heads)
    out_is_right = agrees(output_in(plain, x), layer_wanted(x.double())[0], 1e-5)
    own = _maps(plain, case)
    q, k, v = (split_heads(part, num_heads) for part in projected(reading, x))
    unmasked = attended(q, k).detach()
    check_close(
        output_in(layer(x, None), x), output_in(plain, x), "mask=None means no mask.", "out with mask=None", 1e-5
    )
    for kind in kinds:
        mask = mask_of(kind, (batch, num_heads, time, time))
        result = _masked_call(layer, x, mask)
        name = "with a causal mask" if kind == "causal" else f"with a mask of {kind}"
        expected, right = (part.detach() for part in layer_wanted(x.double(), mask))
        if own is not None:
            given = weights_in(result, case)
            wrong = masked_wrongly(own, q, k, mask)
            if not agrees(given, right, 1e-5):
                check_close(*judged(own, mask, given), _mask_hint(own, unmasked), f"weights {name}", 1e-5, wrong)
        if out_is_right:
            hint = "Without a mask out is right: use the masked weights for it, weights @ v."
            slips = chain([(hint, unmasked)] if own is not None else [], masked_wrongly(unmasked, q, k, mask))
            wrong = ((text, _joined(layer_wanted, bad.double() @ v)) for text, bad in slips)
            check_close(output_in(result, x).double(), expected, hint, f"out {name}", 1e-5, wrong)
        elif kind not in ("nothing forbidden", "causal"):  # what is wrong without a mask may be that it is causal
            differs = not agrees(output_in(result, x), output_in(plain, x), 1e-5)
            check_true(differs, f"out {name} is the same as without.", "Use the masked weights for out: weights @ v.")
    unchanged(layer, x, mask)
    hint = "Keep no mask from one call to the next, in self or elsewhere: without one, every token sees every token."
    check_true(
        same(layer(x), plain), "without a mask, but behind a call with one, the result is another than before.", hint
    )


def _mask_hint(own, right):
    """What to say of masked weights whose mistake has no name: ``own`` and ``right`` are without one."""
    if agrees(own, right, 1e-5):
        return "Where the mask is False, give the score the value -inf before the softmax."
    return "The weights are wrong without a mask already: mend that first, then look at the mask again."


def _masked_call(layer, x, mask):
    try:
        return layer(x, mask)
    except CheckFailed as failure:
        said = message_in(failure.seen)
        fits = not any(word in said for word in ("must match", "size", "shape", "indices", "broadcast"))
        hint = "The mask broadcasts to (B, H, T, S) by itself: use it as it is, without adding or indexing axes."
        raise CheckFailed(failure.seen, failure.hint if fits else hint) from None


def _maps(result, case):
    """The weights (B, H, T, T) in a result, or None: that they are there is for scratch_values to judge."""
    try:
        return weights_in(result, case)
    except CheckFailed:
        return None


def _joined(layer, heads):
    """out (B, T, E) of a reference layer for its heads (B, H, T, d_head)."""
    with torch.no_grad():
        return layer.out_proj(heads.transpose(1, 2).flatten(2))


@check("four nn.Linear and nothing else")
def scratch_structure(candidate, cases):
    """cases: (embed_dim, num_heads)."""
    for width, num_heads in cases:
        layer = candidate.build(width, num_heads)
        _refuse_ready_made(layer, tokens((2, 3, width, num_heads)))
        parameters = layer.parameters()
        found = {name: tuple(value.shape) for name, value in parameters.items()}
        missing = [role for role in ROLES if found.get(f"{role}.weight") != (width, width)]
        name = missing[0] if len(missing) == 1 else "…"
        hint = f"Make {', '.join(missing)} in __init__, self.{name} = nn.Linear(embed_dim, embed_dim)"
        hint += "; two names for one layer make one layer." if len(layer.find("Linear")) < len(ROLES) else "."
        check_true(not missing, f"for embed_dim {width} the parameters are {_listed(parameters)}.", hint)
        linear = set(layer.find("Linear"))
        unlike = [role for role in ROLES if role not in linear]
        check_true(not unlike, f"{', '.join(unlike)} is no nn.Linear.", "Make all four with nn.Linear.")
        allowed = {f"{role}.{kind}" for role in ROLES for kind in ("weight", "bias")}
        extra = sorted(set(found) - allowed)
        check_true(not extra, f"there is another parameter, {', '.join(extra):.80}.", "The four projections are all.")
        frozen = sorted(set(found) - set(layer.trainable()))
        check_true(
            not frozen, f"{', '.join(frozen):.80} cannot be trained.", "Leave requires_grad as nn.Linear sets it."
        )


def _refuse_ready_made(layer, x):
    """Fail when a call uses what is refused; every other failure of a call is judged elsewhere."""
    try:
        layer(x)
    except CheckFailed as failure:
        if failure.seen.startswith("this answer calls"):
            raise


def _gives(layer, x, instruction, expected):
    """Whether the layer's output is the expected one. False where it raises, which is judged elsewhere."""
    try:
        return agrees(output_in(layer(x, *instruction), x), expected, 1e-5)
    except CheckFailed:
        return False


@check("gradients")
def scratch_gradients(candidate, case):
    """Gradients reach x and the four projections; where the output is right they agree with nn.MultiheadAttention."""
    layer, x, found = _scratch(candidate, case, seed=5)
    time, num_heads = case[1], case[-1]
    reading = _right_reading(found, x, num_heads, layer(x))
    for mask in (None, causal(time, time)):
        instruction = () if mask is None else (mask,)
        wanted = reference(reading, num_heads)
        own = x.double().requires_grad_()
        expected = wanted(own, mask)[0]
        if not _gives(layer, x, instruction, expected):
            if mask is None:
                check_gradients_arrive(layer, x, ())
            continue
        projections = [name for name in layer.trainable() if name.split(".")[0] in ROLES]
        gradients = check_gradients_arrive(layer, x, projections, instruction)
        (expected * normal(*x.shape, seed=9).double()).sum().backward()
        hint = "Part of the way is cut off from autograd: detach nothing."
        check_close(gradients["x"], own.grad, hint, "the gradient of x", 1e-5)
        for name, parameter in wanted.named_parameters():
            if gradients.get(name) is not None:
                check_close(gradients[name], parameter.grad, hint, f"the gradient of {name}", 1e-5)
