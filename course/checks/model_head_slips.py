"""What people return instead of the strongest head, and instead of how far the output moves without each head."""

import torch

from course.attention import ablate_head, merge_heads, scaled_dot_product_attention, split_heads

FROM_A_NUMBER = "A search that starts from a number finds nothing below it: start from the first entry, or from -inf."


def mistaken_places(scores, place):
    """{(layer, head) that people return instead: hint} for scores (L, H) whose largest stands at ``place``."""
    (layers, heads), (layer, head) = scores.shape, place
    flat = layer * heads + head
    per_layer, per_head = scores.argmax(1), scores.argmax(0)
    turned = head * layers + layer  # the flat place in scores.T
    fixed = "H differs from model to model: divide by scores.shape[1], no fixed number."
    by_heads = "A row has H entries: divide the flat place by H, the number of columns."
    slips = [
        (place[::-1], "The layer comes first, then the head."),
        ((layer + 1, head + 1), "Layers and heads count from 0."),
        ((layer, head + 1), "Heads count from 0."),
        ((layer + 1, head), "Layers count from 0, and // rounds down: / with round or ceil may go to the next row."),
        (divmod(flat, layers), by_heads),
        (divmod(flat, heads - 1) if heads > 1 else place, by_heads),
        (divmod(turned, heads), "Flatten scores itself, not scores.T."),
        (divmod(heads, flat) if flat else place, "divmod(flat place, H): the place comes first."),
        (divmod(flat, 12), fixed),
        (divmod(flat, 6), fixed),
        (
            divmod(int(scores.abs().argmax()), heads),
            "The largest is wanted, not the furthest from 0: scores may be negative.",
        ),
        (divmod(int(scores.argmin()), heads), "This is where the smallest score stands."),
        (divmod(int(scores.flatten().argsort()[-2]), heads), "This is where the second largest score stands."),
        (
            (int(scores.mean(1).argmax()), int(scores.mean(0).argmax())),
            "Find the largest entry, not the largest means.",
        ),
        ((0, int(scores[0].argmax())), "This looks at the first layer alone."),
        ((layers - 1, int(scores[-1].argmax())), "This looks at the last layer alone."),
        ((layers - 1, heads - 1), "The loop stops at the last entry: keep the largest score so far, too."),
        ((int(per_layer.argmax()), int(per_layer.max())), "Compare the scores of the layers, not the places in them."),
        ((int(per_head.argmax()), int(scores.amax(0).argmax())), "Compare scores, not the places that argmax gives."),
        ((0, 0), FROM_A_NUMBER),
    ]
    return {found: hint for found, hint in reversed(slips) if found != place}  # the first of two hints stays


@torch.no_grad()
def mistaken_moves(layer, x, moves, whole):
    """(hint, (H,)) for what people return instead; moves (H, B, T, E) is what each head contributes."""
    size, axes = moves.abs(), (1, 2, 3)
    right, without = size.mean(axes), whole - moves
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
        (whole.abs() - without.abs()).abs().mean(axes),
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
        without.abs().mean(axes),
    )
    yield (
        "Compare the output without the head with the whole; here it is compared with x.",
        (without - x).abs().mean(axes),
    )
    alone = moves + layer.out_proj.bias
    yield "Take the head away; here it is the only one left.", (whole - alone).abs().mean(axes)
    yield "The bias of out_proj belongs to no head: it stays.", alone.abs().mean(axes)
    taken = moves.cumsum(0).abs().mean(axes)
    yield "Take away one head at a time: here those before it are missing as well.", taken
    yield "Entry h belongs to head h: leave them in the order of the heads.", right.flip(0)
    yield "Take away head h for entry h: here it is the same head each time.", right[:1].expand_as(right)
    yield "Take away head h for entry h: here it is the same head each time.", right[-1:].expand_as(right)
    yield "Return the numbers as they are, without softmax.", right.softmax(0)
    yield (
        "Take the absolute value of the difference; here it is the difference of absolute values.",
        (whole.abs() - without.abs()).mean(axes),
    )
    yield (
        "Take the absolute value of the difference; here it is the difference of absolute values.",
        (whole.abs() - without.abs()).mean(axes).abs(),
    )
    yield "Leave the differences as they are, without dividing by the output.", (moves / whole).abs().mean(axes)
    yield (
        "Compare each head with the whole output; here it is compared with the head before.",
        torch.cat([moves[:1], moves[1:] - moves[:-1]]).abs().mean(axes),
    )
    yield (
        "ablate_head gives one tensor (B, T, E), and no pair: here it was taken apart along the batch.",
        (whole - without[:, :1]).abs().mean(axes),
    )
    parts = (whole - layer.out_proj.bias).abs().unflatten(-1, (layer.num_heads, -1)).sum(-1).mean((0, 1))
    yield "A head is a block of columns of out_proj.weight, (out, in); here rows are removed.", parts / x.shape[-1]
    similar = torch.nn.functional.cosine_similarity(whole.expand_as(without), without, dim=-1)
    yield "Take absolute differences; here it is 1 minus the cosine.", 1 - similar.mean((1, 2))
    passed, chain = x, []
    for head in range(layer.num_heads):
        passed = ablate_head(layer, passed, head)
        chain.append((whole - passed).abs().mean())
    yield "Every head is taken away for the same x; here x was written over in the loop.", torch.stack(chain)
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
