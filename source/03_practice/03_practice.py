# ---
# jupyter:
#   jupytext:
#     cell_markers: '"""'
#     notebook_metadata_filter: kernelspec,jupytext,-jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
r"""
# Lesson 3 · Practice

*Section 6 · 45 minutes · 45 points*

Three exercises, and everything in them is yours: the layer that PyTorch ships and the same layer from scratch, the
positional encoding and its picture, and a measurement of what an encoding changes.
"""

# %%
import math

import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn as nn

from course import attention, experiments, plots
from course.live import encoding_explorer, order_bench

# %% [markdown]
r"""
## 6. Hands-On Practice (30-40 minutes)

The parts of the three exercises add up to 35 minutes, a little less than their headings allow.
`MultiHeadAttentionFromScratch`, which continues Exercise 1, takes another 10 and is off the short path. Each exercise says how
its points are split, and each part has a check of its own: one slip costs one part, not the whole exercise.

Write, run the check, read its message, look at the shapes, change one thing. That is the whole method.
"""

# %% [markdown]
r"""
### Exercise 1: Basic Practice (10 minutes)

**Objective:** implement and test multi-head attention in PyTorch.

**Instructions:**

1. Define a `MultiHeadAttention` class, as in Example 1 of the live coding demonstration.
2. Pass a batch of random sequences through it.
3. Print the shapes of the output and of the attention weights.

**Starter code:** `import torch` and the other imports stand at the top of this notebook; your code goes into the next
code cell.
"""

# %% [markdown]
r"""
#### Exercise · `MultiHeadAttention` · 8 points · 6 minutes

*On the 60- and the 90-minute path.*

Wrap `nn.MultiheadAttention` so that a call gives the output and every head's own weights, in about four lines.

- `__init__(embed_dim, num_heads)` makes the `nn.MultiheadAttention`, without dropout.
- `forward(x)` takes x (B, T, embed_dim) and returns a pair. First the output of self-attention, the same shape as x (4 points);
- then the weights (B, H, T, T), one map for each head (4 points). Gradients flow, and x stays as it is.

<details><summary>Hint 1</summary>

Self-attention: the same x is query, key and value.
</details>
<details><summary>Hint 2</summary>

PyTorch's layer takes (T, B, embed_dim) unless it is told that the batch comes first. It does not complain; it attends over the wrong axis.
</details>
<details><summary>Hint 3</summary>

By default the weights come back averaged over the heads. One argument of the call changes that: look for it with `help(nn.MultiheadAttention.forward)`.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttention", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttention(nn.Module):
    """Self-attention by nn.MultiheadAttention, with the weights of every head."""

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        ### BEGIN SOLUTION
        self.mha = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)
        ### END SOLUTION

    def forward(self, x):
        """x (B, T, embed_dim) -> out (B, T, embed_dim) and weights (B, H, T, T)."""
        ### BEGIN SOLUTION
        out, weights = self.mha(x, x, x, average_attn_weights=False)
        return out, weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_MultiHeadAttention_output", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, layers

exam = Exam("MultiHeadAttention", layers.wrapped_output(cases=[(2, 5, 12, 3)]))
### BEGIN HIDDEN TESTS
exam.add(
    layers.wrapped_output(cases=[(3, 5, 12, 4), (2, 7, 15, 3), (1, 6, 8, 1), (4, 1, 6, 2), (2, 3, 7, 7)]),
    layers.wrapped_gradients(case=(2, 5, 12, 3)),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_MultiHeadAttention_weights", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, layers

exam = Exam("MultiHeadAttention", layers.wrapped_weights(cases=[(2, 5, 12, 3)]))
### BEGIN HIDDEN TESTS
exam.add(layers.wrapped_weights(cases=[(3, 5, 12, 4), (2, 7, 15, 3), (1, 6, 8, 1), (4, 1, 6, 2), (2, 3, 7, 7)]))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Instructions 2 and 3. **Predict both shapes before you run the cell**: 8 sequences of 10 tokens, 32 numbers a token, 4
heads.
"""

# %%
mha = MultiHeadAttention(32, 4)  # embed_dim, num_heads
x = torch.randn(8, 10, 32)  # (batch, seq_len, embed_dim)
out, attn_weights = mha(x)
print(out.shape, attn_weights.shape)

