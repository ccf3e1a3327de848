"""What is usually mistaken when a width is cut into heads, joined again or counted: a hint for each mistake.

``wrong_splits``, ``wrong_merges`` and ``rescaled`` give the suspects of ``check_close``; ``SPLIT_SHAPES`` and
``MERGED_SHAPES`` know a mistake by the shape that it gives.
"""

import torch

from course import attention

SPLIT_SHAPES = {  # of x (2, 5, 12) in 3 heads of 4 columns, (2, 3, 5, 4)
    (2, 5, 12): "x came back as it was: reshape and transpose return a new tensor, so keep it, x = x.reshape(...).",
    (2, 5, 3, 4): "Now swap T and H with transpose(1, 2), which returns a new tensor: keep it.",
    (3, 2, 5, 4): "The heads stand before the batch: they are axis 1, as torch.stack(heads, dim=1) puts them.",
    (6, 5, 4): "Batch and heads are one axis here: keep them apart, (B, H, T, d_head).",
    (2, 1, 5, 4): "Only one head is there: a return inside the loop ends it after the first.",
    (2, 3, 5, 3): "A column of each head is missing: the end of a slice is not part of it, so it is (h + 1)*d_head.",
    (2, 2, 5, 4): "A head is missing: h runs from 0 to H - 1, whatever H is.",
    (2, 15, 4): "The heads get an axis of their own: torch.stack(heads, dim=1) makes one, torch.cat does not.",
    (2, 3, 5, 12): "Every head has all columns here: head h holds its own d_head of them, from h*d_head on.",
}
_BESIDE = "The heads go side by side, along the last axis: torch.cat(heads, dim=-1)"
MERGED_SHAPES = {  # of heads (2, 3, 5, 4), (2, 5, 12)
    (2, 3, 5, 4): "x came back as it was: transpose returns a new tensor, so keep it, x = x.transpose(1, 2).",
    (2, 5, 3, 4): "H and d_head are still two axes: make them one, (B, T, H*d_head), with reshape.",
    (2, 5, 4): "One head's width is left: the heads stand side by side, none left out, neither summed nor averaged.",
    (2, 5, 8): "A head is missing: h runs from 0 to H - 1, whatever H is.",
    (2, 15, 4): f"{_BESIDE}, or H and d_head as neighbours before they become one axis.",
    (6, 5, 4): f"{_BESIDE}, and not along the batch.",
    (3, 5, 8): "The heads are axis 1 of x, and a loop over x runs over the batch: take x[:, h], or x.unbind(1).",
    (2, 3, 20): "T went into the last axis: x comes as (B, H, T, d_head), so swap H and T with transpose(1, 2) first.",
    (2, 1, 5, 12): "An axis of length 1 is left over: x[:, h] takes one head without it.",
    (5, 2, 12): "Batch and time are exchanged: they come first, in this order, (B, T, H*d_head).",
}


