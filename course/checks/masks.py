"""Masks to check with, and what a mask should make of a student's own weights, right or wrong."""

import torch

from course.checks.attention_slips import dropped
from course.checks.compare import agrees
from course.checks.inputs import causal, mixed_mask


def mask_of(kind, sizes):
    """A mask with at least one True in every row, and a False too but for 'causal' and 'nothing forbidden'."""
    batch, heads, queries, keys, *_ = sizes
    shapes = {
        "shape (T, S)": (queries, keys),
        "shape (S,)": (keys,),
        "shape (B, 1, 1, S)": (batch, 1, 1, keys),
        "shape (B, 1, T, S)": (batch, 1, queries, keys),
        "shape (H, 1, S)": (heads, 1, keys),
        "shape (B, H, T, S)": (batch, heads, queries, keys),
    }
    if kind == "causal":
        return causal(queries, keys)
    if kind == "nothing forbidden":
        return torch.ones(1, 1, queries, keys, dtype=torch.bool)
    return mixed_mask(*shapes[kind], seed=len(kind))


def normalised_axes(weights):
    """The axes along which weights have one and the same sum everywhere, None for none. The keys come first."""
    for axes in (-1, -2, -3, -4, (-2, -1), (-3, -2, -1), (-4, -3, -2, -1)):
        total = weights.sum(axes)
        wanted = float(total.flatten()[0]) if total.numel() > 1 else 1.0  # one number is always the same everywhere
        if agrees(total, torch.full_like(total, wanted), 1e-4):
            return axes
    return None


def masked_by(weights, mask):
    """What a mask makes of a student's own weights: restricted, with the sums along their own axes as before.

    NaN where nothing is left, which happens only along a wrong axis.
    """
    weights, axes = weights.double(), normalised_axes(weights)
    kept = weights * mask
    return kept if axes is None else kept / kept.sum(axes, keepdim=True) * weights.sum(axes, keepdim=True)


def spoilt_alike(plain, right, masked, masked_right):
    """Whether both are the right weights behind one slip that attention_values names: a softmax twice, or dropout."""
    twice = agrees(plain, right.softmax(-1)) and agrees(masked, masked_right.softmax(-1))
    pairs = ((plain, right), (masked, masked_right))
    return twice or all(agrees(given, dropped(given, expected)[1]) for given, expected in pairs)


def judged(plain, mask, given):
    """The given weights and what they should be, both 0 in rows without an answer (see masked_by)."""
    expected = masked_by(plain, mask)
    answered = torch.isfinite(expected).all(-1, keepdim=True)
    return torch.where(answered, given.double(), 0.0), torch.where(answered, expected, 0.0)