# %% [markdown]
r"""
The output has the shape of the input, so layers can be stacked. The weights have four axes: item, head, query, key. Each
row sums to 1, in every head.

Two traps of this layer give no error. Without `batch_first=True` the shape of the output is still right, but
tokens attend to the same position in *other* sequences. And a boolean mask means the opposite of ours: in
`nn.MultiheadAttention`, True *forbids*; in this course and in `F.scaled_dot_product_attention`, True *allows*.
"""

# %% [markdown]
r"""
#### Going on: the same layer from scratch

You have used the layer; now write it. The steps are those of lesson 2: project x three times, cut
into heads, compare, normalise, average, join the heads, project again.

$$\text{head}_h = \text{softmax}\!\left(\frac{Q_h K_h^\top}{\sqrt{d_\text{head}}}\right) V_h, \qquad
\text{out} = [\text{head}_0, \dots, \text{head}_{H-1}]\,W_o^\top + b_o$$

The transpose is that of `nn.Linear`, which computes $x W^\top + b$.

You will know that it is right in the strongest sense: loaded with the same weights, it gives the same
numbers as PyTorch's.
"""

# %% [markdown]
r"""
#### Exercise · `MultiHeadAttentionFromScratch` · 12 points · 10 minutes

*Off the short path.*

Write the layer from four `nn.Linear`, in about 20 lines, without ready-made attention and without `course`.

- Without a mask, out (B, T, embed_dim) and weights (B, H, T, T) agree with `nn.MultiheadAttention` (6 points).
- `mask` is boolean and broadcasts to (B, H, T, T); True means *may attend*, and every row has a True (3 points).
- `q_proj`, `k_proj`, `v_proj`, `out_proj` are `nn.Linear(embed_dim, embed_dim)`, with or without bias, and there is no other parameter;
  `__init__` raises `ValueError` when embed_dim is not a multiple of num_heads (2 points).
- Gradients agree as well (1 point).

Head h has the features h·d_head to (h+1)·d_head − 1. No dropout. x and mask stay as they are.
"""

