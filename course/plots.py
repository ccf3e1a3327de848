"""Diagrams of attention and pictures of arrays: arrays in, a Picture out; no state, no pyplot.

Every picture carries a sentence of alternative text built from what it shows.
"""

import numpy as np
from matplotlib import colormaps
from matplotlib.patches import FancyBboxPatch, Rectangle

from course.attention import head_width
from course.picture import Picture
from course.wording import noun

MAP = "viridis"  # perceptually uniform and safe for colour-blind readers
INK = "#1f2933"


def head_colours(num_heads):
    """One colour for each head, as far apart on the colour map as they can be."""
    return colormaps[MAP](np.linspace(0.15, 0.85, num_heads))


def head_columns(d_model, num_heads):
    """A token's d_model columns, cut into num_heads blocks of d_head. ValueError when they do not divide."""
    d_head = head_width(d_model, num_heads)
    columns = ", ".join(f"head {h} holds columns {h * d_head} to {(h + 1) * d_head - 1}" for h in range(num_heads))
    alt = f"A row of {d_model} columns cut into {num_heads} heads of {d_head} columns each: {columns}."
    picture = Picture(figsize=(min(10, 1 + 0.8 * d_model), 1.9), alt=alt)
    axes = picture.add_subplot()
    for h, colour in enumerate(head_colours(num_heads)):
        for column in range(h * d_head, (h + 1) * d_head):
            axes.add_patch(Rectangle((column, 0), 1, 1, facecolor=colour, edgecolor="white", linewidth=2))
            axes.text(column + 0.5, 0.5, str(column), ha="center", va="center", color=readable_on(colour))
        axes.text((h + 0.5) * d_head, 1.25, f"head {h}", ha="center", color=INK)
    axes.text(d_model / 2, -0.45, f"d_model = {d_model} = {num_heads} heads x d_head {d_head}", ha="center", color=INK)
    axes.set(xlim=(-0.1, d_model + 0.1), ylim=(-0.7, 1.7))
    axes.set_axis_off()
    return picture


def readable_on(colour):
    """Black or white, whichever has more contrast with an sRGB(A) colour of values from 0 to 1 (WCAG 2.1)."""
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3])
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return "black" if (luminance + 0.05) / 0.05 > 1.05 / (luminance + 0.05) else "white"


def attention_path():
    """The path of the tokens through multi-head attention, from x to the output, with shapes."""
    alt = (
        "The path through multi-head attention, left to right: tokens x (B, T, d_model); three projections to "
        "Q, K and V; split into H heads (B, H, T, d_head); each head computes softmax(Q K^T / sqrt(d_head)) V; "
        "concatenation (B, T, d_model); the output projection; output (B, T, d_model)."
    )
    picture = Picture(figsize=(11, 3.4), alt=alt)
    axes = picture.add_subplot()
    _box(axes, 0.0, 1.5, 1.5, "tokens x\n(B, T, d_model)")
    for name, height in (("Q", 2.6), ("K", 1.5), ("V", 0.4)):
        _box(axes, 2.2, height, 1.3, f"{name} = x W{name.lower()}")
        _arrow(axes, (1.5, 1.8), (2.2, height + 0.3))
    for h, colour in enumerate(head_colours(3)):
        height = 2.6 - 1.1 * h
        text = ("head 0", "head 1", "head H-1")[h]
        _box(axes, 4.4, height, 2.3, f"{text}: softmax(QK'/√d_head) V\n(B, T, d_head)", colour)
        for source in (2.9, 1.8, 0.7):
            _arrow(axes, (3.5, source), (4.4, height + 0.3), alpha=0.35)
        _arrow(axes, (6.7, height + 0.3), (7.5, 1.8))
    _box(axes, 7.5, 1.5, 1.4, "concatenate\n(B, T, d_model)")
    _arrow(axes, (8.9, 1.8), (9.4, 1.8))
    _box(axes, 9.4, 1.5, 1.5, "x Wo = output\n(B, T, d_model)")
    axes.set(xlim=(-0.1, 11.1), ylim=(0.0, 3.6))
    axes.set_axis_off()
    return picture


def position_added():
    """Where position enters: the encoding of each place is added to the embedding of the token there."""
    alt = (
        "Three columns, one for each of the tokens dog, bites, man at positions 0, 1, 2. In each, the token's "
        "embedding and the positional encoding of its place are added; the sums go into the first attention layer."
    )
    picture = Picture(figsize=(8, 3.4), alt=alt)
    axes = picture.add_subplot()
    for place, word in enumerate(("dog", "bites", "man")):
        left = 2.5 * place
        _box(axes, left, 0.2, 0.95, f"embedding\nof {word}")
        _box(axes, left + 1.15, 0.2, 0.95, f"PE({place})", head_colours(3)[place])
        axes.text(left + 1.05, 1.35, "+", ha="center", va="center", fontsize=16, color=INK)
        _arrow(axes, (left + 0.5, 0.8), (left + 0.95, 1.25))
        _arrow(axes, (left + 1.6, 0.8), (left + 1.15, 1.25))
        _arrow(axes, (left + 1.05, 1.55), (left + 1.05, 2.2))
    _box(axes, 0.0, 2.2, 7.1, "first attention layer")
    axes.set(xlim=(-0.1, 7.2), ylim=(0.0, 3.0))
    axes.set_axis_off()
    return picture


