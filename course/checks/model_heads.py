"""Checks of what is done with a model's heads: weights loaded, the strongest found, and how far the output moves."""

import torch

from course import minilm
from course.attention import ablate_head, merge_heads, scaled_dot_product_attention, split_heads
from course.checks.compare import (
    agrees,
    as_array,
    check_close,
    check_shape,
    check_tensor,
    check_true,
    dtype_name,
    kind_of,
    refuse_none,
)
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.inputs import normal
from course.checks.probes import HeadsProbe

_PAIR = "Return (layer, head): where in scores (L, H) the largest entry stands."
_MOVES = "Entry h is the mean of abs(whole - without), all entries of the output, with head h alone taken away."


# Loading


@check("every weight in its place")
def loading_values(candidate, cases):
    """cases: (embed_dim, num_heads)."""
    for seed, case in enumerate(cases):
        layer, weights = _fresh_layer(case, seed)
        result, (after, *_) = candidate.observe(layer, weights)
        refuse_none(result, "what load_layer returned")
        check_true(isinstance(result, HeadsProbe), f"load_layer returned {kind_of(result)}.", "End with return layer.")
        _check_loaded(result, weights, layer, "the layer returned has")
        _check_loaded(after, weights, layer, "the layer given has")


@check("weights and the rest of the layer as they were")
def loading_leaves(candidate, case):
    layer, weights = _fresh_layer(case)
    before = {name: value.clone() for name, value in weights.items()}
    _, (after, weights_after) = candidate.observe(layer, weights)
    kept, frozen, *_ = after.record().tolist()
    same = set(before) == set(weights_after) and all(torch.equal(before[n], weights_after[n]) for n in before)
    moved = any(
        not torch.equal(a, b) for a, b in zip(layer.state_dict().values(), after.state_dict().values(), strict=True)
    )
    for condition, seen, hint in (
        (moved, "nothing in the layer given has changed.", "Copy into the parameters of layer itself."),
        (same, "weights was changed.", "Leave the dict and its tensors alone: copy_ reads, pop and *= write."),
        (frozen == 0, "parameters of the layer are frozen now.", "Leave requires_grad as it was: True."),
        (kept == 0, "parameters of the layer hold gradients now.", "Copy under torch.no_grad()."),
        *after.left_alone(case[1], "Copy numbers, and nothing else."),
    ):
        check_true(condition, seen, hint)


def _fresh_layer(case, seed=0):
    """(a layer, eight weights by the names of a checkpoint, in another order than the layer's)."""
    width, num_heads = case
    weights = {
        f"{theirs}.{part}": normal(*shape, seed=100 * seed + 10 * number + len(shape))
        for number, theirs in enumerate(reversed(minilm.CHECKPOINT_NAMES.values()))
        for part, shape in (("bias", (width,)), ("weight", (width, width)))
    }
    return HeadsProbe(width, num_heads).eval(), weights


def _check_loaded(layer, weights, fresh, who):
    """Fail with what stands in the first parameter that does not hold its weight."""
    found, before = layer.state_dict(), fresh.state_dict()
    for ours, theirs in minilm.CHECKPOINT_NAMES.items():
        for part in ("weight", "bias"):
            value, wanted = found[f"{ours}.{part}"], weights[f"{theirs}.{part}"]
            if agrees(value, wanted, 1e-6):
                continue
            others = [name for name, other in weights.items() if agrees(value, other, 1e-6)]
            if value.shape != wanted.shape:
                seen, hint = f"the shape {tuple(value.shape)}", "Write into the parameters that are there, of any size."
            elif agrees(value, before[f"{ours}.{part}"], 1e-6):
                seen, hint = "its old numbers", f"Copy {theirs}.{part} into layer.{ours}.{part}."
            elif part == "weight" and agrees(value, wanted.T, 1e-6):
                seen, hint = "its weight transposed", "Both are (out, in), as nn.Linear has it: copy without transpose."
            elif others:
                seen, hint = f"the weight called {others[0]}", f"It belongs to another projection: {theirs} is {ours}."
            else:
                seen, hint = "other numbers", f"Copy {theirs}.{part} as it is, without a scale or a sum."
            raise CheckFailed(f"{who} {seen} in {ours}.{part}.", hint)


# The strongest head


@check("largest score by hand")
def strongest_by_hand(candidate, scores, expected):
    scores = torch.tensor(scores)
    _check_place(candidate(scores), scores, tuple(expected))