# %% [markdown]
r"""
x may be float64, have a layout of its own (a transposed view), or be so large that `exp` of a score overflows: the two
layers agree there, too, with a mask and without.

<details><summary>Hint 1: the shapes on the way</summary>

(B, T, E) → (B, T, H, d_head) → (B, H, T, d_head) → scores (B, H, T, T) → (B, H, T, d_head) → (B, T, H, d_head) → (B, T, E).
</details>
<details><summary>Hint 2: cutting and joining</summary>

`view(B, H, T, d_head)` has the right shape and mixes up the tokens. Which axis must be cut, and which two change places afterwards?
Joining undoes both, in reverse order.
</details>
<details><summary>Hint 3: the mask</summary>

It acts on the scores, before the softmax. Which score makes exp(score) zero? And where does it go, if True means that a query *may* look?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "MultiHeadAttentionFromScratch", "locked": false, "schema_version": 3, "solution": true, "task": false}
class MultiHeadAttentionFromScratch(nn.Module):
    """Multi-head self-attention from q_proj, k_proj, v_proj and out_proj, each nn.Linear(embed_dim, embed_dim).

    ValueError when embed_dim is not a multiple of num_heads.
    """

    def __init__(self, embed_dim, num_heads):
        super().__init__()
        ### BEGIN SOLUTION
        if embed_dim % num_heads:
            raise ValueError(f"embed_dim {embed_dim} is not a multiple of num_heads {num_heads}")
        self.num_heads, self.d_head = num_heads, embed_dim // num_heads
        self.q_proj = nn.Linear(embed_dim, embed_dim)
        self.k_proj = nn.Linear(embed_dim, embed_dim)
        self.v_proj = nn.Linear(embed_dim, embed_dim)
        self.out_proj = nn.Linear(embed_dim, embed_dim)

    def split(self, x):
        """(B, T, E) -> (B, H, T, d_head)"""
        batch, time, _ = x.shape
        return x.reshape(batch, time, self.num_heads, self.d_head).transpose(1, 2)
        ### END SOLUTION

    def forward(self, x, mask=None):
        """x (B, T, embed_dim) -> out (B, T, embed_dim) and weights (B, H, T, T); mask True = may attend."""
        ### BEGIN SOLUTION
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_head)  # (B, H, T, T)
        if mask is not None:
            scores = scores.masked_fill(~mask, -math.inf)
        weights = scores.softmax(-1)
        joined = (weights @ v).transpose(1, 2).reshape(x.shape)  # (B, H, T, d_head) -> (B, T, H, d_head) -> (B, T, E)
        return self.out_proj(joined), weights
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_MultiHeadAttentionFromScratch_values", "locked": true, "points": 6, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, scratch_layers

exam = Exam(
    "MultiHeadAttentionFromScratch",
    scratch_layers.scratch_shapes(case=(2, 5, 12, 3)),
    scratch_layers.scratch_values(cases=[(2, 5, 12, 3)]),
    from_scratch=True,
)
### BEGIN HIDDEN TESTS
exam.add(
    scratch_layers.scratch_values(cases=[(3, 5, 12, 4), (2, 7, 15, 3), (1, 6, 8, 1), (4, 1, 6, 2), (2, 3, 7, 7)]),
    scratch_layers.scratch_views(case=(2, 5, 12, 3)),
    scratch_layers.scratch_large(case=(2, 5, 12, 3), factor=60.0),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_MultiHeadAttentionFromScratch_mask", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, scratch_layers

exam = Exam(
    "MultiHeadAttentionFromScratch",
    scratch_layers.scratch_mask(case=(2, 5, 12, 3), kinds=["shape (T, S)"]),
    from_scratch=True,
)
### BEGIN HIDDEN TESTS
exam.add(
    scratch_layers.scratch_mask(
        case=(3, 5, 12, 4),
        kinds=["shape (B, 1, T, S)", "shape (H, 1, S)", "shape (B, H, T, S)", "shape (B, 1, 1, S)", "causal"],
    ),
    scratch_layers.scratch_mask(case=(2, 4, 15, 5), kinds=["shape (S,)", "nothing forbidden"]),
    scratch_layers.scratch_large_masked(case=(2, 5, 12, 3), factor=300.0),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_MultiHeadAttentionFromScratch_structure", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads, scratch_layers

exam = Exam(
    "MultiHeadAttentionFromScratch",
    scratch_layers.scratch_structure(cases=[(12, 3)]),
    heads.refuses_uneven(cases=[(12, 5)], width="embed_dim"),
    from_scratch=True,
)
### BEGIN HIDDEN TESTS
exam.add(
    scratch_layers.scratch_structure(cases=[(15, 5), (7, 1), (6, 6)]),
    heads.refuses_uneven(cases=[(10, 3), (9, 2), (4, 8)], width="embed_dim"),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_MultiHeadAttentionFromScratch_gradients", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, scratch_layers

exam = Exam(
    "MultiHeadAttentionFromScratch", scratch_layers.scratch_gradients(case=(2, 5, 12, 3)), from_scratch=True
)
### BEGIN HIDDEN TESTS
exam.add(scratch_layers.scratch_gradients(case=(3, 4, 15, 5)))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Now put both layers side by side. PyTorch packs the three input projections into one matrix, $[W_q; W_k; W_v]$;
`copy_weights` cuts it apart and copies it into yours.
"""

# %%
packed = nn.MultiheadAttention(32, 4, batch_first=True).eval()
mine = attention.copy_weights(packed, MultiHeadAttentionFromScratch(32, 4)).eval()
x = torch.randn(3, 7, 32)
theirs_out, theirs_weights = packed(x, x, x, average_attn_weights=False)
my_out, my_weights = mine(x)
print("largest difference of the outputs:", (my_out - theirs_out).abs().max().item())
print("largest difference of the weights:", (my_weights - theirs_weights).abs().max().item())

# %% [markdown]
r"""
About $10^{-7}$ is what rounding in float32 leaves when the same sums are taken in another order. That is also
why tests compare with a tolerance, $10^{-5}$ here, and not with `==`.

Note the `.eval()`. Your layer has no dropout, but most have, and in training mode PyTorch drops *attention weights*:
the rows that it returns then no longer sum to 1. Switch to `.eval()` before you plot weights.
"""

# %% [markdown]
r"""
### Exercise 2: Intermediate Challenge (15 minutes)

**Objective:** implement and visualise positional encoding.

**Requirements:**

- write a function for positional encoding,
- plot the encoding as a heatmap.

**Hints:** use the sine and cosine functions; use matplotlib for the picture.

The table has one row for each position p and one column for each dimension j. Columns go in pairs: pair i holds a
sine and a cosine of the same angle, and each pair turns more slowly than the one before.
"""

