"""A tiny Transformer encoder whose positional encoding is a setting, made of the lesson's own parts.

Letters as in ``course.attention``; L counts layers.
"""

import torch
from torch import nn

from course.attention import MultiHeadAttention, causal_mask, head_width
from course.encoding import LearnedPositionalEncoding, add_sinusoidal_encoding, alibi_bias, alibi_slopes, rotate

ENCODINGS = ("none", "sinusoidal", "learned", "rotary", "alibi")


class RotaryAttention(MultiHeadAttention):
    """Multi-head self-attention whose queries and keys, but not values, are turned by their position."""

    def project(self, x):
        """x (B, T, embed_dim) -> turned queries, turned keys and values, each (B, H, T, d_head)."""
        q, k, v = super().project(x)
        return rotate(q), rotate(k), v


class EncoderLayer(nn.Module):
    """Attention, then a feed-forward net; each reads x normalised and is added to x itself (pre-norm, as GPT-2)."""

    def __init__(self, attention, d_model):
        super().__init__()
        self.attention = attention
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = nn.Sequential(nn.Linear(d_model, 2 * d_model), nn.ReLU(), nn.Linear(2 * d_model, d_model))
        self.feed_forward_norm = nn.LayerNorm(d_model)

    def forward(self, x, mask=None, bias=None):
        """x (B, T, d_model) -> the same shape, and the attention weights (B, H, T, T)."""
        attended, weights = self.attention(self.attention_norm(x), mask, bias)
        x = x + attended
        return x + self.feed_forward(self.feed_forward_norm(x)), weights


class TinyEncoder(nn.Module):
    """Tokens in, one prediction per position and every attention map out.

    ``encoding`` is one of ``ENCODINGS``, or a module of your own that maps embeddings (B, T, d_model)
    to the same shape. With ``causal=True`` each position sees itself and the past. ``max_len`` is the
    size of the learned table; the other encodings have no limit.
    """

    def __init__(
        self,
        num_symbols,
        num_classes,
        d_model=32,
        num_heads=4,
        num_layers=1,
        encoding="sinusoidal",
        causal=False,
        max_len=64,
    ):
        super().__init__()
        if not isinstance(encoding, nn.Module) and encoding not in ENCODINGS:
            raise ValueError(f"encoding {encoding!r} is unknown: take one of {', '.join(ENCODINGS)}, or an nn.Module")
        if encoding == "rotary" and head_width(d_model, num_heads) % 2:
            raise ValueError(f"rotary encoding needs an even head width, not {head_width(d_model, num_heads)}")
        if encoding == "alibi":
            alibi_slopes(num_heads)  # refuses a number of heads that has no slopes
        if num_layers < 1:
            raise ValueError(f"num_layers {num_layers} must be 1 or more")
        self.num_heads, self.causal, self.encoding = num_heads, causal, encoding
        self.embedding = nn.Embedding(num_symbols, d_model)
        if encoding == "learned":
            self.encoding = LearnedPositionalEncoding(max_len, d_model)
        attention = RotaryAttention if encoding == "rotary" else MultiHeadAttention
        self.layers = nn.ModuleList(EncoderLayer(attention(d_model, num_heads), d_model) for _ in range(num_layers))
        self.norm = nn.LayerNorm(d_model)
        self.classify = nn.Linear(d_model, num_classes)

    def forward(self, tokens):
        """tokens (B, T) -> logits (B, T, num_classes) and maps (L, B, H, T, T)."""
        seq_len = tokens.shape[1]
        x = self.add_positions(self.embedding(tokens))
        mask = causal_mask(seq_len).to(tokens.device) if self.causal else None
        bias = self.attention_bias(seq_len).to(x) if self.encoding == "alibi" else None
        maps = []
        for layer in self.layers:
            x, weights = layer(x, mask, bias)
            maps.append(weights)
        return self.classify(self.norm(x)), torch.stack(maps)

    def add_positions(self, x):
        """x (B, T, d_model) with what the encoding adds to the embeddings; rotary and ALiBi add nothing here."""
        if isinstance(self.encoding, nn.Module):
            return self.encoding(x)
        return add_sinusoidal_encoding(x) if self.encoding == "sinusoidal" else x

    def attention_bias(self, seq_len):
        """ALiBi's bias (H, T, T): the causal one, or its mirror image on both sides, blind to left and right."""
        bias = alibi_bias(self.num_heads, seq_len)
        return bias if self.causal else torch.maximum(bias, bias.transpose(-2, -1))
