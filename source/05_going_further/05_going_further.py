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
# Lesson 5 · Going Further

*Sections 6 and 8 · 60 minutes · 40 points*

Three other ways to say where a token stands, what a head is worth when it is taken away, and lengths that a model has
never seen. An extension: nothing in the core lessons depends on it.
"""

# %%
import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course import encoding, experiments, plots, tasks
from course.checks import Exam
from course.checks.extensions import ablation, learned_table, linear_bias, rotary, rotation
from course.live import encoding_explorer, order_bench
from course.training import accuracy, is_grading, new_model, train

# %% [markdown]
r"""
## 6. Hands-On Practice: Extension Ideas

- Try different encoding schemes (learned vs. fixed).
- Experiment with different sequence lengths.

Both need a way to measure, so that an opinion becomes a figure. The experiments below train tiny Transformers, one
layer of width 32 in most cases, over three seeds, in less than a minute each. Each tests one sentence of the lesson or of common
lore. The rule is always the same: **write down your guess, run, explain the difference.** A result without code of yours is kept, so that the second run is
quick; `again=True` trains anew.
"""

# %% [markdown]
r"""
### Is there anything to encode?

The lesson says: *positional encoding is essential for sequence understanding in Transformers.* The task: say 16
symbols backwards, 10 different symbols, no mask.

**Predict** the accuracy with sinusoids and without any positions. Chance is 0.10; can a model without positions do
better than chance?
"""

# %%
positions = experiments.positions()

# %% [markdown]
r"""
Confirmed, for this task: solved with positions, and close to 0.24 without. Not 0.10: a model that cannot tell places
apart still sees *which* symbols there are, and names the most frequent one. That is a baseline worth computing before
one is impressed by an accuracy.

Next, a misconception, as in lesson 2: *positional encoding is only needed for long sequences.* Two marked symbols stand
in a sequence; which of them came first? **Recall** or predict it for sequences of two symbols, which are the marked ones
alone, and of four.
"""

# %%
short = experiments.short_sequences()

# %% [markdown]
r"""
A misconception indeed. Without positions the model tosses a coin, with two symbols as with four. Length is not the
point: the layer sees a set, and the set {a, b} has no first element.

The same with words. The sentences say who acts, in the active or in the passive; every sentence has a twin in which
the two nouns have changed places, and some pairs are held out from training. **Predict** how often a model is right about
those, with positions and without.
"""

# %%
who_acts = experiments.sentences()

# %% [markdown]
r"""
Confirmed: *Transformers have no inherent sense of word order*, and "the dog bites the man" is the same set of words
as its twin.

You may have heard the stronger claim: attention can **never** know order without an encoding. The next experiment
asks for the previous token, with no encoding at all: without a mask, with a causal mask and one layer, and with a
causal mask and two layers. **Predict** all three.
"""

# %%
blindness = experiments.order_blindness()

# %% [markdown]
r"""
The stronger claim is contradicted. Without a mask it holds. With a causal mask each position sees a different
*number* of tokens; the first layer can turn that number into something like a position, and the second can use it.
Two layers come close to solving the task, one does not.

So the lesson's sentence needs its condition: no order **without a mask**. Language models of the GPT kind have the
mask, and still use an encoding, because being told is easier than having to find out.
"""

# %% [markdown]
r"""
### Learned or fixed

The sinusoids are a formula. The other choice is a table of parameters, one row for each position, trained with
everything else. BERT and GPT-2 do it. Write it.
"""

# %% [markdown]
r"""
#### Exercise · `LearnedPositionalEncoding` · 6 points · 6 minutes

*Off the short path.*

Write a module that adds row p of a trainable table to the token at position p, in about six lines:

$$\text{out}_{b,p} = x_{b,p} + \text{table}_p$$

- `__init__(max_len, d_model)` makes exactly one trainable parameter with max_len · d_model entries, random at the
  start (2 points).
- `forward(x)` takes x (B, T, d_model) with T ≤ max_len and returns a new tensor of the same shape and dtype (2
  points).
- Gradients reach x and the rows that were added, and x stays as it is (1 point).
- When T is larger than max_len, `forward` raises `ValueError` (1 point).

What the parameter is called and how it is laid out is up to you. No dropout, and no scaling factor.
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

A tensor in an attribute is not trained. What must it be wrapped in, so that `parameters()` lists it?
</details>
<details><summary>Hint 2</summary>

x has T tokens, the table has max_len rows. Which rows are wanted? `x.shape[1]` is T; `x.shape[0]` is something else.
</details>
<details><summary>Hint 3</summary>