# %% [markdown]
r"""
#### Exercise · `positional_encoding` · 8 points · 9 minutes

*On the 60- and the 90-minute path.*

Return the sinusoidal encoding, in about six lines:

$$PE_{p,\,2i} = \sin\frac{p}{10000^{2i/d_\text{model}}}, \qquad PE_{p,\,2i+1} = \cos\frac{p}{10000^{2i/d_\text{model}}}$$

- For even `d_model`, rows p = 0 … seq_len − 1 hold these numbers, within $10^{-5}$ for seq_len up to 100 (5 points).
- An odd `d_model` works too: the last column is a sine without its cosine (2 points).
- The result is a NumPy array (seq_len, d_model) of float32 or float64, a fresh one at each call (1 point).

On paper, with d_model = 4: row 0 is 0, 1, 0, 1, and row 1 is sin 1, cos 1, sin 0.01, cos 0.01.
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

Start with a table of zeros, or with a column of positions (seq_len, 1) and a row of divisors: their quotient is a whole table of angles.
</details>
<details><summary>Hint 2</summary>

The i of the formula counts *pairs*. If your loop runs over the even columns 0, 2, 4, …, the column's number is 2i already.
</details>
<details><summary>Hint 3: an odd width</summary>

With d_model = 5 there are three sines, in columns 0, 2, 4, and two cosines, in columns 1 and 3. How many angles does each kind need?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "positional_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def positional_encoding(seq_len, d_model):
    """Sinusoidal encoding, a NumPy array (seq_len, d_model): sines in even columns, cosines in odd ones."""
    ### BEGIN SOLUTION
    position = np.arange(seq_len)[:, None]  # (seq_len, 1)
    angle = position / 10000 ** (np.arange(0, d_model, 2) / d_model)  # (seq_len, number of pairs, rounded up)
    pe = np.zeros((seq_len, d_model))
    pe[:, 0::2] = np.sin(angle)
    pe[:, 1::2] = np.cos(angle[:, : d_model // 2])
    return pe
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_positional_encoding_values", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam(
    "positional_encoding",
    encodings.table_shape(sizes=[(3, 8)]),
    encodings.table_by_hand(d_model=4, rows={0: [0, 1, 0, 1], 1: [0.8414710, 0.5403023, 0.0099998, 0.9999500]}),
)
### BEGIN HIDDEN TESTS
exam.add(encodings.table_values(sizes=[(7, 10), (100, 16), (5, 2), (1, 6), (33, 64), (12, 12), (4, 384)]))
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_positional_encoding_odd", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam("positional_encoding", encodings.table_odd(sizes=[(30, 7)]))
### BEGIN HIDDEN TESTS
exam.add(encodings.table_odd(sizes=[(9, 5), (6, 1), (40, 3), (3, 33), (100, 15)]))
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_positional_encoding_table", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam("positional_encoding", encodings.table_kind(seq_len=6, d_model=4))
### BEGIN HIDDEN TESTS
exam.add(encodings.table_fresh(seq_len=5, d_model=6), encodings.table_kind(seq_len=1, d_model=2))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Move the sliders: the explorer shows your table beside the course's. **Predict first**: in which columns do
neighbouring rows differ most? How many positions does the slowest pair need for one turn?
"""

# %%
encoding_explorer.explore(positional_encoding, d_model=16)

# %% [markdown]
r"""
The first columns turn once in $2\pi \approx 6.3$ positions; the last ones hardly move. You may have read that the
wavelengths end at $10000 \cdot 2\pi$. Wide tables come close, none gets there: the last exponent is $(d-2)/d$, so the slowest
pair of 16 columns turns once in $3162 \cdot 2\pi$ positions.

The dot product of two rows depends on their distance alone. It falls at first, then rises and falls again: neighbours
are alike, but farther away need not mean less alike.
"""

