"""Checks of ablate_head, the output of a layer without one head's part.

``case`` is (B, T, E, H). The layer is the course's own, its weights and biases random.
"""

import torch

from course.attention import ablate_head, merge_heads, scaled_dot_product_attention
from course.checks.compare import agrees, check_close, check_shape, check_tensor, check_true, dtype_name
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.gradients import check_gradient_of_own
from course.checks.inputs import causal, normal
from course.checks.probes import HeadsProbe

_PART = "Set the head's block of the concatenation, features h*d_head to (h+1)*d_head - 1, to zero before out_proj."
_NARROWER = "The head's features become zero and keep their place: out_proj takes all of them."
_GRAPH = "Stay in torch from x to the output, without no_grad; and if you change weights, change those of a copy."


@check("output without the head")
def ablation_values(candidate, cases):
    """Every head of each layer in turn."""
    for seed, case in enumerate(cases):
        layer, x = _case(case, seed)
        for head in (*range(1, case[-1]), 0):  # a head in the middle tells one that is off by one
            with torch.no_grad():
                expected = ablate_head(layer, x, head)
            given = _output(_without(candidate, layer, x, head), x)
            check_close(
                given, expected, _PART, f"the output without head {head}", 1e-5, mistaken_ablations(layer, x, head)
            )


@check("float64")
def ablation_dtype(candidate, case):
    """float64 for a layer in float64: within 1e-8 where float32 is right, else in agreement with float32."""
    (layer, x), (_, single_x) = _case(case, dtype=torch.float64), _case(case)
    double = candidate(layer, x, 1)
    single = candidate(_case(case)[0], single_x, 1)
    double, single = (item[0] if isinstance(item, tuple | list) else item for item in (double, single))
    check_tensor(double)
    hint = "The layer and x are float64 here: convert nothing, and make new tensors and layers in the dtype of x."
    check_true(double.dtype == torch.float64, f"the output is {dtype_name(double)} for x in float64.", hint)
    with torch.no_grad():
        right, right_single = ablate_head(layer, x, 1), ablate_head(_case(case)[0], single_x, 1)
    if agrees(single, right_single):
        check_close(double, right, hint)
    else:
        check_close(double, single.double(), hint, atol=1e-3)


@check("layer and x left as they were")
def ablation_leaves(candidate, case):
    """Parameters, gradients, mode, hooks and number of heads."""
    layer, x = _case(case)
    _, (after, x_after, _) = candidate.observe(layer, x, case[-1] - 1)
    kept, frozen, *_ = after.record().tolist()
    same = all(torch.equal(a, b) for a, b in zip(layer.parameters(), after.parameters(), strict=True))
    for condition, seen, hint in (
        (same, "the layer's parameters were changed.", "Change a copy of the layer, or zero the head on the way."),
        (kept == 0, "the layer's parameters hold gradients now.", "Compute the output only, without backward()."),
        (frozen == 0, "the layer's parameters were frozen.", "Leave requires_grad as it was."),
        *after.left_alone(case[-1]),
        (torch.equal(x, x_after), "x was changed in place.", "Make new tensors: += writes into x."),
    ):
        check_true(condition, seen, hint)


@check("gradients")
def ablation_gradients(candidate, case):
    layer, x = _case(case)
    check_gradient_of_own(candidate, (layer, x, 0), 1, _GRAPH)


def _case(case, seed=0, dtype=torch.float32):
    """(layer in eval mode, x (B, T, E))."""
    batch, time, width, num_heads = case
    return HeadsProbe(width, num_heads).to(dtype).eval(), normal(batch, time, width, seed=seed + 90, dtype=dtype)


def _without(candidate, layer, x, head):
    """The candidate's result; a concatenation that lacks the head and goes into out_proj gets a hint of its own."""
    width = x.shape[-1]
    try:
        return candidate(layer, x, head)
    except CheckFailed as failure:
        cut = f"x{width - width // layer.num_heads} and {width}x{width})" in failure.seen
        raise CheckFailed(failure.seen, _NARROWER if cut else failure.hint, general=failure.general) from None