def _box(axes, left, bottom, width, text, colour="#e4e7eb"):
    axes.add_patch(
        FancyBboxPatch(
            (left, bottom), width, 0.6, boxstyle="round,pad=0.02", facecolor=colour, edgecolor=INK, linewidth=1
        )
    )
    ink = INK if isinstance(colour, str) else readable_on(colour)
    axes.text(left + width / 2, bottom + 0.3, text, ha="center", va="center", fontsize=8.5, color=ink)


def _arrow(axes, start, end, alpha=1.0):
    axes.annotate("", xy=end, xytext=start, arrowprops={"arrowstyle": "->", "color": INK, "alpha": alpha})


def attention_maps(weights, tokens, title=""):
    """One map for each head of weights (H, T, T), four in a row, with the T tokens on both axes."""
    weights = np.asarray(weights)
    peaks = [np.unravel_index(head.argmax(), head.shape) for head in weights]
    strongest = "; ".join(
        f"head {h} looks hardest from {tokens[t]} to {tokens[s]} ({weights[h, t, s]:.2f})"
        for h, (t, s) in enumerate(peaks)
    )
    columns = min(len(weights), 4)
    rows = -(-len(weights) // columns)
    picture = Picture(
        figsize=(2.6 * columns + 0.8, 0.2 + 3.1 * rows),
        alt=f"{title + ': ' if title else ''}{len(weights)} attention {noun(len(weights), 'map')}"
        f" of {len(tokens)} tokens; {strongest}.",
    )
    axes = picture.subplots(rows, columns, squeeze=False)
    size = 10 if len(tokens) <= 10 else 7
    for h, panel in enumerate(axes.flat):
        if h >= len(weights):
            panel.set_axis_off()
            continue
        first = h % columns == 0
        image = panel.imshow(weights[h], cmap=MAP, vmin=0, vmax=1)
        panel.set(title=f"head {h}", xlabel="key", ylabel="query" if first else "")
        panel.set_xticks(range(len(tokens)), tokens, rotation=60 if size == 10 else 90, fontsize=size)
        panel.set_yticks(range(len(tokens)), tokens if first else [""] * len(tokens), fontsize=size)
    picture.colorbar(image, ax=axes, label="weight")
    if title:
        picture.suptitle(title)
    return picture


def heatmap(values, xlabel, ylabel, title):
    """Picture of a matrix (rows, columns) with a colour bar."""
    values = np.asarray(values)
    alt = (
        f"{title}: heatmap of {values.shape[0]} rows ({ylabel}) and {values.shape[1]} columns ({xlabel}), "
        f"values from {values.min():.2f} to {values.max():.2f}."
    )
    picture = Picture(figsize=(7, 4), alt=alt)
    axes = picture.add_subplot()
    picture.colorbar(axes.imshow(values, aspect="auto", cmap=MAP), ax=axes)
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
    return picture


def side_by_side(matrices, xlabel, ylabel, title=""):
    """Heatmaps of matrices {name: (rows, columns)} on one colour scale, so that they can be compared."""
    matrices = {name: np.asarray(values) for name, values in matrices.items()}
    lowest, highest = min(m.min() for m in matrices.values()), max(m.max() for m in matrices.values())
    ranges = "; ".join(f"{name}, values from {m.min():.2g} to {m.max():.2g}" for name, m in matrices.items())
    rows, columns = next(iter(matrices.values())).shape
    picture = Picture(
        figsize=(4.2 * len(matrices) + 0.8, 3.4),
        alt=f"{title + ': ' if title else ''}{len(matrices)} heatmaps of {rows} rows ({ylabel}) and "
        f"{columns} columns ({xlabel}) on one scale: {ranges}.",
    )
    axes = picture.subplots(1, len(matrices), squeeze=False)[0]
    for panel, (name, values) in zip(axes, matrices.items(), strict=True):
        image = panel.imshow(values, aspect="auto", cmap=MAP, vmin=lowest, vmax=highest)
        panel.set(title=name, xlabel=xlabel, ylabel=ylabel)
    picture.colorbar(image, ax=list(axes))
    if title:
        picture.suptitle(title)
    return picture