`nn.Embedding(max_len, d_model)` is a table, too. It takes positions and gives rows.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "LearnedPositionalEncoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
class LearnedPositionalEncoding(nn.Module):
    """A trainable table of max_len rows; row p is added to the token at position p."""

    def __init__(self, max_len, d_model):
        super().__init__()
        ### BEGIN SOLUTION
        self.table = nn.Parameter(torch.randn(max_len, d_model) * 0.02)
        ### END SOLUTION

    def forward(self, x):
        """x (B, T, d_model) -> the same shape. ValueError when T is larger than max_len."""
        ### BEGIN SOLUTION
        if x.shape[1] > len(self.table):
            raise ValueError(f"sequence length {x.shape[1]} is larger than max_len {len(self.table)}")
        return x + self.table[: x.shape[1]]  # (T, d_model) broadcasts over the batch
        ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_LearnedPositionalEncoding_structure", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "LearnedPositionalEncoding",
    learned_table.learned_structure(cases=[(7, 4)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    learned_table.learned_structure(cases=[(5, 6), (1, 3), (12, 7)]),
    learned_table.learned_start(case=(9, 6)),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_LearnedPositionalEncoding_values", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "LearnedPositionalEncoding",
    learned_table.learned_values(case=(7, 4), shapes=[(2, 5)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    learned_table.learned_values(case=(9, 6), shapes=[(3, 5), (2, 8), (1, 1), (4, 7)]),
    learned_table.learned_values(case=(12, 11), shapes=[(7, 4), (2, 10)]),
    learned_table.learned_dtype(case=(9, 6), batch=2, time=5),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_LearnedPositionalEncoding_gradients", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "LearnedPositionalEncoding",
    learned_table.learned_gradients(case=(7, 4), batch=2, time=5),
)
### BEGIN HIDDEN TESTS
exam.add(
    learned_table.learned_gradients(case=(9, 6), batch=3, time=5),
    learned_table.learned_gradients(case=(8, 5), batch=2, time=6),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_LearnedPositionalEncoding_error", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "LearnedPositionalEncoding",
    learned_table.learned_refuses(case=(7, 4), longer=[1]),
)
### BEGIN HIDDEN TESTS
exam.add(
    learned_table.learned_refuses(case=(5, 6), longer=[1, 2, 20]),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Put your class to work. The bench shuffles a sentence and measures how much the outputs notice; it shows your table
beside the course's. **Predict**: your table is untrained, random numbers. Does it break the symmetry?
"""

# %%
order_bench.explore(LearnedPositionalEncoding, encoding="learned")

# %% [markdown]
r"""
It does. To tell places apart, their vectors only need to differ; sense is not required, and training gives it to
them. How much the outputs notice depends on how large your entries are; the bench's own have a spread of 1.

Now the comparison that the lesson suggests: *try different encoding schemes (learned vs. fixed)*, your own class
among them. Two of the five, rotary and ALiBi, you will write below. The task is reversing again. **Predict**: which
schemes solve it, and does learned beat fixed?
"""

# %%
schemes = experiments.encodings(own={"my learned table": lambda: LearnedPositionalEncoding(64, 32)})

# %% [markdown]
r"""
Learned and fixed do equally well; yours among them, as it must. The original paper found the same and chose the
sinusoids.

The surprise is in the other two: rotary reaches about a third and ALiBi no more than no positions at all. Are they
worse? They answer another question. Both tell attention how *far apart* two tokens are. The mirror image of position t
is at T − 1 − t: a different distance for every t, so what is needed is *where*. The previous token, below, is a question
of distance, and there the ranking is different. "The best encoding" depends on the task.
"""

# %% [markdown]
r"""
### A step is a rotation

Why sines *and* cosines? The pair $(\sin a, \cos a)$ is a point on a circle, and a step of k positions turns it by an
angle that does not depend on where one started. For all pairs at once: one matrix $R_k$ moves **every** position k
steps on.

**Predict** one thing first: is the dot product of two position vectors smaller, the further apart the positions are?
"""

# %%
table = encoding.sinusoidal_encoding(12, 16)
print("PE(0)·PE(j): ", (table @ table[0]).round(2))
print("PE(4)·PE(j): ", (table @ table[4]).round(2))

# %% [markdown]
r"""
The products depend on the distance alone: read both rows from their largest entry, 8 = d/2. But they do not fall
steadily; at distance 4 they begin to rise again. "Near positions are similar" is true for the nearest only.
"""

# %% [markdown]
r"""
#### Exercise · `rotation_matrix` · 6 points · 8 minutes

*Off the short path.*

Return the matrix R (d_model, d_model) with $PE(p + k) = R\,PE(p)$ for every p, in about eight lines, for $PE$ with
sines in the even columns and cosines in the odd ones. k is `offset`, and i counts the pairs from 0.

$$\sin(a + b) = \sin a \cos b + \cos a \sin b, \qquad \cos(a + b) = \cos a \cos b - \sin a \sin b, \qquad b = \frac{k}{10000^{2i/d_\text{model}}}$$

- For offsets of 1 and more, R moves every position (4 points).
- Offset 0 gives the identity, and a negative offset turns back (1 point).
- An odd `d_model` has a sine without its cosine: raise `ValueError` (1 point).

The result is a NumPy array or a tensor, within $10^{-5}$.
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

Write the two formulas as one matrix that acts on the column (sin a, cos a). Its first row makes sin(a + b).
</details>
<details><summary>Hint 2</summary>

Pairs do not mix: R is zero but for a block of 2 × 2 for each pair, in rows and columns 2i and 2i + 1.
</details>
<details><summary>Hint 3: the sign</summary>

Textbooks write a rotation for (cos, sin). Here the sine comes first, so the minus stands on the other side of the
diagonal.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "rotation_matrix", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rotation_matrix(offset, d_model):
    """The R (d_model, d_model) with PE(p + offset) = R @ PE(p) for every p. ValueError when d_model is odd."""
    ### BEGIN SOLUTION
    if d_model % 2:
        raise ValueError(f"d_model {d_model} is odd: its last sine has no cosine")
    rotation = np.zeros((d_model, d_model))
    for even in range(0, d_model, 2):
        angle = offset / 10000.0 ** (even / d_model)
        sin, cos = np.sin(angle), np.cos(angle)
        rotation[even : even + 2, even : even + 2] = [[cos, sin], [-sin, cos]]
    return rotation
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_rotation_matrix_moves", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "rotation_matrix",
    rotation.rotation_by_hand(offset=1, expected=[[0.5403023, 0.8414710], [-0.8414710, 0.5403023]]),
    rotation.rotation_moves(cases=[(3, 6)], positions=5),
)
### BEGIN HIDDEN TESTS
exam.add(
    rotation.rotation_by_hand(
        offset=2,
        expected=[
            [-0.4161468, 0.9092974, 0.0, 0.0],
            [-0.9092974, -0.4161468, 0.0, 0.0],
            [0.0, 0.0, 0.9998000, 0.0199987],
            [0.0, 0.0, -0.0199987, 0.9998000],
        ],
    ),
    rotation.rotation_moves(cases=[(1, 8), (5, 14), (2, 2), (11, 10), (17, 32)], positions=20),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_rotation_matrix_backwards", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "rotation_matrix",
    rotation.rotation_backwards(cases=[(0, 6)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    rotation.rotation_backwards(cases=[(0, 2), (-1, 8), (-4, 10), (-13, 6)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_rotation_matrix_error", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "rotation_matrix",
    rotation.refuses_odd(calls=[((3, 5), 5)], argument="d_model"),
)
### BEGIN HIDDEN TESTS
exam.add(
    rotation.refuses_odd(calls=[((1, 7), 7), ((0, 1), 1), ((2, 15), 15)], argument="d_model"),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
The explorer draws each pair as a clock and uses your matrix: the residual of your R_k stands in its list, about
$10^{-15}$, or $10^{-7}$ in single precision. Move p and see that the hands turn by the same angle wherever they start.

Then switch on *Project to queries and keys*. **Predict**: do the dot products still depend on the distance alone?
"""

# %%
encoding_explorer.explore(rotation_matrix, d_model=16, position=5, offset=3)

# %% [markdown]
r"""
They do not. You may have read that sinusoids make attention relative, *because* of this rotation. It is a property of
the vectors; what attention compares has gone through $W_q$ and $W_k$, with words added to it as well. A model *can* learn
projections that use the rotation, but nothing forces it to.

The next idea does force it: turn queries and keys themselves, after the projection.
"""

# %% [markdown]
r"""
#### Exercise · `rotate` · 8 points · 8 minutes

*Off the short path.*

Rotary encoding of x (B, H, T, d_head), in about seven lines. At position p, the pair of features (2i, 2i+1) turns by
$a = p / 10000^{2i/d_\text{head}}$:

$$x'_{2i} = x_{2i} \cos a - x_{2i+1} \sin a, \qquad x'_{2i+1} = x_{2i} \sin a + x_{2i+1} \cos a$$

- The result has the shape of x and these values, positions and pairs counted from 0 (5 points).
- It has the dtype and the device of x; in float64 it is right to $10^{-8}$ (1 point).
- x stays as it is, and gradients flow (1 point).
- An odd `d_head` raises `ValueError` (1 point).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

`x[..., 0::2]` and `x[..., 1::2]` are the first and the second features of all pairs, (B, H, T, d_head/2) each.
</details>
<details><summary>Hint 2</summary>

Angles (T, d_head/2) broadcast over B and H: a column of positions times a row of frequencies.
</details>
<details><summary>Hint 3: putting the pairs back</summary>

`torch.cat` would put all first ones before all second ones. `torch.stack(..., dim=-1)` makes pairs, (…, d_head/2, 2).
What is left to do?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "rotate", "locked": false, "schema_version": 3, "solution": true, "task": false}
def rotate(x):
    """Rotary encoding of x (B, H, T, d_head), interleaved pairs (2i, 2i+1). ValueError when d_head is odd."""
    ### BEGIN SOLUTION
    d_head = x.shape[-1]
    if d_head % 2:
        raise ValueError(f"d_head {d_head} is odd: features turn in pairs")
    position = torch.arange(x.shape[-2], dtype=torch.float64, device=x.device)[:, None]  # (T, 1)
    exponent = torch.arange(0, d_head, 2, dtype=torch.float64, device=x.device) / d_head  # (d_head/2,)
    angle = position / 10000**exponent  # (T, d_head/2)
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x[..., 0::2], x[..., 1::2]
    return torch.stack((first * cos - second * sin, first * sin + second * cos), dim=-1).flatten(-2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_rotate_values", "locked": true, "points": 5, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "rotate",
    rotary.rotary_shape(sizes=[(2, 3, 5, 4)]),
    rotary.rotary_by_hand(x=[[1.0, 0.0], [1.0, 0.0]], expected=[[1.0, 0.0], [0.5403023, 0.8414710]]),
)
### BEGIN HIDDEN TESTS
exam.add(
    rotary.rotary_by_hand(
        x=[[3.0, -2.0, 0.0, 5.0], [1.0, 0.0, 0.0, 1.0]],
        expected=[[3.0, -2.0, 0.0, 5.0], [0.5403023, 0.8414710, -0.0099998, 0.9999500]],
    ),
    rotary.rotary_values(sizes=[(2, 3, 5, 4), (3, 2, 7, 10), (1, 5, 9, 6), (4, 1, 3, 2), (2, 6, 1, 8)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_rotate_kind", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "rotate",
    rotary.rotary_keeps_kind(shape=(2, 3, 5, 4)),
)
### BEGIN HIDDEN TESTS
exam.add(
    rotary.rotary_keeps_kind(shape=(3, 2, 7, 10)),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_rotate_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "rotate",
    rotary.rotary_keeps_x(shape=(2, 3, 5, 4)),
)
### BEGIN HIDDEN TESTS
exam.add(
    rotary.rotary_keeps_x(shape=(3, 2, 7, 10)),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_rotate_error", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "rotate",
    rotation.refuses_odd(calls=[((torch.ones(2, 3, 4, 5),), 5)], argument="d_head"),
)
### BEGIN HIDDEN TESTS
exam.add(
    rotation.refuses_odd(calls=[((torch.ones(3, 2, 6, 7),), 7), ((torch.ones(2, 4, 3, 1),), 1)], argument="d_head"),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Rotary is for queries and keys, never for values: only the comparison is to feel the turn. **Predict**: the same query
vector at every position, the same key vector at every position, both turned. Which pattern will the scores have?
"""

# %%
q = rotate(torch.randn(1, 1, 1, 16).expand(1, 1, 10, 16))
k = rotate(torch.randn(1, 1, 1, 16).expand(1, 1, 10, 16))
plots.heatmap((q @ k.transpose(-2, -1))[0, 0], "key", "query", "Scores of one query against one key, both turned")

# %% [markdown]
r"""
Constant along every diagonal: the score depends on the two vectors and on the distance i − j, wherever the pair
stands. Here the relative property is built in, not hoped for.

There are two layouts. Ours pairs neighbours (2i, 2i+1), as the paper does; several libraries pair i with i +
d_head/2. They differ by a permutation of the features, so weights trained with one fail with the other, without an
error message.
"""

# %% [markdown]
r"""
### A bias instead of a vector

ALiBi adds nothing to the embeddings and turns nothing. It takes from each score an amount that grows with the
distance, faster in some heads than in others.
"""

# %% [markdown]
r"""
#### Exercise · `alibi_bias` · 6 points · 6 minutes

*Off the short path.*

Return the bias (H, T, T) for causal attention, in about six lines. For head h = 1 … H, query i and key j:

$$\text{bias}_{h,i,j} = -2^{-8h/H}\,(i - j) \ \text{ for } j \le i, \qquad -\infty \ \text{ for } j > i$$

- Every head has its slope, from $2^{-8/H}$ down to $2^{-8}$ (2 points).
- On and below the diagonal, the bias is minus the slope times the distance (2 points).
- Above it, the bias is −∞ (1 point).
- The result is a tensor (H, T, T) of float32 or float64, a fresh one at each call (1 point).
"""

# %% [markdown]
r"""
H is a power of two; you need not check that.

<details><summary>Hint 1</summary>

A column of positions minus a row of positions is the matrix of all i − j.
</details>
<details><summary>Hint 2</summary>

Slopes (H, 1, 1) times distances (T, T) broadcast to (H, T, T).
</details>
<details><summary>Hint 3</summary>

0 · ∞ is not a number. Do not multiply by −∞; put it where it belongs with `masked_fill`.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "alibi_bias", "locked": false, "schema_version": 3, "solution": true, "task": false}
def alibi_bias(num_heads, seq_len):
    """Bias (H, T, T) for causal scores: -slope*(i - j) for j <= i and -inf above the diagonal."""
    ### BEGIN SOLUTION
    slopes = 2.0 ** (-8 * torch.arange(1, num_heads + 1) / num_heads)  # (H,)
    position = torch.arange(seq_len)
    distance = position[:, None] - position  # (T, T), i - j
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, -math.inf)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_alibi_bias_slopes", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "alibi_bias",
    linear_bias.alibi_slope(cases=[(4, 5)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    linear_bias.alibi_slope(cases=[(2, 7), (8, 5), (1, 3), (16, 6)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_alibi_bias_distances", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "alibi_bias",
    linear_bias.alibi_distance(cases=[(4, 5)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    linear_bias.alibi_distance(cases=[(2, 7), (8, 5), (1, 3), (16, 6)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_alibi_bias_forbidden", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "alibi_bias",
    linear_bias.alibi_forbidden(cases=[(4, 5)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    linear_bias.alibi_forbidden(cases=[(2, 7), (8, 5), (1, 3), (16, 6)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_alibi_bias_kind", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "alibi_bias",
    linear_bias.alibi_kind(cases=[(4, 5)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    linear_bias.alibi_kind(cases=[(2, 7), (8, 5), (1, 3), (16, 6)]),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
With equal scores, the bias alone decides. **Predict**: which of four heads looks furthest back?
"""

# %%
weights = alibi_bias(4, 8).softmax(-1)  # equal scores, so the bias alone
plots.attention_maps(weights, range(8), "Attention from the bias alone")

# %% [markdown]
r"""
The last one: its slope is the smallest, so distance costs it least. Nothing was trained to get there: short sight in
the first heads and long sight in the last are built in. No position has a name here either. ALiBi only knows how far
back a key is, and it has a bias for a distance of 100 even if the model was trained at 16. Whether that helps is a
matter of measuring.
"""

# %% [markdown]
r"""
### Different sequence lengths

*The sinusoids allow the model to extrapolate to longer sequences*: the original paper said that they "may", and many
texts leave the "may" out.

The task is the previous token under a causal mask, trained at 16 symbols, tested at 16, 24, 32 and 64. **Write down
your prediction for each scheme at 64 before you run the cell**; the question below asks for it. Your table has 64
rows, so that nothing crashes.
"""

# %%
lengths = experiments.lengths(own={"my learned table": lambda: LearnedPositionalEncoding(64, 32)})

# %% [markdown]
r"""
Then change one thing yourself: the task (`tasks.sorting()` or `tasks.reversing()`, both with `causal=False`), the training
length, the encoding, or the number of layers. With one seed it takes a few seconds.
"""

# %%
task = tasks.previous_token(seq_len=16)
model = new_model(task, seed=0, encoding="rotary", causal=True, num_layers=1)
run = train(model, task)
for seq_len in (16, 24, 32, 64):
    print(seq_len, round(accuracy(model, task, seq_len), 2))

# %% [markdown] nbgrader={"grade": false, "grade_id": "extrapolation", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": true}
r"""
#### Exercise · `extrapolation` · 8 points · 14 minutes

*Off the short path.*

Train at one length, test at longer ones, report and explain, in 150 to 250 words:

1. your **figures** at 16 and at 64 for every scheme, beside what you had predicted,
2. **why** each family behaves as it does: sinusoidal, learned, rotary, ALiBi,
3. the **change** of your own: what you changed, what came out, and whether it fits your explanation,
4. **what follows** for the sentence "sinusoids let a model extrapolate", and one thing that these figures do not
   show.

### BEGIN MARK SCHEME
Eight points; half points are possible. An answer in note form is as good as prose. Figures differ between machines in
the second decimal: judge them against the outputs above.

**Figures and prediction (2 points).** 2: accuracies at 16 and at a longer length for at least four schemes, that
agree with the outputs, each set against a prediction. A wrong prediction costs nothing. 1: figures without
prediction, or for fewer schemes. 0: none, or such as the notebook does not show.

**Explanation (3 points).** 1 point each, up to 3: sinusoidal vectors of unseen positions can be computed, but the
trained projections never met them; rows of a learned table beyond the training length were never trained and are
still random; rotary scores depend on the distance, and the previous token is at the same distance everywhere, though
in longer sequences unseen distances compete with it; ALiBi's bias favours what is near at any length, and is
imprecise already at 16. "It generalises better" explains nothing: 0.

**Own change (2 points).** 2: one thing was changed, its figures are given and are held against the explanation. 1:
figures without a conclusion, or several things changed at once. 0: none.

**Conclusion with a limit (1 point).** 1: computable is not usable (or an equivalent), together with a real limit: one
task, tiny models, three seeds, a training run of 200 steps, no sequence longer than 64, no training at mixed lengths.
Half a point for one of the two.
### END MARK SCHEME
"""

# %% [markdown] course={"answer_to": "extrapolation"}
r"""
*Write your answer here.*
"""

# %% [markdown]
r"""
## 8. Best Practices and Professional Tips: Next Steps in Your Learning Journey

- Explore full Transformer encoder and decoder stacks.
- Learn about training objectives (e.g., translation).
- Try implementing a mini-Transformer.

### Full Transformer encoder and decoder stacks

| stack | mask | attends to | used for |
|---|---|---|---|
| encoder (BERT) | none | the whole sequence | classifying, retrieval |
| decoder (GPT) | causal | itself and the past | generating text |
| encoder and decoder (the original) | causal in the decoder | the decoder also attends to the encoder's output | translation |

In *cross-attention* the queries come from the decoder and keys and values from the encoder: T queries and S keys,
and T need not be S.
"""

# %% [markdown]
r"""
PyTorch has the whole stack as `nn.Transformer`. **Predict**: the source is shuffled before it goes in. Does the
decoder's output change?
"""

# %%
stack = nn.Transformer(16, nhead=2, num_encoder_layers=2, num_decoder_layers=2, dim_feedforward=32, batch_first=True)
stack.eval()
source, target = torch.randn(1, 6, 16), torch.randn(1, 4, 16)  # S = 6, T = 4
shuffled = source[:, [1, 2, 0, 5, 4, 3]]
with torch.no_grad():
    plain = stack(source, target) - stack(shuffled, target)
    encoded = [stack(encoding.add_sinusoidal_encoding(x), target) for x in (source, shuffled)]
print("largest change without positions:", plain.abs().max().item())
print("largest change with sinusoids:   ", (encoded[0] - encoded[1]).abs().max().item())

# %% [markdown]
r"""
It does not, up to rounding: `nn.Transformer` has no positional encoding, nor an embedding or an output layer. It will
train on a shuffled language without complaint. Position is your part, and so is looking inside:
`nn.TransformerEncoderLayer` does not ask its attention for weights.
"""

# %% [markdown]
r"""
### Training objectives

The objective decides what may be seen. Three common ones: name the **next** token given the past (GPT), name tokens
that were **hidden** (BERT), or produce a **translation** token by token, given the source and the right beginning
(teacher forcing). All three end in the same cross-entropy.

**Predict**: symbols are drawn at random, so nobody can know the next one. What is the loss of the best possible model
of 10 symbols? And what will a model reach that was given no causal mask?
"""


# %%
def next_token_loss(model, tokens):
    """Mean cross-entropy of every token in tokens (B, T) but the first, given those before it."""
    logits, _ = model(tokens[:, :-1])  # (B, T-1, C)
    return F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


for causal in (True, False):
    model = new_model(tasks.previous_token(), seed=0, causal=causal)
    optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(4 if is_grading() else 150):
        loss = next_token_loss(model, torch.randint(10, (32, 17)))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    print("causal mask" if causal else "no mask    ", round(loss.item(), 2), "against ln 10 =", round(math.log(10), 2))

# %% [markdown]
r"""
With the mask the loss stays at ln 10 = 2.30: nothing can be known, and the model says so. Without it the loss falls
far below, which is impossible for an honest model. It reads the answer, which stands one place to the right in its
own input. In training that looks like success; when text is generated, there is nothing to read.

A loss below what is possible is a bug report.
"""

# %% [markdown]
r"""
### A mini-Transformer

A Transformer layer is attention, then a small network for each token, each added to what came in and each with its
normalisation: $x + \text{attention}(\text{norm}(x))$, then $x + \text{network}(\text{norm}(x))$. (The original paper normalises after the
addition.) Around the layers:
an embedding, an encoding, and an output layer with one number for each class.

`TinyEncoder` in `course/models.py` is that, in a hundred lines worth reading. Below it gets your encoding and learns
to sort. **Predict** how its parameters are shared out: which part has the most?
"""

# %%
task = tasks.sorting()
mini = new_model(task, seed=0, num_layers=2, encoding=LearnedPositionalEncoding(64, 32))
run = train(mini, task)
print(run.summary(), "On new sequences:", round(accuracy(mini, task), 2))
for name, part in mini.named_children():
    print(f"{name:10} {sum(parameter.numel() for parameter in part.parameters()):6}")

# %% [markdown]
r"""
The layers have most of them, about 8 500 each, and attention and network take half of that each. In models this small the table of
positions counts; in large ones it disappears beside the rest.

**To go on**: paste your `MultiHeadAttentionFromScratch` of lesson 3 into a new cell, and give its `forward` a third
argument, `bias=None`, that it ignores. Make a decoder, `new_model(tasks.previous_token(), seed=0, causal=True)`, put your layer in
with `model.layers[0].attention = MultiHeadAttentionFromScratch(32, 4)`, and train it. If it still learns the task, you have
implemented the heart of a mini-Transformer.
"""

# %% [markdown]
r"""
## For Advanced Students

### Custom attention heads

Nothing says that a head must be trained. Your `rotation_matrix` is enough to *build* one that looks at the previous
token: take position vectors as keys, and as queries the same vectors, turned one step back. **Predict**: what is
the factor 8 in front of the scores for, and what will row 0 look at?
"""

# %%
pe = torch.as_tensor(encoding.sinusoidal_encoding(10, 32))
back = torch.as_tensor(rotation_matrix(-1, 32), dtype=pe.dtype)
scores = 8 * (pe @ back.T) @ pe.T  # query p is PE(p - 1)
plots.attention_maps(scores.softmax(-1)[None], range(10), "A head made by hand")

# %% [markdown]
r"""
The dot products of neighbours are close, as you saw, so the factor sharpens the row; a trained head does that with
the size of its projections. Row 0 has no previous token and takes the nearest it can get, itself.

So a previous-token head can exist without training. In lesson 6 you will meet one that training made, in the first layer
of a real model. To ask what a *trained* head is worth, take it away.
"""

# %% [markdown]
r"""
#### Exercise · `ablate_head` · 6 points · 8 minutes

*Off the short path.*

Return the output (B, T, E) of a layer for x (B, T, E) **without one head's contribution**: the part of the
concatenation that this head feeds to `out_proj` is zero. About six lines:

$$\text{out} = W_o\,[\text{head}_0, \dots, 0, \dots, \text{head}_{H-1}] + b_o$$

- `layer` is a `MultiHeadAttention` of `course.attention`, with `q_proj`, `k_proj`, `v_proj`, `out_proj` (all with
  bias) and `num_heads`; `layer(x)` returns (out, weights). `head` counts from 0.
- The output is right for every head; the other heads and the bias of `out_proj` stay as they are (4 points).
- The layer is left as it was: weights, hooks, attributes; so is x (1 point).
- Gradients flow to x, and a layer in float64 gives float64, right to $10^{-8}$ (1 point).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

Head h has features h·d_head to (h+1)·d_head − 1 of the concatenation, with d_head = E // H.
</details>
<details><summary>Hint 2</summary>

There are several ways. Compute the heads yourself from the four projections. Or work on a copy of the layer, in which
nothing of this head gets through. Or subtract what the head contributes.
</details>
<details><summary>Hint 3: on a copy</summary>

`out_proj.weight` is (E, E), and its input is the concatenation. Which of its axes belongs to the input, rows or
columns?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "ablate_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def ablate_head(layer, x, head):
    """Output (B, T, E) of layer for x (B, T, E) with one head's part of the concatenation set to zero."""
    ### BEGIN SOLUTION
    batch, time, width = x.shape
    d_head = width // layer.num_heads
    q, k, v = (
        project(x).reshape(batch, time, layer.num_heads, d_head).transpose(1, 2)  # (B, H, T, d_head)
        for project in (layer.q_proj, layer.k_proj, layer.v_proj)
    )
    weights = (q @ k.transpose(-2, -1) / math.sqrt(d_head)).softmax(-1)
    joined = (weights @ v).transpose(1, 2).reshape(batch, time, width)
    kept = torch.arange(width, device=x.device) // d_head != head  # (E,), False in the block of this head
    return layer.out_proj(joined * kept)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_ablate_head_values", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "ablate_head",
    ablation.ablation_values(cases=[(2, 5, 12, 3)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    ablation.ablation_values(cases=[(3, 5, 12, 4), (2, 7, 15, 3), (1, 6, 10, 5), (4, 3, 14, 2), (2, 4, 6, 1)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_ablate_head_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "ablate_head",
    ablation.ablation_leaves(case=(2, 5, 12, 3)),
)
### BEGIN HIDDEN TESTS
exam.add(
    ablation.ablation_leaves(case=(3, 4, 15, 5)),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_ablate_head_gradients", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "ablate_head",
    ablation.ablation_gradients(case=(2, 5, 12, 3)),
)
### BEGIN HIDDEN TESTS
exam.add(
    ablation.ablation_gradients(case=(3, 4, 15, 5)),
    ablation.ablation_dtype(case=(3, 5, 12, 4)),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
### What is a head worth?

First the experiment, then the knife. *More heads always mean better performance* is the lesson's first misconception,
and lesson 2 has run this experiment. The models have the same width and therefore the same number of parameters; one
task asks for two symbols at once (the mirror image **and** the previous one), the other for one. **Recall** or predict:
where do 2 heads help, where do 8?
"""

# %%
counts = experiments.heads()

# %% [markdown]
r"""
A misconception indeed: with a single lookup one head does as well as eight. With two lookups the second head helps
a great deal, and eight are no better than two. One head has one row of weights for each token, and cannot give most
of it to two places.

Do the two heads divide the work? Train such a model and take away one head at a time. `WithoutHead` stands in for the
layer and calls your function.
"""


# %%
class WithoutHead(nn.Module):
    """A layer in whose output one head is missing."""

    def __init__(self, layer, head):
        super().__init__()
        self.layer, self.head = layer, head

    def forward(self, x, mask=None, bias=None):
        """x (B, T, E) -> out (B, T, E) and the weights (B, H, T, T) of all heads."""
        return ablate_head(self.layer, x, self.head), self.layer(x)[1]


def lookups(model, tokens, targets):
    """Share of right answers to either question: (mirror image, previous token)."""
    found, wanted = model(tokens)[0].argmax(-1)[:, 1:], targets[:, 1:]  # class = 5 * mirror image + previous
    return [round(part.float().mean().item(), 2) for part in (found // 5 == wanted // 5, found % 5 == wanted % 5)]


# %% [markdown]
r"""
**Predict**: four numbers for the two heads. If each head is a specialist, what will they be? (Guessing one of five symbols
is right 0.20 of the time.)
"""

# %%
task = tasks.mirror_and_previous()
model = new_model(task, seed=2, num_heads=2)
run = train(model, task, seed=2)
tokens, targets = task.draw_held_out(200, 16, torch.Generator().manual_seed(1))
block, whole = model.layers[0], model.layers[0].attention
print("both heads:    ", lookups(model, tokens, targets))
for head in range(2):
    block.attention = WithoutHead(whole, head)
    print(f"without head {head}:", lookups(model, tokens, targets))
block.attention = whole
plots.attention_maps(model(tokens[:1])[1][0, 0].detach(), range(16), "The two heads, first sequence")

# %% [markdown]
r"""
With this seed the division was clean when the lesson was written: each head does one lookup, and the other lookup
survives its loss. The maps show it: one line below the diagonal, one across it.

Now put seed 0 in both places. The model is nearly as good, but one of its heads is needed by *both* lookups. "Heads are
specialists" is something that happens, not a law. And a map alone would not have told you what is lost without it:
that takes an intervention, as you made here.
"""

# %% [markdown]
r"""
### Learned positional encodings, looked into

The table of your mini-Transformer started as noise. **Predict**: after training on sorting, will neighbouring
positions have similar rows, as sinusoids do?
"""


# %%
def cosines(table):
    """Cosine of every two rows of table (T, d): (T, T)."""
    return (F.normalize(table, dim=-1) @ F.normalize(table, dim=-1).T).detach()


zeros = torch.zeros(1, 16, 32)
rows = mini.encoding(zeros)[0]  # the rows that are added, whatever your parameter is called
fixed = encoding.add_sinusoidal_encoding(zeros)[0]
plots.side_by_side({"learned": cosines(rows), "sinusoidal": cosines(fixed)}, "position", "position", "Cosines")

# %% [markdown]
r"""
Nobody told the table that positions form a line, and on this task it finds out: neighbours, whose answers are often
equal, end up alike. The shape depends on what the task rewards; train on `previous_token` and look again.

What is missing are the rows from 16 on. They were never added to anything, so they hold the noise that they started
with. Make `zeros` 20 tokens long, and you see why a learned table does not extrapolate.
"""

# %% [markdown]
r"""
### Where you are

You have written learned, rotary and linear-bias positions, and you know what each can say: *where*, *how far apart*,
or *how far back*. You have seen which sentences about positions and heads hold, under which conditions, and you have
taken a head out of a trained model to see what is lost. Lesson 6 does the same to a real language model, with your
own code.
"""
