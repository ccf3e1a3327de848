"""The reference mathematics of attention.

One letter per axis: B batch, H heads, T queries, S keys; ``d_model`` is the width of a token and
``d_head = d_model // num_heads`` the width of a head. A ``mask`` is boolean, broadcasts to
(B, H, T, S), and True means "may attend".
"""

import math
import operator
from contextlib import suppress

import torch
from torch import nn


def whole_number(name, number):
    """The number as a Python int. TypeError for what is not whole by its type: 8.0, True, text."""
    if not isinstance(number, bool):
        with suppress(TypeError):
            return operator.index(number)
    raise TypeError(f"{name} {number!r} is of type {type(number).__name__}: a whole number is wanted")


def sizes(x, axes):
    """The sizes of x's axes, which are named as in "(B, T, d_model)". ValueError when x has more or fewer."""
    if x.ndim != axes.count(",") + 1:
        raise ValueError(f"x has shape {tuple(x.shape)}: {axes} is wanted")
    return x.shape


def head_width(d_model, num_heads):
    """Width of one head, ``d_model // num_heads``.

    ValueError when it is not a whole number, 1 or more; TypeError for arguments that are no whole numbers.
    """
    d_model, num_heads = whole_number("d_model", d_model), whole_number("num_heads", num_heads)
    if num_heads < 1 or d_model < 1:
        raise ValueError(f"d_model {d_model} and num_heads {num_heads} must be 1 or more")
    if d_model % num_heads:
        raise ValueError(f"d_model {d_model} is not a multiple of num_heads {num_heads}")
    return d_model // num_heads


def split_heads(x, num_heads):
    """Cut x (B, T, d_model) into heads (B, H, T, d_head); head h holds features h*d_head onwards."""
    batch, time, width = sizes(x, "(B, T, d_model)")
    d_head = head_width(width, num_heads)
    return x.reshape(batch, time, num_heads, d_head).transpose(1, 2)  # (B, T, H, d_head) -> (B, H, T, d_head)


def merge_heads(x):
    """Lay heads x (B, H, T, d_head) side by side again: (B, T, H*d_head), the inverse of split_heads."""
    batch, heads, time, d_head = sizes(x, "(B, H, T, d_head)")
    return x.transpose(1, 2).reshape(batch, time, heads * d_head)  # (B, H, T, d_head) -> (B, T, H, d_head)


def attention_scores(q, k, scale=None):
    """Scores (B, H, T, S) of queries q (B, H, T, d) against keys k (B, H, S, d).

    ``scale`` multiplies the dot products; by default it is 1/sqrt(d) (Vaswani et al. 2017, eq. 1).
    """
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1])
    return q @ k.transpose(-2, -1) * scale


def boolean(mask):
    """The mask itself. TypeError when it is not a boolean tensor."""
    came = mask.dtype if torch.is_tensor(mask) else type(mask).__name__
    if came != torch.bool:
        raise TypeError(f"mask is {came}: it must be a boolean tensor, True = may attend; numbers to add are a bias")
    return mask


def masked_softmax(scores, mask=None):
    """Softmax over the keys, the last axis of scores (..., T, S), where mask allows them.

    A query that may attend to nothing, be it by the mask, by scores of -inf or by both together, gets a row of
    zeros, not NaN and not a uniform row; its gradient is zero too. TypeError for a mask that is not boolean.
    """
    if mask is not None:
        scores = scores.masked_fill(~boolean(mask), -math.inf)
    forbidden = scores == -math.inf
    nowhere = forbidden.all(-1, keepdim=True)  # the softmax of such a row, and so its gradient, would be NaN
    return scores.masked_fill(nowhere, 0.0).softmax(-1).masked_fill(forbidden, 0.0)


def scaled_dot_product_attention(q, k, v, mask=None, bias=None):
    """Attend from q (B, H, T, d) to k (B, H, S, d) and v (B, H, S, d_v).

    Returns out (B, H, T, d_v) and weights (B, H, T, S). ``bias`` broadcasts to the scores and is
    added to them before the softmax, as ALiBi does.
    """
    scores = attention_scores(q, k)
    if bias is not None:
        scores = scores + bias
    weights = masked_softmax(scores, mask)
    return weights @ v, weights