def _output(result, x):
    """The student's output, a tensor of x's shape."""
    if isinstance(result, tuple | list):
        raise CheckFailed(
            f"the result is a tuple of {len(result)}.", "Return the output alone; layer(x) gives the weights as well."
        )
    check_tensor(result)
    hint = "The output has the shape of x."
    if result.shape == x.shape[-1:]:
        hint = "A layer whose only head is left out still gives a row for every token, (B, T, E): out_proj's bias."
    check_shape(result, x.shape, hint)
    return result.detach()


@torch.no_grad()
def mistaken_ablations(layer, x, head):
    """(hint, output) for what people return instead of the output without ``head``."""
    q, k, v = layer.project(x)
    heads, _ = scaled_dot_product_attention(q, k, v)
    yield from _mistaken_choices(layer, heads, head)
    yield from _mistaken_places(layer, x, heads, head)
    yield from _mistaken_parts(layer, heads, v, head)
    scores = q @ k.transpose(-2, -1) * x.shape[-1] ** -0.5
    yield (
        "Scores are divided by the square root of d_head, not of E.",
        _projected(layer, _replaced(scores.softmax(-1) @ v, head)),
    )
    dots = q @ k.transpose(-2, -1)
    yield "Divide the scores by the square root of d_head.", _projected(layer, _replaced(dots.softmax(-1) @ v, head))
    across = (dots * q.shape[-1] ** -0.5).softmax(-2)
    yield "The softmax runs over the keys, the last axis.", _projected(layer, _replaced(across @ v, head))
    for others in (k, q):
        hint = "The weights average the values, v; here they average queries or keys."
        yield hint, _projected(layer, _replaced(scaled_dot_product_attention(q, k, others)[0], head))
    past, _ = scaled_dot_product_attention(q, k, v, causal(x.shape[1], x.shape[1]))
    yield "No mask here: every token may attend to every token.", _projected(layer, _replaced(past, head))


def _mistaken_choices(layer, heads, head):
    """The wrong heads are left out, or something is done to the rest."""
    num_heads, right = layer.num_heads, _projected(layer, _replaced(heads, head))
    whole = _projected(layer, heads)
    yield "This is the whole output: the head is still in it.", whole
    yield "Here this head alone is left: leave it out and keep the others.", whole - right + layer.out_proj.bias
    yield "This is what the head contributes: subtract it from the whole output.", whole - right
    yield "The bias of out_proj belongs to no head: it stays.", right - layer.out_proj.bias
    yield "The bias of out_proj is added once.", right + layer.out_proj.bias
    if num_heads == 1:
        return
    later = torch.arange(num_heads)[:, None, None] < head
    earlier = torch.arange(num_heads)[:, None, None] > head
    if head < num_heads - 1:
        yield "Leave out this head alone; here those behind it are gone too.", _projected(layer, heads * later)
    if head > 0:
        yield "Leave out this head alone; here those before it are gone too.", _projected(layer, heads * earlier)
        rest = [other for other in range(num_heads) if other != head]
        closed = torch.cat((heads[:, rest], torch.zeros_like(heads[:, :1])), 1)
        hint = "The other heads keep their places: zero this one's part instead of closing the gap."
        yield hint, _projected(layer, closed)
    for other, seen in ((head - 1, "the one before"), (head + 1, "the next one")):
        hint = f"Heads count from 0: here {seen} is left out."
        yield hint, _projected(layer, _replaced(heads, other % num_heads))
    factor = num_heads / (num_heads - 1)
    yield "Zero the head; nothing is rescaled for the others.", _projected(layer, _replaced(heads, head) * factor)


