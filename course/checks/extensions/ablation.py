"""Checks of ablate_head, the output of a layer without one head's part.

``case`` is (B, T, E, H). The layer is the course's own, its weights and biases random.
"""

import torch

from course.attention import ablate_head, merge_heads, scaled_dot_product_attention, split_heads
from course.checks.compare import check_close, check_shape, check_tensor, check_true
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.gradients import check_gradient_of_own
from course.checks.inputs import normal
from course.checks.probes import HeadsProbe

_PART = "Set the head's block of the concatenation, features h*d_head to (h+1)*d_head - 1, to zero before out_proj."
_GRAPH = "Stay in torch from x to the output, without no_grad; and if you change weights, change those of a copy."


@check("output without the head")
def ablation_values(candidate, cases):
    """Every head of each layer in turn."""
    for seed, case in enumerate(cases):
        layer, x = _case(case, seed)
        for head in range(case[-1]):
            with torch.no_grad():
                expected = ablate_head(layer, x, head)
            given = _output(candidate(layer, x, head), x)
            check_close(
                given, expected, _PART, f"the output without head {head}", 1e-5, mistaken_ablations(layer, x, head)
            )


@check("the parts add up")
def ablation_adds_up(candidate, case):
    """What the heads contribute, one by one, sums to what they contribute together: in float64."""
    layer, x = _case(case, 3, torch.float64)
    with torch.no_grad():
        whole = layer(x)[0]
        parts = sum(whole - _output(candidate(layer, x, head), x) for head in range(case[-1]))
        expected = whole - layer.out_proj.bias
    check_close(parts, expected, _PART, "the sum of what each head contributes", 1e-8)


@check("layer and x left as they were")
def ablation_leaves(candidate, case):
    """Parameters, gradients, mode, hooks and number of heads."""
    layer, x = _case(case)
    _, (after, x_after, _) = candidate.observe(layer, x, case[-1] - 1)
    kept, frozen, changed, num_heads = after.record().tolist()
    same = all(torch.equal(a, b) for a, b in zip(layer.parameters(), after.parameters(), strict=True))
    for condition, seen, hint in (
        (same, "the layer's parameters were changed.", "Change a copy of the layer, or zero the head on the way."),
        (kept == 0, "the layer's parameters hold gradients now.", "Compute the output only, without backward()."),
        (frozen == 0, "the layer's parameters were frozen.", "Leave requires_grad as it was."),
        (changed == 0, "a hook or another forward was left on the layer.", "Remove the hook again: handle.remove()."),
        (num_heads == case[-1], "the layer's num_heads was changed.", "Leave the attributes of the layer alone."),
        (not after.training, "the layer came back in train mode.", "It is given in eval mode: leave it so."),
        (torch.equal(x, x_after), "x was changed in place.", "Make new tensors: += writes into x."),
    ):
        check_true(condition, seen, hint)


@check("gradients")
def ablation_gradients(candidate, case):
    layer, x = _case(case, dtype=torch.float64)
    check_gradient_of_own(candidate, (layer, x, 0), 1, _GRAPH)


def _case(case, seed=0, dtype=torch.float32):
    """(layer in eval mode, x (B, T, E))."""
    batch, time, width, num_heads = case
    return HeadsProbe(width, num_heads).to(dtype).eval(), normal(batch, time, width, seed=seed + 90, dtype=dtype)


def _output(result, x):
    """The student's output, a tensor of x's shape."""
    if isinstance(result, tuple | list):
        raise CheckFailed(
            f"the result is a tuple of {len(result)}.", "Return the output alone; layer(x) gives the weights as well."
        )
    check_tensor(result)
    narrower = "The head's features become zero and keep their place: out_proj takes all of them."
    check_shape(result, x.shape, "The output has the shape of x." if result.dim() == 3 else narrower)
    return result.detach()