class MultiHeadAttention(nn.Module):
    """Multi-head self-attention with four projections; forward returns every head's weights."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        head_width(embed_dim, num_heads)
        self.num_heads = num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def project(self, x):
        """x (B, T, embed_dim) -> queries, keys and values, each (B, H, T, d_head)."""
        return tuple(split_heads(proj(x), self.num_heads) for proj in (self.q_proj, self.k_proj, self.v_proj))

    def forward(self, x, mask=None, bias=None):
        """x (B, T, embed_dim) -> out (B, T, embed_dim) and weights (B, H, T, T)."""
        q, k, v = self.project(x)
        heads, weights = scaled_dot_product_attention(q, k, v, mask, bias)
        return self.out_proj(merge_heads(heads)), weights


def ablate_head(layer, x, head):
    """Output (B, T, embed_dim) of a MultiHeadAttention for x without one head's part of the concatenation.

    The bias of out_proj stays: it belongs to no head. ValueError when the layer has no such head.
    """
    head = whole_number("head", head)
    if not 0 <= head < layer.num_heads:
        raise ValueError(f"head {head} is not one of the {layer.num_heads} heads, 0 to {layer.num_heads - 1}")
    heads, _ = scaled_dot_product_attention(*layer.project(x))
    kept = torch.arange(layer.num_heads, device=x.device) != head
    return layer.out_proj(merge_heads(heads * kept[:, None, None]))


def copy_weights(packed, layer):
    """Copy an ``nn.MultiheadAttention`` into a layer with q_proj, k_proj, v_proj and out_proj.

    PyTorch packs the three input projections as ``in_proj_weight = [Wq; Wk; Wv]``. Biases are copied
    where the layer has them, and set to 0 where only the layer has them. Returns the layer. ValueError for
    a packed layer with other widths for keys or values, or with keys of its own, which the four lack.
    """
    if packed.in_proj_weight is None or packed.bias_k is not None or packed.add_zero_attn:
        raise ValueError("the packed layer was made with kdim, vdim, add_bias_kv or add_zero_attn: leave them out")
    weights = (*packed.in_proj_weight.chunk(3), packed.out_proj.weight)
    biases = [torch.zeros(())] * 4
    if packed.in_proj_bias is not None:
        biases = (*packed.in_proj_bias.chunk(3), packed.out_proj.bias)
    with torch.no_grad():
        for name, weight, bias in zip(("q_proj", "k_proj", "v_proj", "out_proj"), weights, biases, strict=True):
            projection = getattr(layer, name)
            projection.weight.copy_(weight)
            if projection.bias is not None:
                projection.bias.copy_(bias)
    return layer


def causal_mask(seq_len):
    """Mask (T, T), True on and below the diagonal: each position sees itself and the past."""
    return torch.ones(seq_len, seq_len, dtype=torch.bool).tril()


def padding_mask(lengths, seq_len):
    """Mask (B, 1, 1, S), True for the first ``lengths[b]`` keys of item b and False for the padding.

    ValueError when lengths are not whole numbers (B,): a boolean ``key_padding_mask`` is none.
    """
    lengths = torch.as_tensor(lengths)
    if lengths.ndim != 1 or lengths.dtype == torch.bool or lengths.is_floating_point() or lengths.is_complex():
        raise ValueError(f"lengths are {lengths.dtype} of shape {tuple(lengths.shape)}: whole numbers (B,) are wanted")
    return (torch.arange(seq_len, device=lengths.device) < lengths[:, None])[:, None, None, :]


def to_multihead_mask(mask, batch, num_heads, queries, keys):
    """Our mask as the ``attn_mask`` of nn.MultiheadAttention: True = forbidden, (B*H, T, S), heads fastest.

    F.scaled_dot_product_attention reads True as we do and takes our masks as they are. TypeError for a mask that
    is not boolean.
    """
    return ~boolean(mask).expand(batch, num_heads, queries, keys).reshape(batch * num_heads, queries, keys)


def parameter_count(d_model, num_heads):
    """Trainable numbers in four d_model x d_model projections with bias; num_heads changes nothing."""
    head_width(d_model, num_heads)
    return 4 * (d_model * d_model + d_model)


def score_memory(num_heads, seq_len, bytes_per_score=4):
    """Bytes that the scores (H, T, T) of one item take; a float32 has 4."""
    return num_heads * seq_len * seq_len * bytes_per_score
