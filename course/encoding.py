"""Positional encodings: sinusoidal and its rotation, learned, rotary, ALiBi.

Positions and frequencies are counted from 0. NumPy where a table is computed, torch where it meets a
model.
"""

import math

import numpy as np
import torch
from torch import nn

from course.attention import causal_mask, sizes, whole_number

BASE = 10_000  # Vaswani et al. 2017, section 3.5


def frequencies(d_model, base=BASE):
    """Angular frequency of every (sine, cosine) pair, in radians per position: (ceil(d_model/2),).

    ValueError for a base that is not a positive number.
    """
    if not 0 < base < math.inf:
        raise ValueError(f"base {base} must be a positive number")
    return base ** (-np.arange(0, d_model, 2) / d_model)


def wavelengths(d_model, base=BASE):
    """Positions that one turn of each pair takes, from 2*pi up to 2*pi*base**((d_model-2)/d_model)."""
    return 2 * math.pi / frequencies(d_model, base)


def sinusoidal_encoding(seq_len, d_model, base=BASE):
    """Table (seq_len, d_model): sines in the even columns, cosines in the odd (Vaswani et al. 2017, 3.5).

    An odd d_model ends with a sine.
    """
    angles = np.arange(seq_len)[:, None] * frequencies(d_model, base)  # (T, ceil(d/2))
    table = np.empty((seq_len, d_model))
    table[:, 0::2] = np.sin(angles)
    table[:, 1::2] = np.cos(angles[:, : d_model // 2])
    return table


def add_sinusoidal_encoding(x):
    """x (B, T, E) plus the sinusoidal encoding of its T positions, in x's dtype and on its device.

    TypeError for a tensor of whole numbers, ValueError for one without these three axes.
    """
    _, time, width = sizes(x, "(B, T, E)")
    return x + like(x, sinusoidal_encoding(time, width))  # (T, E) broadcasts over the batch


def like(x, array):
    """A NumPy array as a tensor of x's dtype, on its device. TypeError when x cannot hold fractions, as token ids."""
    if not x.is_floating_point():
        raise TypeError(f"x is {x.dtype}: positions are encoded in embeddings, which are floating-point")
    return torch.as_tensor(array, dtype=x.dtype, device=x.device)


def rotation_matrix(offset, d_model, base=BASE):
    """The R (d_model, d_model) with PE(p + offset) = R @ PE(p) for every p. ValueError when d_model is odd.

    Block i turns the pair (sin, cos) by offset * frequency i; the sign follows that order.
    """
    if d_model % 2:
        raise ValueError(f"d_model {d_model} is odd: its last sine has no cosine to turn with")
    angles = offset * frequencies(d_model, base)
    sines = np.arange(0, d_model, 2)
    rotation = np.zeros((d_model, d_model))
    rotation[sines, sines] = rotation[sines + 1, sines + 1] = np.cos(angles)
    rotation[sines, sines + 1] = np.sin(angles)
    rotation[sines + 1, sines] = -np.sin(angles)
    return rotation


class LearnedPositionalEncoding(nn.Module):
    """A trainable table (max_len, d_model); row p is added at position p."""

    def __init__(self, max_len, d_model):
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)  # as GPT starts (Radford et al. 2018)

    def forward(self, x):
        """x (B, T, d_model) -> the same shape. ValueError when T is longer than the table, or x of another width."""
        _, time, width = sizes(x, "(B, T, d_model)")
        max_len, d_model = self.table.shape
        if time > max_len:
            raise ValueError(f"sequence length {time} is longer than max_len {max_len}")
        if width != d_model:
            raise ValueError(f"x is {width} wide, but the table is made for d_model {d_model}")
        return x + self.table[:time]


def rotate(x, base=BASE):
    """Rotary encoding of x (B, H, T, d_head): pair (2i, 2i+1) at position p turns by p*base**(-2i/d_head).

    Interleaved pairs, as in Su et al. 2021 (RoFormer); apply it to queries and keys, never to values. ValueError
    when d_head is odd, TypeError for a tensor of whole numbers.
    """
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError(f"d_head {d_head} is odd: rotary encoding turns pairs of features")
    angles = np.arange(x.shape[-2])[:, None] * frequencies(d_head, base)  # (T, d_head/2)
    cos, sin = like(x, np.cos(angles)), like(x, np.sin(angles))
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


def alibi_slopes(num_heads):
    """Slopes (H,) of the heads, 2**(-8h/H) for h = 1 ... H (Press et al. 2022).

    ValueError unless num_heads is a power of two.
    """
    num_heads = whole_number("num_heads", num_heads)
    if num_heads < 1 or num_heads & (num_heads - 1):
        raise ValueError(f"num_heads {num_heads} is not a power of two")
    return 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)


def alibi_bias(num_heads, seq_len):
    """Bias (H, T, T) for causal scores: -slope*(i - j) for j <= i and -inf above the diagonal."""
    position = torch.arange(seq_len)
    distance = position[:, None] - position  # i - j
    bias = -alibi_slopes(num_heads)[:, None, None] * distance
    return bias.masked_fill(~causal_mask(seq_len), -math.inf)