def mistaken_ablations(layer, x, head):
    """(hint, output) for what people return instead of the output without ``head``."""
    num_heads, width = layer.num_heads, x.shape[-1]
    d_head = width // num_heads
    block = slice(head * d_head, (head + 1) * d_head)
    weight, bias = layer.out_proj.weight.detach(), layer.out_proj.bias.detach()
    with torch.no_grad():
        q, k, v = (split_heads(p(x), num_heads) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
        heads = scaled_dot_product_attention(q, k, v)[0]
        joined, whole = merge_heads(heads), layer(x)[0]
        others = [h for h in range(num_heads) if h != head]

        def projected(changed):
            return merge_heads(changed) @ weight.T + bias

        def without(*chosen):
            return projected(heads.index_fill(1, torch.tensor(chosen, dtype=torch.int64), 0.0))

        def columns(chosen):
            changed = joined.clone()
            changed[..., chosen] = 0
            return changed @ weight.T + bias

        right = without(head)
        yield "This is the whole output: the head is still in it.", whole
        yield "The bias of out_proj belongs to no head: it stays.", right - bias
        yield "The bias of out_proj is added once.", right + bias
        yield "Here this head alone is left: leave it out and keep the others.", without(*others)
        yield "This is what the head contributes: subtract it from the whole output.", whole - right
        if num_heads > 1:
            for h, seen in ((head - 1, "the one before"), ((head + 1) % num_heads, "the next one")):
                yield f"Heads count from 0: here {seen} is left out.", without(h % num_heads)
            yield (
                "Zero the head; nothing is rescaled for the others.",
                projected(heads.index_fill(1, torch.tensor([head]), 0.0) * num_heads / (num_heads - 1)),
            )
            yield (
                "Zero the head; its part is not filled by the others' mean.",
                projected(heads.index_copy(1, torch.tensor([head]), heads[:, others].mean(1, keepdim=True))),
            )
        yield (
            "Take the head's columns of out_proj.weight, which multiply its part; these are its rows.",
            joined @ (_zeroed(weight, 0, block)).T + bias,
        )
        yield "Zero the part before out_proj: after it, features belong to no head any more.", _zeroed(whole, -1, block)
        yield (
            "The head's features are a block, h*d_head onwards; here every H-th was taken.",
            columns(slice(head, None, num_heads)),
        )
        yield "The block starts at h*d_head, d_head being E // H.", columns(slice(head, head + d_head))
        yield "The block is d_head wide; here one feature alone was taken.", columns(slice(head, head + 1))
        yield "The part is cut from the concatenation; here it is cut from x.", layer(_zeroed(x, -1, block))[0]
        if head < len(x):
            yield (
                "The heads are the second axis of (B, H, T, d_head); here an item of the batch was emptied.",
                projected(heads.index_fill(0, torch.tensor([head]), 0.0)),
            )
        yield (
            "Queries or keys of zero give equal weights, and the head still contributes: zero its part.",
            projected(
                heads.index_copy(
                    1, torch.tensor([head]), v[:, [head]].mean(2, keepdim=True).expand_as(heads[:, [head]])
                )
            ),
        )
        yield (
            "The bias of v_proj is part of what the head contributes: it goes as well.",
            projected(
                heads.index_copy(1, torch.tensor([head]), layer.v_proj.bias[block].expand_as(heads[:, 0])[:, None])
            ),
        )
        yield (
            "Zero the part; here it was replaced by its mean.",
            projected(
                heads.index_copy(
                    1, torch.tensor([head]), heads[:, [head]].mean(2, keepdim=True).expand_as(heads[:, [head]])
                )
            ),
        )
        yield (
            "The parts of the heads still have to go through out_proj.",
            merge_heads(heads.index_fill(1, torch.tensor([head]), 0.0)),
        )
        yield (
            "Scores are divided by the square root of d_head, not of E.",
            projected(
                ((q @ k.transpose(-2, -1) * width**-0.5).softmax(-1) @ v).index_fill(1, torch.tensor([head]), 0.0)
            ),
        )
        yield "No mask here: every token may attend to every token.", ablate_head_causal(layer, q, k, v, head)
        wrong_join = heads.index_fill(1, torch.tensor([head]), 0.0).reshape(x.shape)
        yield "Joining heads needs transpose(1, 2) before the reshape.", wrong_join @ weight.T + bias


def ablate_head_causal(layer, q, k, v, head):
    """The output without the head where each token sees itself and the past alone."""
    mask = torch.ones(q.shape[2], q.shape[2], dtype=torch.bool).tril()
    heads, _ = scaled_dot_product_attention(q, k, v, mask)
    return layer.out_proj(merge_heads(heads.index_fill(1, torch.tensor([head]), 0.0)))


def _zeroed(values, axis, block):
    """A copy of values that is zero in a block of an axis."""
    changed = values.clone()
    changed.movedim(axis, 0)[block] = 0
    return changed