# %% [markdown]
r"""
#### Exercise · `plot_positional_encoding` · 5 points · 5 minutes

*On the 90-minute path.*

Draw the table `pe` that you are given as a heatmap and return the matplotlib `Axes`, in about seven lines.

- `imshow` or `pcolormesh` shows `pe` itself, rows are positions, on a new figure that stays open; the result is its Axes (3 points).
- The x label is `Embedding Dimension`, the y label `Position`; the axes have a title, the heatmap has a colour bar, and `plt.show()` is not called (2 points).

<details><summary>Hint 1</summary>

`fig, ax = plt.subplots()` makes a new figure, and `ax` is what you return.
</details>
<details><summary>Hint 2</summary>

A colour bar belongs to an image: keep what `ax.imshow(...)` returns.
</details>
<details><summary>Hint 3</summary>

`aspect="auto"` stretches a narrow table to the width of the figure.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "plot_positional_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def plot_positional_encoding(pe):
    """Heatmap of pe (seq_len, d_model) with labels, title and colour bar, on a new figure; returns the Axes."""
    ### BEGIN SOLUTION
    fig, ax = plt.subplots()
    image = ax.imshow(pe, aspect="auto", cmap="viridis")
    fig.colorbar(image, ax=ax)
    ax.set_title("Positional Encoding Heatmap")
    ax.set_xlabel("Embedding Dimension")
    ax.set_ylabel("Position")
    return ax
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_plot_positional_encoding_image", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, figures

exam = Exam(
    "plot_positional_encoding",
    figures.plots_pe(sizes=[(20, 8)]),
    figures.plots_on_new_figure(rows=20, columns=8),
)
### BEGIN HIDDEN TESTS
exam.add(figures.plots_pe(sizes=[(5, 9), (50, 16), (2, 33)]))
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_plot_positional_encoding_labels", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, figures

exam = Exam(
    "plot_positional_encoding",
    figures.plot_labels(rows=20, columns=8),
    figures.plot_title(rows=20, columns=8),
)
### BEGIN HIDDEN TESTS
exam.add(figures.plot_colour_bar(rows=20, columns=8), figures.plot_not_shown(rows=20, columns=8))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Your function on your table, at the size of the lesson's example:
"""

# %%
ax = plot_positional_encoding(positional_encoding(50, 16))

# %% [markdown]
r"""
Read it like a clock with many hands. On the left, stripes: hands that turn fast and tell neighbours apart. On
the right, columns that look constant: a sine near 0, a cosine near 1, hands so slow that 50 positions hardly move
them. Between them, every position gets a pattern of its own.

Look once more at the right-hand columns. What would they look like with 5000 positions? Change the call and see.
"""

# %% [markdown]
r"""
### Exercise 3: Creative Application (15 minutes)

**Objective:** analyse the effect of positional encoding on sequence modelling.

**Challenge:**

- compare model outputs with and without positional encoding,
- visualise and interpret the differences.

You need two tools, and you make both: one that adds the encoding to a batch, and one that measures how much a model cares about
order. Then you measure, look, and write down what you found.
"""

# %% [markdown]
r"""
#### Exercise · `add_positional_encoding` · 3 points · 3 minutes

*On the 90-minute path.*

Add to each token of x (B, T, E) the sinusoidal encoding of its position, in about two lines:
$\text{out}_{b,t} = x_{b,t} + PE_t$.

- The T rows are those of an encoding with E columns, for any E, odd ones too (2 points).
- The result is a new tensor with the shape, dtype and device of x; x stays as it is, and gradients flow back to it (1 point).

You may call your `positional_encoding`. If that one still has a mistake, it costs nothing here.

<details><summary>Hint 1</summary>

Which of the three sizes of x says how many positions there are?
</details>
<details><summary>Hint 2</summary>

NumPy computes in float64, and x is usually float32: look up what `torch.from_numpy(...)` and `.to(x)` do.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "add_positional_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def add_positional_encoding(x):
    """x (B, T, E) plus the sinusoidal encoding of its T positions: a new tensor, like x in dtype and device."""
    ### BEGIN SOLUTION
    _, seq_len, width = x.shape
    pe = torch.from_numpy(positional_encoding(seq_len, width)).to(x)  # dtype and device of x
    return x + pe  # (T, E) is added to every item of the batch
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_add_positional_encoding_values", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam(
    "add_positional_encoding",
    encodings.on_own_or_lent("positional_encoding", encodings.sum_values(sizes=[(2, 5, 6)])),
)
### BEGIN HIDDEN TESTS
exam.add(
    encodings.on_own_or_lent(
        "positional_encoding",
        encodings.sum_values(sizes=[(3, 5, 8), (2, 7, 9), (4, 1, 6), (1, 6, 1), (5, 3, 3), (2, 60, 4)]),
    )
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_add_positional_encoding_keeps", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam(
    "add_positional_encoding",
    encodings.on_own_or_lent("positional_encoding", encodings.sum_keeps_kind(batch=2, time=5, width=6)),
)
### BEGIN HIDDEN TESTS
exam.add(encodings.on_own_or_lent("positional_encoding", encodings.sum_keeps_x(batch=2, time=3, width=4)))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
#### Exercise · `order_sensitivity` · 4 points · 4 minutes

*On the 90-minute path.*

A model is blind to order when it does not matter whether you permute its input or its output. Return how far it is
from that, in about six lines:

$$\text{mean}\;\bigl|\,\text{model}(x_\pi) - \text{model}(x)_\pi\,\bigr|$$

Here $x_\pi$ is `x[:, permutation]`, and the mean is over all entries.

- x is (B, T, E), `permutation` a LongTensor (T,). The model returns (B, T, E), or a tuple whose first item is that (3 points).
- The result is a Python float. The model comes in eval mode and is left so; no gradient is kept in it; x and permutation stay as they are (1 point).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

The model is called twice, on x and on the permuted x. Which of the two outputs must still be permuted?
</details>
<details><summary>Hint 2</summary>

Differences of opposite sign must not cancel.
</details>
<details><summary>Hint 3</summary>

`with torch.no_grad():` keeps gradients out, and `.item()` makes a float of a tensor with one number.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "order_sensitivity", "locked": false, "schema_version": 3, "solution": true, "task": false}
def order_sensitivity(model, x, permutation):
    """Mean absolute difference, a float, between permuting x (B, T, E) and permuting model's output along T."""
    ### BEGIN SOLUTION
    with torch.no_grad():
        out, out_of_permuted = model(x), model(x[:, permutation])
    if isinstance(out, tuple):
        out, out_of_permuted = out[0], out_of_permuted[0]
    return (out_of_permuted - out[:, permutation]).abs().mean().item()
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_order_sensitivity_value", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, order