def _mistaken_places(layer, x, heads, head):
    """The right number of zeros, in another place than the head's block of the concatenation."""
    weight, bias = layer.out_proj.weight, layer.out_proj.bias
    d_head, joined = heads.shape[-1], merge_heads(heads)
    block = slice(head * d_head, (head + 1) * d_head)
    yield (
        "Take the head's columns of out_proj.weight, which multiply its part; these are its rows.",
        (joined @ _zeroed(weight.T, block) + bias),
    )
    yield (
        "A layer multiplies by its weight transposed: joined @ out_proj.weight.T, or out_proj(joined).",
        _zeroed(joined, block) @ weight + bias,
    )
    whole = layer.out_proj(joined)
    yield "Zero the part before out_proj: after it, features belong to no head any more.", _zeroed(whole, block)
    for hint, columns in (
        (
            "The head's features are a block, h*d_head onwards; here every H-th was taken.",
            slice(head, None, len(weight) // d_head),
        ),
        ("The block starts at h*d_head, d_head being E // H.", slice(head, head + d_head)),
        (
            "The block is d_head = E // H wide and starts at h*d_head; here it was cut with H in place of d_head.",
            slice(head * (len(weight) // d_head), (head + 1) * (len(weight) // d_head)),
        ),
        ("The block is d_head wide; here one feature alone was taken.", slice(head, head + 1)),
    ):
        yield hint, layer.out_proj(_zeroed(joined, columns))
    yield "The part is cut from the concatenation; here it is cut from x.", layer(_zeroed(x, block))[0]
    if head < len(x):
        emptied = heads.index_fill(0, torch.tensor([head]), 0.0)
        yield (
            "The heads are the second axis of (B, H, T, d_head); here an item of the batch was emptied.",
            _projected(layer, emptied),
        )
    if head < heads.shape[2]:
        emptied = heads.index_fill(2, torch.tensor([head]), 0.0)
        hint = "The heads are the second axis of (B, H, T, d_head); here a token was emptied, in every head."
        yield hint, _projected(layer, emptied)
    for mixed in (_zeroed(heads.reshape(x.shape), block), _replaced(heads, head).reshape(x.shape)):
        yield "Joining heads needs transpose(1, 2) before the reshape.", layer.out_proj(mixed)
    yield "The parts of the heads still have to go through out_proj.", _zeroed(joined, block)


def _mistaken_parts(layer, heads, v, head):
    """Something else than zero in the place of the head's part."""
    d_head = heads.shape[-1]
    hint = "Queries or keys of zero give equal weights, and the head still contributes: zero its part."
    yield hint, _projected(layer, _replaced(heads, head, v[:, head].mean(1, keepdim=True)))
    hint = "The bias of v_proj is part of what the head contributes: it goes as well."
    yield hint, _projected(layer, _replaced(heads, head, layer.v_proj.bias[head * d_head : (head + 1) * d_head]))
    hint = "Zero the part; here it was replaced by its mean."
    yield hint, _projected(layer, _replaced(heads, head, heads[:, head].mean(1, keepdim=True)))
    if layer.num_heads > 1:
        others = [other for other in range(layer.num_heads) if other != head]
        for chosen, whose in ((others, "the other heads"), (slice(None), "all heads")):
            hint = f"Zero the part; here it was replaced by the mean of {whose}."
            yield hint, _projected(layer, _replaced(heads, head, heads[:, chosen].mean(1)))


def _projected(layer, heads):
    """Output (B, T, E) of heads (B, H, T, d_head)."""
    return layer.out_proj(merge_heads(heads))


def _replaced(heads, head, part=0.0):
    """heads (B, H, T, d_head) with another part, that broadcasts to (B, T, d_head), in the place of one head's."""
    changed = heads.clone()
    changed[:, head] = part
    return changed


def _zeroed(values, columns):
    """values (..., E) with zeros in these columns."""
    changed = values.clone()
    changed[..., columns] = 0
    return changed