def wrong_splits(x, heads):
    """(hint, wrong heads) for x (B, T, d_model)."""
    batch, time, width = x.shape
    shape = (batch, heads, time, width // heads)
    right = attention.split_heads(x, heads)
    block = "Head h holds a block of neighbouring features: (B, T, H, d_head), the heads outside and d_head inside."
    return [
        (
            "A view alone mixes the tokens: first (B, T, H, d_head), then swap T and H with transpose(1, 2).",
            x.reshape(shape),
        ),
        (block, x.reshape(batch, time, width // heads, heads).permute(0, 3, 1, 2)),
        (
            "Do not swap time and features first: cut the last axis, then swap T and H.",
            x.transpose(1, 2).reshape(shape),
        ),
        ("Do not mix the batch with the heads: only T and H change places.", x.transpose(0, 1).reshape(shape)),
        ("The heads are counted from 0, in the order of the features: this order is reversed.", right.flip(1)),
        ("Time keeps its order; here it is reversed.", right.flip(2)),
        ("Every head has its own features: here all heads hold the first head's.", right[:, :1].expand(shape)),
        ("Every item of the batch is cut: here all are copies of the first.", right[:1].expand(shape)),
    ]


def wrong_merges(x):
    """(hint, wrong tokens) for heads x (B, H, T, d_head)."""
    batch, heads, time, d_head = x.shape
    shape = (batch, time, heads * d_head)
    right = attention.merge_heads(x)
    begins_at_h = torch.zeros_like(right)
    for h in range(heads):
        begins_at_h[..., h : h + d_head] = x[:, h]
    return [
        ("Head h begins at column h*d_head; here it begins at column h.", begins_at_h),
        (
            "Head h begins at column h*d_head; here all are written to the first columns.",
            _first_columns(x[:, -1], shape),
        ),
        ("Only head 0 is there: return belongs after the loop, not inside.", _first_columns(x[:, 0], shape)),
        ("A view alone mixes the tokens: swap H and T with transpose(1, 2) first.", x.reshape(shape)),
        (
            "The heads stand side by side: all features of head 0, then all of head 1, not one of each in turn.",
            x.permute(0, 2, 3, 1).reshape(shape),
        ),
        ("Swap H and T, and leave d_head the last axis.", x.transpose(2, 3).reshape(shape)),
        ("Swap H and T, and leave d_head the last axis.", x.permute(0, 3, 1, 2).reshape(shape)),
        ("The heads keep their order: head 0 comes first.", x.flip(1).transpose(1, 2).reshape(shape)),
        ("Time keeps its order; here it is reversed.", right.flip(1)),
        (
            "Concatenate the heads; neither sum nor average them.",
            x.mean(1).repeat(1, 1, heads),
        ),
        ("Every head has its own features: here the first head's are repeated.", x[:, 0].repeat(1, 1, heads)),
        ("Every item of the batch is merged: here all are copies of the first.", right[:1].expand(shape)),
    ]


def _first_columns(head, shape):
    """One head (B, T, d_head) in the first columns, and zeros in the others of ``shape``."""
    result = torch.zeros(shape)
    result[..., : head.shape[-1]] = head
    return result


def rescaled(result, right):
    """(hint, wrong value): the right numbers times one factor, if that is what the result holds."""
    hint = "Only places change here, no number: multiply and divide by nothing."
    return hint, right * (result.sum() / right.sum())


def wrong_counts(d_model, num_heads):
    """(hint, wrong count): what is usually left out or counted twice."""
    one, weights, d_head = d_model * d_model + d_model, d_model * d_model, d_model // num_heads
    shared = "The heads share the columns of the projections: their number changes nothing."
    biases = "Each of the four projections has a bias of d_model numbers."
    output = "The output projection counts too: Q, K, V and output make four."
    all_heads = "That is one head's share: count the columns of all the heads."
    return [
        (biases, 4 * weights),
        (biases, 4 * weights + d_model),
        (biases, 4 * weights + 3 * d_model),
        (biases, 4 * weights + 4),
        (output, 3 * one),
        (f"{output} And {biases[0].lower()}{biases[1:]}", 3 * weights),
        ("That is one projection: Q, K, V and output make four.", one),
        ("That is one projection without its bias: Q, K, V and output make four.", weights),
        (shared, 4 * one * num_heads),
        (shared, 3 * one * num_heads + one),
        (f"{shared} {output}", 3 * one * num_heads),
        (f"{shared} {biases}", 4 * weights * num_heads),
        (all_heads, 4 * (d_model * d_head + d_head)),
        (all_heads, 4 * d_model * d_head),
        (all_heads, 3 * (d_model * d_head + d_head) + one),
        ("A head's projection has d_model rows and d_head columns.", 4 * (d_head * d_head + d_head)),
        ("A head's projection has d_model rows and d_head columns.", 4 * num_heads * (d_head * d_head + d_head)),
        ("A power is written d_model ** 2: in Python ^ does something else.", 4 * (d_model ^ (2 + d_model))),
        ("A power is written d_model ** 2: in Python ^ does something else.", 4 * ((d_model ^ 2) + d_model)),
        ("Bias and weights are added: d_model * d_model + d_model for each projection.", 4 * weights * d_model),
        ("Count numbers, and not their bytes.", 16 * one),
        ("The arguments come as d_model, num_heads: here they are exchanged.", 4 * (num_heads * num_heads + num_heads)),
    ]