exam = Exam(
    "order_sensitivity",
    order.sensitivity_by_hand(x=[1.0, 2.0, 5.0], permutation=[1, 2, 0], place=1.0, expected=3.0),
    order.sensitivity_zero(batch=2, permutation=[2, 0, 1, 3], width=5),
)
### BEGIN HIDDEN TESTS
exam.add(
    order.sensitivity_values(
        cases=[
            (3, [1, 2, 0, 4, 3], 4, 0.5, 0.0),
            (2, [1, 2, 0], 5, 0.0, 0.3),
            (4, [3, 0, 1, 2, 6, 4, 5], 3, 0.2, -0.4),
            (1, [0, 1], 2, 1.0, 0.0),
            (2, [0], 3, 1.0, 1.0),
        ]
    ),
    order.sensitivity_zero(batch=3, permutation=[2, 0, 1, 4, 3], width=4),
    order.sensitivity_of_tuple(batch=2, permutation=[1, 2, 0, 3], width=5),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_order_sensitivity_state", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, order

exam = Exam("order_sensitivity", order.sensitivity_float(batch=2, permutation=[1, 0], width=2))
### BEGIN HIDDEN TESTS
exam.add(order.sensitivity_leaves(cases=[(2, [1, 0], 2), (4, [1, 2, 0], 5)]))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
The check by hand was this one: the tokens 1, 2, 5, a model that multiplies the token at position p by 1 + p, and the
order 1, 2, 0. Permuting first gives 2, 10, 3; permuting last gives 4, 15, 1. The differences are 2, 5, 2, and their mean is 3.

**Predict, then measure.** An attention layer, once as it is and once after your `add_positional_encoding`. What will the two numbers be?
Which one do you know exactly?
"""


# %%
class WithPositions(nn.Module):
    """A layer that sees x plus its positional encoding."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(add_positional_encoding(x))


# %%
layer = attention.MultiHeadAttention(embed_dim=32, num_heads=4).eval()
models = {"without positions": layer, "with positions": WithPositions(layer)}
x, permutation = torch.randn(4, 8, 32), torch.randperm(8)
for name, model in models.items():
    print(f"{name:18} {order_sensitivity(model, x, permutation):.8f}")

# %% [markdown]
r"""
Without positions the number is zero up to rounding, about $10^{-8}$, for every layer, every x and every permutation: the layer is
*permutation equivariant*. With positions it is not, and how large it gets depends on the weights and on x. Run the
cell again and watch which of the two numbers changes.

To judge the size, compare it with the output itself. And look *where* the outputs differ:
"""

# %%
def difference(model):
    """Absolute difference (T, E) for the first item: permuting before the model against permuting after it."""
    with torch.no_grad():
        out, out_of_permuted = model(x)[0], model(x[:, permutation])[0]
    return (out_of_permuted - out[:, permutation])[0].abs()


print("mean absolute output:", round(layer(x)[0].abs().mean().item(), 3))
plots.side_by_side({name: difference(model) for name, model in models.items()}, "feature", "position")

# %% [markdown]
r"""
On one colour scale the left map is dark throughout: not one feature of one token noticed. On the right every row has changed, also that of a token
which happened to keep its place: its neighbours moved, so their keys and values have changed.

Shuffle by hand below. The bench uses your `add_positional_encoding` and shows it beside the course's; put
`order_sensitivity` in its place, and the bench measures with that.
"""

# %%
order_bench.explore(add_positional_encoding, encoding="sinusoidal")

# %% [markdown]
r"""
Outputs that differ are no use in themselves. Does it matter for a task? The next cell trains the same small model twice, with
and without positions, to say a sequence of 16 symbols backwards. **Predict**: with 10 symbols, what accuracy does a model reach that cannot
know where a symbol stands? It may still count.
"""

# %%
trained = experiments.positions(seeds=(0,))

# %% [markdown]
r"""
With positions the task is solved. Without them the model is not at chance, 0.10, but near 0.24: it names the symbol that the
sequence holds most often, and that is the best it can do.

One limit of this result: it holds without a mask. You may have heard that attention can *never* know order by itself. With a
causal mask, a model of two layers learns order without any encoding; lesson 5 shows it.
"""

# %% [markdown] nbgrader={"grade": false, "grade_id": "interpretation", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": true}
r"""
#### Exercise · `interpretation` · 5 points · 8 minutes

*Off the short path.*

Interpret what you found, in 100 to 200 words and with **your own figures** from the cells above. Say

1. what `order_sensitivity` was without and with positions, and how large that is beside the output itself,
2. what accuracy the trained model reached without and with positions, and what it was to be compared with,
3. *why*: what in the layer makes the first number zero, and what changes when positions are added,
4. one thing that these figures do not show, or one change to the experiment and what you expect of it.

### BEGIN MARK SCHEME
Five points; half points are possible. An answer in note form is as good as prose.

**Figures (2 points).** 2: both pairs of figures are given, they are the student's own (outputs above agree), and each is
set against something: the sensitivity against the size of the output or against rounding, the accuracy against 0.24 or
0.10. 1: one pair only, or figures without comparison. 0: no figures, or figures that the notebook does not show.

**Explanation (2 points).** 2: without positions weights and averages depend on the set of vectors alone, so outputs move with
the inputs (equivariance); adding a vector that depends on the place changes queries, keys and values, so the same token at another
place is another vector. 1: "attention ignores order" without a reason, or invariance taken for equivariance. 0: wrong, for
instance that the encoding makes the layer process tokens one after the other.

**Limit or prediction (1 point).** 1: a real limit (one task, one seed, untrained layer, no causal mask, one length) or a change with a
reasoned expectation (longer sequences, learned encoding, encoding scaled down). 0: none, or a general remark ("more data").
### END MARK SCHEME
"""

# %% [markdown] course={"answer_to": "interpretation"}
r"""
*Write your answer here.*
"""

# %% [markdown]
r"""
### Extension Ideas

- Try different encoding schemes (learned vs. fixed).
- Experiment with different sequence lengths.

Both have exercises of their own in lesson 5; here is a first look at each, without points. **Predict**: do two
tokens already need positions?
"""

# %%
for seq_len in (2, 4, 8, 16, 32):
    x, backwards = torch.randn(64, seq_len, 32), torch.arange(seq_len).flip(0)
    print(f"{seq_len:3} tokens backwards: {order_sensitivity(WithPositions(layer), x, backwards):.3f}")

# %% [markdown]
r"""
Two tokens are enough: the numbers are of the same size at every length, so positions are not a matter of long
sequences only. That the encoding can be *computed* for any length does not mean that a trained model can *use* positions
it never saw; lesson 5 measures that, too.

For the other idea, the bench below is set to *learned*: a table of random vectors breaks the symmetry as well as sines do. What
it lacks is a row for the position after its last.
"""

# %%
order_bench.explore(encoding="learned")

# %% [markdown]
r"""
### Where you are

You have written multi-head attention and checked it against PyTorch's, computed and drawn positional encoding, and measured
what it changes. Lesson 4 shows four such functions with a bug or two in each, and asks you to find them.
"""