@check("any numbers of layers and heads")
def strongest(candidate, cases):
    """cases: (L, H, layer, head) with the place of the largest score."""
    for seed, (layers, heads, *place) in enumerate(cases):
        scores = normal(layers, heads, seed=seed + 80).sigmoid()
        scores[place[0]] *= 0.1  # so that neither its layer nor its head has the largest mean
        scores[:, place[1]] *= 0.1
        scores[tuple(place)] = 1.1
        if seed % 2:
            scores -= 2  # all of them negative
        _check_place(candidate(scores), scores, tuple(place))


def _check_place(found, scores, place):
    refuse_none(found)
    found = found.tolist() if isinstance(found, torch.Tensor) or hasattr(found, "tolist") else found
    if not isinstance(found, tuple | list) or len(found) != 2:
        counted = "argmax counts through all entries, row by row: split its number into layer and head; divmod does it."
        raise CheckFailed(
            f"the result is {kind_of(found)}, wanted a pair.", counted if isinstance(found, int) else _PAIR
        )
    entries = [as_array(entry, "an entry of the pair") for entry in found]
    check_true(all(entry.size == 1 for entry in entries), "an entry of the pair is not one number.", _PAIR)
    whole = all("float" not in dtype_name(entry) if hasattr(entry, "dtype") else type(entry) is int for entry in found)
    hint = "Whole numbers count layers and heads: divide by //, or take divmod; / makes a float."
    check_true(whole, "an entry of the pair is a float, no whole number.", hint)
    pair = tuple(int(entry.reshape(())) for entry in entries)
    heads = scores.shape[1]
    flat = place[0] * heads + place[1]
    slips = {
        place[::-1]: "The layer comes first, then the head.",
        (place[0] + 1, place[1] + 1): "Layers and heads count from 0.",
        (place[0], place[1] + 1): "Heads count from 0.",
        (place[0] + 1, place[1]): "Layers count from 0.",
        divmod(flat, len(scores)): "A row has H entries: divide the flat place by H, the number of columns.",
        divmod(int(scores.argmin()), heads): "This is where the smallest score stands.",
        divmod(int(scores.flatten().argsort()[-2]), heads): "This is where the second largest score stands.",
        (int(scores.mean(1).argmax()), int(scores.mean(0).argmax())): "Find the largest entry, not the largest means.",
        (0, int(scores[0].argmax())): "This looks at the first layer alone.",
        (len(scores) - 1, int(scores[-1].argmax())): "This looks at the last layer alone.",
        divmod(
            int(scores.abs().argmax()), heads
        ): "The largest is wanted, not the furthest from 0: scores may be negative.",
    }
    check_true(pair == place, "this is not where the largest score stands.", slips.get(pair, _PAIR))


# How far the output moves without a head


@check("how far the output moves")
def importance_values(candidate, cases):
    """cases: (B, T, E, H)."""
    for seed, case in enumerate(cases):
        layer, x = _layer_and_input(case, seed)
        with torch.no_grad():
            whole = layer(x)[0]
            moves = torch.stack([whole - ablate_head(layer, x, head) for head in range(case[-1])])  # (H, B, T, E)
        result = candidate(layer, x)
        array = as_array(result)
        check_shape(array, (case[-1],), "One number for each head: the mean runs over batch, tokens and features.")
        expected = as_array(moves.abs().mean((1, 2, 3)))
        check_close(array, expected, _MOVES, atol=1e-5, suspects=mistaken_moves(layer, x, moves, whole))


@torch.no_grad()
def mistaken_moves(layer, x, moves, whole):
    """(hint, (H,)) for what people return instead; moves (H, B, T, E) is what each head contributes."""
    size, axes = moves.abs(), (1, 2, 3)
    right = size.mean(axes)
    yield "Take absolute differences before the mean: those of opposite sign cancel.", moves.mean(axes)
    yield "Take absolute differences before the mean: those of opposite sign cancel.", -moves.mean(axes)
    yield "Take the absolute value of each entry before the mean, not of the mean.", moves.mean(axes).abs()
    yield "Take absolute differences; here they are squared.", (moves**2).mean(axes)
    yield "Take absolute differences; here it is the root of the mean square.", (moves**2).mean(axes).sqrt()
    yield "Take the mean over all entries; here it is a norm.", (moves**2).sum(axes).sqrt()
    yield "Take the mean over all entries; here each token's norm is taken first.", moves.norm(dim=-1).mean((1, 2))
    yield "Take the mean over all entries; here it is the sum.", size.sum(axes)
    yield "Take the mean over all entries; here features are added up.", size.sum(-1).mean((1, 2))
    yield "Take the mean over all entries; here tokens are added up.", size.sum(2).mean((1, 2))
    yield "Take the mean over all entries; here it is the largest.", size.amax(axes)
    yield "Take the mean over all entries; here it is the median.", size.flatten(1).median(-1).values
    yield (
        "Take the absolute value of the difference; here it is the difference of absolute values.",
        (whole.abs() - (whole - moves).abs()).abs().mean(axes),
    )
    yield "Take the mean over the whole batch; here its first item stands for it.", size[:, 0].mean((1, 2))
    yield "Take the mean over all tokens; here the first stands for them.", size[:, :, 0].mean((1, 2))
    yield "Take the mean over all tokens; here the last stands for them.", size[:, :, -1].mean((1, 2))
    yield "Leave the differences as they are, without dividing by the output.", right / whole.abs().mean()
    yield "Return the numbers as they are; here they are divided by their sum.", right / right.sum()
    yield "Return the numbers as they are; here they are divided by the largest.", right / right.max()
    yield "Entry h belongs to head h: leave them in the order of the heads.", right.sort(descending=True).values
    yield "Entry h belongs to head h: leave them in the order of the heads.", right.sort().values
    yield "Return how far the output moves; this is the order of the heads.", right.argsort(descending=True)
    yield "Return how far the output moves; this is the order of the heads.", right.argsort()
    yield (
        "This is the size of the output without the head: compare it with the whole.",
        (whole - moves).abs().mean(axes),
    )
    yield (
        "Compare the output without the head with the whole; here it is compared with x.",
        ((whole - moves - x).abs().mean(axes)),
    )
    alone = moves + layer.out_proj.bias
    yield "Take the head away; here it is the only one left.", (whole - alone).abs().mean(axes)
    yield "The bias of out_proj belongs to no head: it stays.", alone.abs().mean(axes)
    taken = moves.cumsum(0).abs().mean(axes)
    yield "Take away one head at a time: here those before it are missing as well.", taken
    yield "Every head counts from 0: here they are shifted by one.", right.roll(-1)
    q, k, v = (split_heads(p(x), layer.num_heads) for p in (layer.q_proj, layer.k_proj, layer.v_proj))
    heads, weights = scaled_dot_product_attention(q, k, v)
    yield "Compare outputs (B, T, E), after out_proj; here it is the head before it.", heads.abs().mean((0, 2, 3))
    yield "The weights do not change without the head: compare the outputs, layer(x)[0].", weights.abs().mean((0, 2, 3))
    merged = merge_heads(heads).reshape(*x.shape[:2], layer.num_heads, -1)
    yield (
        "Compare outputs (B, T, E), after out_proj; here it is the head before it.",
        (merged.abs().sum(-1).mean((0, 1)) / x.shape[-1]),
    )


@check("layer and x left as they were, no gradient kept")
def importance_leaves(candidate, case):
    layer, x = _layer_and_input(case)
    result, (after, x_after) = candidate.observe(layer, x)
    check_tensor(result)
    kept, frozen, *_ = after.record().tolist()
    same = all(torch.equal(a, b) for a, b in zip(layer.parameters(), after.parameters(), strict=True))
    for condition, seen, hint in (
        (not result.requires_grad, "the result still carries its graph.", "Measure under torch.no_grad()."),
        (same, "the layer's parameters were changed.", "Change a copy of the layer, or none at all."),
        (kept == 0, "the layer's parameters hold gradients now.", "Compute outputs only, without backward()."),
        (frozen == 0, "the layer's parameters were frozen.", "Use torch.no_grad() instead of requires_grad_(False)."),
        *after.left_alone(case[-1]),
        (torch.equal(x, x_after), "x was changed in place.", "Make new tensors: -= writes into x."),
    ):
        check_true(condition, seen, hint)


def _layer_and_input(case, seed=0):
    """(layer in eval mode, x (B, T, E))."""
    batch, time, width, num_heads = case
    return HeadsProbe(width, num_heads).eval(), normal(batch, time, width, seed=seed + 120)
