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
# Lesson 2 · How It Works

*Sections 4 and 5 · 50 minutes · 25 points*

The box opened: how the weights of a head come about, how the heads share the columns, and what PyTorch's own layer does
when you are not looking.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import torch
import torch.nn as nn

from course import encoding, experiments, plots
from course.attention import causal_mask, to_multihead_mask
from course.live import encoding_explorer, head_splitter, mask_bench, reveal, scale_thermometer

# %% [markdown]
r"""
## 4. Detailed Explanation and Examples (25-30 minutes)

### Understanding Multi-Head Attention

Each head in multi-head attention projects the input into a subspace of its own and computes attention there. The
results are concatenated and linearly transformed. This allows the model to jointly attend to information from
different representation subspaces.

That is four steps: project, attend, concatenate, project again. The picture shows them with the shapes on the way; in the
box of a head, Q, K and V are that head's columns of them, and K' is K transposed. One letter stands for each axis: B batch,
H heads, T queries, S keys. In self-attention S is T.
"""

# %%
plots.attention_path()

# %% [markdown]
r"""
#### One head: scores, weights, average

Inside a head every token plays three parts. Its **query** says what it is looking for, its **key**
what it has to offer, its **value** is what it hands over when somebody looks.

1. The **score** of query t and key s is their dot product $q_t \cdot k_s$: large when they point the same way.
2. The scores of a query are divided by $\sqrt{d_\text{head}}$ and go through a **softmax**: exponentials, each
   divided by the sum of them all. Out comes a row of **weights**, all positive, that sums to 1.
3. The **output** of the query is the average of the values with these weights, as in lesson 1.
"""

# %% [markdown]
r"""
**Predict, then reveal.** Below you see one query, five keys and the scores, already divided by $\sqrt{d_\text{head}}$. Set
the row of weights that you expect, then uncover it.
"""

# %%
reveal.explore(query=2)

# %% [markdown]
r"""
Was your row more even than the weights? The softmax takes exponentials, so what counts is the *difference* of two scores: one
more in the score is 2.7 times the weight. A difference of 8 is already 3000 times the weight. That is why the
division by $\sqrt{d_\text{head}}$ is there, and the next question is about it.
"""

# %% [markdown]
r"""
#### Exercise · `scale_question` · 1 point · 2 minutes

*Off the short path.*

The entries of queries and keys are independent, with mean 0 and variance 1, and a head is 64 columns wide. A row has
16 keys. What becomes of the weights when the scores are *not* divided by $\sqrt{64}$?

- **A** Nothing: a softmax takes out any common factor of the scores.
- **B** They become nearly equal, because all scores are large.
- **C** Most of a row's weight goes to a single key.
- **D** The rows no longer sum to 1.

Answer first; the cell after the check measures it.
"""

# %% nbgrader={"grade": false, "grade_id": "scale_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
scale_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
scale_question = "C"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_scale_question", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("scale_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "C",
    {
        "A": "A softmax takes out what is added to all scores, not what multiplies them: a factor of 8 makes every difference 8 times larger.",
        "B": "What counts is how far the scores lie apart, and they lie 8 times as far apart as after the division.",
        "C": "The scores have a standard deviation of 8, and a lead of 8 is a factor of 3000: the softmax is saturated, and much less gradient passes.",
        "D": "A softmax gives rows that sum to 1 whatever the scores are; the scale decides how the weight is spread.",
    },
)
### END HIDDEN TESTS
question.run()

# %%
generator = torch.Generator().manual_seed(0)
q, k = torch.randn(2000, 64, generator=generator), torch.randn(16, 64, generator=generator)
for name, scores in (("q·k", q @ k.T), ("q·k / √64", q @ k.T / 64**0.5)):
    weights = scores.softmax(-1)  # (queries, keys)
    slope = (weights * (1 - weights)).mean()  # of a weight, when its own score moves
    largest = weights.max(-1).values.mean()
    print(f"{name:9}  spread {scores.std():4.1f}   largest weight of a row {largest:.2f}   slope {slope:.4f}")

# %% [markdown]
r"""
A sum of 64 independent products, each of variance 1, has variance 64 and spread (standard deviation) 8. Dividing by $\sqrt{64}$
brings the spread back to 1, as $\sqrt{d_\text{head}}$ does at any width. Without it the softmax is **saturated**: one key
takes most of the row, and the slope of a weight, $w(1-w)$, falls to a quarter: less gradient comes back.

Two things that you may hear otherwise. The width in the formula is that of a *head*: $\sqrt{d_\text{head}}$, not
$\sqrt{d_\text{model}}$. And "the variance of $q \cdot k$ is $d$" holds for entries with mean 0. Let the mean be 1:
"""

# %%
for mean in (0, 1):
    q, k = (mean + torch.randn(20_000, 64, generator=generator) for _ in range(2))
    print(f"mean {mean}: variance of q·k is {(q * k).sum(-1).var():.0f}")

# %% [markdown]
r"""
With mean 0 it is close to 64, with mean 1 close to 192, three times as much. In a real model nobody guarantees mean
0; the division keeps the scores in a workable range at the start of training, no more.

Move the width in the explorer and watch the largest weight, first with the right scale, then with none, then with
that of the whole model, $\sqrt{d_\text{model}}$.
"""

# %%
scale_thermometer.explore(d_head=64)

# %% [markdown]
r"""
#### Masks

A query is often not allowed to look everywhere: not at padding, which fills short sentences up to the length of the
longest, and in a model that writes, not at the future. A **mask**
says so. In this course it is always boolean, it broadcasts to the scores (B, H, T, S), and **True means *may attend***.

Where does it act? On the *scores*, before the softmax, so that what is left is shared among the allowed keys. To
set weights to zero after the softmax is a common slip: a row then sums to less than 1, and how much less depends on
the very keys that should not count.
"""

# %%
weights = torch.tensor([[2.0, 1.0, 0.0]]).softmax(-1)
allowed = torch.tensor([[False, True, True]])
print("zeroed afterwards:", weights * allowed, f"sums to {(weights * allowed).sum():.2f}")
print("the two allowed scores alone:", torch.tensor([[1.0, 0.0]]).softmax(-1))

# %% [markdown]
r"""
#### Exercise · `scaled_dot_product_attention` · 8 points · 10 minutes

*On the 60- and the 90-minute path.*

Let every query look at every key, in about five lines:

$$\text{weights} = \operatorname{softmax}\left(\frac{q\,k^\top}{\sqrt{d}}\right) \qquad \text{out} = \text{weights}\;v$$

*From scratch:* ready-made attention and everything in `course` are refused.
"""

# %% [markdown]
r"""
What is asked of it, and what each part is worth:

- **Values** (4 points). q (B, H, T, d), k (B, H, S, d), v (B, H, S, d_v); return `out` (B, H, T, d_v) and
  `weights` (B, H, T, S). All sizes may differ.
- **Mask** (3 points). `mask`, if given, is boolean and broadcasts to (B, H, T, S); True = may attend. Every row has a
  True. A forbidden key has weight 0, the allowed ones sum to 1.
- **Robust** (1 point). With scores up to 1e4 the weights are finite and right, with a mask too; dtype kept (float32, float64);
  gradients flow from both results; arguments unchanged, and they may be transposed views.

<details><summary>Hint 1</summary>

Which two axes of k must change places so that (B, H, T, d) times k gives (B, H, T, S)?
</details>
<details><summary>Hint 2</summary>

Which axis of the scores has one entry for each key? Along that axis the weights sum to 1.
</details>
<details><summary>Hint 3</summary>

Which score makes `exp(score)` zero? `masked_fill` and `torch.where` return a new tensor; in which places must it have that score?
</details>
<details><summary>Hint 4</summary>

`exp(9000)` is infinite. `softmax` of torch subtracts the largest score of each row first; your own exponentials would have to.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(q, k, v, mask=None):
    """Attend from q (B, H, T, d) to k (B, H, S, d) and v (B, H, S, d_v).

    mask is boolean, broadcasts to (B, H, T, S), and True means "may attend".
    Returns out (B, H, T, d_v) and weights (B, H, T, S), whose rows sum to 1 over the keys.
    """
    ### BEGIN SOLUTION
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5  # (B, H, T, d) @ (B, H, d, S) -> (B, H, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights  # (B, H, T, S) @ (B, H, S, d_v) -> (B, H, T, d_v)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_scaled_dot_product_attention_values", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, attention

exam = Exam(
    "scaled_dot_product_attention",
    attention.attention_shapes(sizes=(2, 3, 4, 5, 6, 7)),
    attention.attention_by_hand(
        q=[[2.0, 0.0, 0.0, 0.0]],
        k=[[0.0, 5.0, 0.0, 0.0], [1.0986123, 0.0, 0.0, 0.0]],  # 1.0986123 is the logarithm of 3
        v=[[8.0, 0.0], [0.0, 4.0]],
        weights=[[0.25, 0.75]],
        out=[[2.0, 3.0]],
    ),
    from_scratch=True,
)
### BEGIN HIDDEN TESTS
exam.add(
    attention.attention_values(
        cases=[
            (2, 3, 5, 7, 6, 11),
            (3, 5, 4, 6, 2, 9),
            (1, 2, 9, 3, 12, 1),
            (1, 1, 1, 1, 1, 1),
            (2, 1, 3, 1, 5, 2),
            (1, 4, 1, 6, 3, 3),
            (4, 4, 4, 4, 4, 4),
        ]
    )
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_scaled_dot_product_attention_mask", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, attention

exam = Exam(
    "scaled_dot_product_attention",
    attention.attention_mask(title="a mask", kinds=["shape (B, H, T, S)"], sizes=(2, 3, 4, 5, 6, 5)),
    from_scratch=True,
)
### BEGIN HIDDEN TESTS
exam.add(
    attention.attention_mask(
        title="masks of other shapes",
        kinds=["shape (T, S)", "shape (B, 1, 1, S)", "shape (S,)", "shape (B, 1, T, S)", "shape (H, 1, S)"],
        sizes=(2, 3, 5, 7, 6, 7),
    ),
    attention.attention_mask(
        title="masks of any kind",
        kinds=["shape (B, H, T, S)", "causal", "nothing forbidden"],
        sizes=(3, 2, 6, 6, 5, 6),
    ),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_scaled_dot_product_attention_robust", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, attention

exam = Exam("scaled_dot_product_attention", attention.attention_large(queries=4, keys=5), from_scratch=True)
### BEGIN HIDDEN TESTS
exam.add(
    attention.attention_large(queries=6, keys=7),
    attention.attention_large_masked(queries=5, keys=7),
    attention.attention_precision(sizes=(2, 3, 5, 7, 4, 6)),
    attention.attention_keeps_arguments(sizes=(2, 3, 5, 7, 6, 4)),
    attention.attention_gradients(sizes=(2, 3, 5, 7, 4, 6)),
    attention.attention_views(sizes=(2, 3, 5, 7, 6, 4)),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Your function at work: the same query and keys as before, with the weights now computed by you. Where they differ from
the course's, the explorer says where and by how much.
"""

# %%
reveal.explore(scaled_dot_product_attention, revealed=True)

# %% [markdown]
r"""
The same for the scale. Nobody tells your function how wide the whole model is. **Predict:** which of the three bars will
*yours* equal, at every width?
"""

# %%
scale_thermometer.explore(scaled_dot_product_attention, d_head=64)

# %% [markdown]
r"""
And for the mask. **Predict:** which triangle of the map is dark under a causal mask? Then invert the mask, as somebody does who takes True
for *forbidden*, and read off who sees what.
"""

# %%
mask_bench.explore(scaled_dot_product_attention)

# %% [markdown]
r"""
#### A row that may see nothing

The exercise spared you one case: a query whose keys are all forbidden, for example one in a batch item that is all
padding. What should its weights be? Predict what each of the two usual fill values for forbidden scores, `-inf` and
`-1e9`, makes of such a row.
"""

# %%
forbidden = torch.ones(1, 3, dtype=torch.bool)
scores = torch.tensor([[0.5, 2.0, 1.0]])
for fill in (-torch.inf, -1e9):
    print(fill, "->", scores.masked_fill(forbidden, fill).softmax(-1))
try:
    scores.half().masked_fill(forbidden, -1e9)
except RuntimeError as error:
    print("-1e9 in half precision ->", error)

# %% [markdown]
r"""
With `-inf` the row is 0/0, and one NaN is enough to spoil a training run. With `-1e9` the row is an average over
exactly what was forbidden, and half precision cannot hold that number. The course's own function fills with `-inf` and
then returns **zeros** for such a row: nothing to look at, nothing looked at. The mask bench above makes such a row from a causal
mask that is inverted: the last query has no future to see.
"""

# %% [markdown]
r"""
#### Many heads: cutting the columns

There are no separate networks for the heads. The three projections are computed once, $d_\text{model}$ columns
wide, and then *cut*: head h gets the $d_\text{head}$ columns from $h \cdot d_\text{head}$ on. Cutting moves numbers and computes nothing.
"""

# %%
plots.head_columns(d_model=8, num_heads=2)

# %% [markdown]
r"""
PyTorch wants the heads in front of the time axis, (B, H, T, d_head), so that one matrix product serves all
of them. A tempting way to get there is `view`, which gives the right shape at once. Predict what head 0 of the first
token holds, then look. The tens digit of each entry is its token, the units digit its column.
"""

# %%
x = torch.tensor([[[10 * t + c for c in range(8)] for t in range(4)]])  # (B=1, T=4, d_model=8)
viewed = x.view(1, 2, 4, 4)  # (B, H, T, d_head): the right shape
print("head 0:", viewed[0, 0].tolist())
print("head 1:", viewed[0, 1].tolist())

# %% [markdown]
r"""
Head 0 has the whole of tokens 0 and 1, head 1 the whole of tokens 2 and 3. The two halves of token 0 pose as
"time 0" and "time 1" of head 0, those of token 1 as "time 2" and "time 3". No error, the right shape, and a layer that
even trains, badly: its heads cannot look across the sentence. Time must stay an axis of its own until the columns have been cut.
"""

# %% [markdown]
r"""
#### Exercise · `split_heads` · 4 points · 5 minutes

*On the 90-minute path.*

Cut x (B, T, d_model) into heads (B, H, T, d_head), in about four lines.

- **Order** (3 points). Head h of token t holds the features $h \cdot d_\text{head}$ to $(h+1) \cdot d_\text{head} - 1$
  of token t. The numbers, their dtype and the gradients are kept; x stays as it is, and may be a transposed view.
- **Error** (1 point). When d_model is not a multiple of `num_heads`, raise `ValueError`. Its message is for
  the reader: let it name both numbers.

<details><summary>Hint 1</summary>

Cut one axis of length d_model into two axes, where it stands. Which of the two is H, so that neighbouring columns stay together?
</details>
<details><summary>Hint 2</summary>

After the cut the shape is (B, T, H, d_head). Which two axes are still in the wrong order?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x, num_heads):
    """Cut x (B, T, d_model) into heads (B, H, T, d_head); head h holds features h*d_head onwards.

    ValueError when d_model is not a multiple of num_heads.
    """
    ### BEGIN SOLUTION
    batch, time, d_model = x.shape
    if d_model % num_heads:
        raise ValueError(f"d_model {d_model} is not a multiple of num_heads {num_heads}")
    x = x.reshape(batch, time, num_heads, d_model // num_heads)
    return x.transpose(1, 2)  # (B, T, H, d_head) -> (B, H, T, d_head)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_split_heads_order", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads

exam = Exam("split_heads", heads.split_order(cases=[(1, 4, 2, 4)]))
### BEGIN HIDDEN TESTS
exam.add(
    heads.split_order(cases=[(2, 5, 3, 4), (3, 2, 4, 5), (1, 1, 6, 1), (2, 7, 1, 6), (4, 3, 5, 1), (3, 3, 3, 3)]),
    heads.split_keeps(sizes=(2, 5, 3, 4)),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_split_heads_error", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads

exam = Exam("split_heads", heads.refuses_uneven(cases=[(8, 3)], call=heads.tokens_and_heads))
### BEGIN HIDDEN TESTS
exam.add(heads.refuses_uneven(cases=[(9, 2), (10, 4), (3, 6), (15, 10)], call=heads.tokens_and_heads))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
The heads below are cut by your function. Compare each map with the course's beside it, then ask for 5 heads of 32
columns and read what *your* error says.
"""

# %%
head_splitter.explore(split_heads, num_heads=4, d_model=32)

# %% [markdown]
r"""
#### Exercise · `merge_heads` · 3 points · 3 minutes

*Off the short path.*

Lay the heads x (B, H, T, d_head) side by side again, (B, T, H·d_head), in about two lines. It is the inverse of
`split_heads`: column $h \cdot d_\text{head} + j$ of token t is entry j of head h at t.

- The numbers, their dtype and the gradients are kept.
- x stays as it is, and may be a transposed view, as `split_heads` makes it.

<details><summary>Hint 1</summary>

Undo the steps of `split_heads` in reverse order. Which axes change places first?
</details>
<details><summary>Hint 2</summary>

`view` refuses a tensor whose axes have been swapped, because its numbers no longer lie in order. Which method copies
them if it has to?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "merge_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def merge_heads(x):
    """Lay heads x (B, H, T, d_head) side by side: (B, T, H*d_head), the inverse of split_heads."""
    ### BEGIN SOLUTION
    batch, num_heads, time, d_head = x.shape
    return x.transpose(1, 2).reshape(batch, time, num_heads * d_head)  # (B, H, T, d_head) -> (B, T, H, d_head)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_merge_heads", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads

exam = Exam("merge_heads", heads.merge_order(cases=[(1, 2, 3, 4)]))
### BEGIN HIDDEN TESTS
exam.add(
    heads.merge_order(cases=[(2, 3, 5, 4), (3, 4, 2, 5), (1, 6, 1, 1), (2, 1, 7, 6), (4, 5, 3, 1), (3, 3, 3, 3)]),
    heads.merge_keeps(sizes=(2, 3, 5, 4)),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
#### What heads cost

After the merge, one more projection mixes what the heads have found; without it, each head would write into its own
columns, and nothing in this layer would bring the results of two heads together. That makes four projections in all: for queries, keys,
values and output. Each is an `nn.Linear(d_model, d_model)`.
"""

# %% [markdown]
r"""
#### Exercise · `parameter_count` · 2 points · 3 minutes

*Off the short path.*

Return the number of trainable numbers in the four projections, each with a bias, as an `int`, in one line.
`num_heads` divides `d_model`.

<details><summary>Hint 1</summary>

`nn.Linear(d_model, d_model)` has a matrix and a vector. How many numbers are in each?
</details>
<details><summary>Hint 2</summary>

With twice as many heads, how wide is each of them? How wide are all of them together?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "parameter_count", "locked": false, "schema_version": 3, "solution": true, "task": false}
def parameter_count(d_model, num_heads):
    """Trainable numbers, an int, in the four projections of multi-head attention, with biases."""
    ### BEGIN SOLUTION
    return 4 * (d_model * d_model + d_model)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_parameter_count", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads

exam = Exam("parameter_count", heads.parameter_counts(cases=[(2, 1, 24)]))
### BEGIN HIDDEN TESTS
exam.add(heads.parameter_counts(cases=[(64, 8, 16_640), (64, 1, 16_640), (6, 3, 168), (35, 5, 5_040), (1, 1, 8)]))
### END HIDDEN TESTS
exam.run()

# %%
for num_heads in (1, 2, 4, 8):
    layer = nn.MultiheadAttention(embed_dim=64, num_heads=num_heads)
    count = sum(parameter.numel() for parameter in layer.parameters())
    print(f"H = {num_heads}: {count:,} parameters, {num_heads * 512 * 512:,} scores for 512 tokens")

# %% [markdown]
r"""
The number of heads changes neither the parameters nor the work in the projections: the same columns are
cut differently. What grows is the memory for the scores, $H \cdot T^2$ numbers. The whole layer costs
$2\,T^2 d_\text{model} + 4\,T d_\text{model}^2$ multiplications, biases and softmax aside: the first part, scores and averages,
is the larger one when the sequence is more than twice as long as the model is wide.
"""

# %% [markdown]
r"""
### Practical Applications

- **Machine translation: capturing different syntactic and semantic relationships.** To translate a verb the decoder needs its
  subject, its object and its tense, which stand in different places of the source sentence. Several heads can fetch them in one layer.
- **Text summarisation: focusing on key information from various parts of the text.** A sentence of the summary may rest
  on three paragraphs at once.

A caution goes with both. Some heads of trained models follow relations that a linguist would name, many do not, and a weight
says where a head looked, not why the model answered as it did. In lesson 6 you will look for such heads in a real model.
"""

# %% [markdown]
r"""
### Common Misconceptions

**1. Misconception: More heads always mean better performance.** *Reality:* too many heads can lead to overfitting or
redundancy; the number of heads should be tuned.

More heads are also *narrower* heads: at width 32, eight heads have four columns each. The experiment trains tiny models on
two tasks. In one, every position needs *one* lookup, in the other *two* at the same time. **Predict:** which of the two
gains from a second head, and what will eight do? (About 20 seconds the first time.)
"""

# %%
result = experiments.heads()

# %% [markdown]
r"""
One row of weights can be sharp in one place only, so a second head helps where two places are asked for; eight narrow heads add
next to nothing to that. Where one place is asked for, more heads bring nothing. How many are right depends on the model and
the task: try a few and measure.

**2. Misconception: Positional encoding is only needed for long sequences.** *Reality:* even short sequences require
positional information for correct interpretation.

The shortest sequence with an order has two symbols. **Predict:** how often will a model without positions
be right about which of two symbols came first?
"""

# %%
result = experiments.short_sequences()

# %% [markdown]
r"""
Without positions the model tosses a coin, at two symbols as at four: it sees the same *set* in either order. That holds for a layer without a
mask. A causal mask tells positions apart by how much each may see; lesson 5 comes back to it.
"""

# %% [markdown]
r"""
## 5. Live Coding Demonstration (20-25 minutes)

### Example 1: Multi-Head Attention Skeleton (PyTorch)

PyTorch has the whole layer ready-made, `nn.MultiheadAttention`. Around it goes a class of your own, so that the
settings that people forget stand in one place. Here the lesson uses PyTorch's word for the width, `embed_dim`.
"""


# %%
class MultiHeadAttention(nn.Module):
    def __init__(self, embed_dim, num_heads):
        super().__init__()
        self.mha = nn.MultiheadAttention(embed_dim, num_heads, batch_first=True)

    def forward(self, x):
        attn_output, attn_weights = self.mha(x, x, x, average_attn_weights=False)
        return attn_output, attn_weights


# %% [markdown]
r"""
#### Exercise · `shape_question` · 1 point · 2 minutes

*On the 60- and the 90-minute path.*

A layer with `embed_dim=32` and `num_heads=4` reads `x` of shape (8, 10, 32): batch, sequence, width. Which shapes do
`output` and `attn_weights` have?

- **A** (8, 10, 32) and (8, 10, 10)
- **B** (8, 4, 10, 8) and (8, 4, 10, 10)
- **C** (8, 10, 32) and (8, 4, 10, 10)
- **D** (8, 10, 32) and (8, 4, 10, 8)
"""

# %% nbgrader={"grade": false, "grade_id": "shape_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
shape_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
shape_question = "C"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_shape_question", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("shape_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "C",
    {
        "A": "The weights keep an axis for the heads, because average_attn_weights is False: every head has its own map.",
        "B": "The heads' results are concatenated and projected before they are returned: the output is as wide as the input.",
        "C": "The output has the shape of the input, and each of the 4 heads has a map with one row per query and one column per key.",
        "D": "A map compares tokens with tokens, 10 x 10; the head's width of 8 is summed over in the dot products.",
    },
)
### END HIDDEN TESTS
question.run()

# %%
mha = MultiHeadAttention(embed_dim=32, num_heads=4)
x = torch.randn(8, 10, 32)  # (batch, seq_len, embed_dim)
output, attn_weights = mha(x)
print(output.shape, attn_weights.shape)

# %% [markdown]
r"""
**Explanation:**

- Each head computes attention in parallel: four maps of 10 queries by 10 keys for each of the 8 sequences.
- Outputs are concatenated and projected: four results of width 8 make 32 columns again, and the output projection mixes them.

These are the maps of the first sequence, cut to its first five tokens. The layer is untrained and the input is noise, so the
weights scatter around 0.1, the even share among ten keys.
"""

# %%
plots.attention_maps(attn_weights[0, :, :5, :5].detach(), tokens=list("abcde"), title="Four heads, untrained")

# %% [markdown]
r"""
#### Exercise · `average_question` · 1 point · 2 minutes

*On the 60- and the 90-minute path.*

You call the layer without the last setting: `mha.mha(x, x, x)`. What comes back as the weights?

- **A** The same as before, (8, 4, 10, 10).
- **B** The maps of the first head, (8, 10, 10).
- **C** The mean of the heads' maps, (8, 10, 10).
- **D** `None`.
"""

# %% nbgrader={"grade": false, "grade_id": "average_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
average_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
average_question = "C"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_average_question", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("average_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "C",
    {
        "A": "average_attn_weights is True by default: the axis of the heads is averaged away.",
        "B": "No head is singled out: all of them go into one map, their mean.",
        "C": "average_attn_weights is True by default, and the mean of four maps hides that one head looked left and another right.",
        "D": "None comes back with need_weights=False; by default weights are returned, averaged over the heads.",
    },
)
### END HIDDEN TESTS
question.run()

# %%
_, averaged = mha.mha(x, x, x)
_, per_head = mha.mha(x, x, x, average_attn_weights=False)
_, nothing = mha.mha(x, x, x, need_weights=False)
print(averaged.shape, "is the mean of the heads:", torch.allclose(averaged, per_head.mean(1)))
print("with need_weights=False:", nothing)

# %% [markdown]
r"""
A figure called "the attention of layer 3" is often such a mean. Two heads, one that looks back and one that looks ahead, become
one map that seems to look both ways. Ask for every head.

There is a second thing to do before you plot weights. A layer with dropout drops *weights* while it trains: of every five
about one becomes 0 here, the others are divided by 0.8, and the result is returned. Predict what the rows sum to, in
training mode and after `.eval()`.
"""

# %%
layer = nn.MultiheadAttention(embed_dim=32, num_heads=4, dropout=0.2, batch_first=True)
for training in (True, False):
    _, weights = layer.train(training)(x, x, x, average_attn_weights=False)
    sums = weights.sum(-1)
    print(f"training={training}: rows sum to {sums.min():.2f} ... {sums.max():.2f}")

# %% [markdown]
r"""
In training mode a row that lost nothing sums to 1.25, and one that lost much to less than 1. A new module is in training
mode, so `.eval()` comes before every picture of its attention. (The function
`F.scaled_dot_product_attention`, where `F` is `torch.nn.functional`, knows no mode: it drops whenever you hand it a
`dropout_p`. Pass `p if self.training else 0.0`.)
"""

# %% [markdown]
r"""
#### Exercise · `batch_question` · 1 point · 2 minutes

*Off the short path.*

Somebody leaves out `batch_first=True` and hands `x` of shape (8, 10, 32), still meant as batch, sequence, width, to
`nn.MultiheadAttention(32, 4)`. What happens?

- **A** An error: the shapes do not fit.
- **B** The same as with `batch_first=True`; the setting only changes the speed.
- **C** No error, and an output of shape (10, 8, 32).
- **D** No error, an output of the right shape, and every token attends to the tokens at its place in the *other* sequences.
"""

# %% nbgrader={"grade": false, "grade_id": "batch_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
batch_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
batch_question = "D"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_batch_question", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("batch_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "D",
    {
        "A": "Any two sizes fit: the layer reads (8, 10, 32) as 8 time steps of 10 sequences, and nothing can tell it otherwise.",
        "B": "The setting says which axis is time. Without it the first axis is, and attention runs along that one.",
        "C": "The output has the layout of the input, (8, 10, 32). That is what makes the mistake hard to see.",
        "D": "By default the first axis is time: the layer attends along the 8, across the batch, and the weights betray it with their shape.",
    },
)
### END HIDDEN TESTS
question.run()

# %%
layer = nn.MultiheadAttention(embed_dim=32, num_heads=4).eval()  # batch_first is False
other = x.clone()
other[1:] = 0.0  # other sequences, while sequence 0 is the same
out, weights = layer(x, x, x)
out_other, _ = layer(other, other, other)
print("output:", tuple(out.shape), " weights:", tuple(weights.shape))
print("sequence 0 has changed by", round((out - out_other)[0].abs().max().item(), 2))

# %% [markdown]
r"""
The output has the right shape, and sequence 0 changed although nobody touched it: it had been looking at the other
sequences. The weights say so, if one reads their shape: (10, 8, 8) instead of (8, 10, 10).

Last in this example: masks. PyTorch has two conventions, and they contradict each other.

| | boolean mask, True means | float mask |
|---|---|---|
| this course, `mask` | may attend | refused |
| `F.scaled_dot_product_attention`, `attn_mask` | may attend | added to the scores |
| `nn.MultiheadAttention`, `attn_mask` and `key_padding_mask` | **forbidden** | added to the scores |
"""

# %% [markdown]
r"""
#### Exercise · `mask_question` · 1 point · 2 minutes

*Off the short path.*

The mask `causal_mask(5)` is True on and below the diagonal; it makes your own function causal. Somebody hands this very
tensor to `nn.MultiheadAttention` as `attn_mask`. What does the token at position 1 (of 0 to 4) attend to?

- **A** Positions 0 and 1.
- **B** Positions 2, 3 and 4.
- **C** All five positions.
- **D** None: the layer refuses boolean masks.
"""

# %% nbgrader={"grade": false, "grade_id": "mask_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
mask_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
mask_question = "B"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_mask_question", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("mask_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "B",
    {
        "A": "That is what the mask means in this course. In nn.MultiheadAttention True means forbidden, so it forbids exactly these two.",
        "B": "In nn.MultiheadAttention True means forbidden: the past is forbidden, the token itself too, and the future is left.",
        "C": "The layer does use the mask, the other way round: True means forbidden.",
        "D": "Boolean masks are welcome there, with the opposite meaning: True means forbidden. Integer masks are refused.",
    },
)
### END HIDDEN TESTS
question.run()

# %%
mask, sequence = causal_mask(5), torch.randn(1, 5, 32)
layer = nn.MultiheadAttention(32, 4, batch_first=True).eval()
converted = to_multihead_mask(mask, batch=1, num_heads=4, queries=5, keys=5)
for name, attn_mask in (("as it is", mask), ("converted", converted)):
    _, weights = layer(sequence, sequence, sequence, attn_mask=attn_mask)
    for position in (1, 4):
        print(f"{name}, position {position}:", weights[0, position].detach().numpy().round(2))

# %% [markdown]
r"""
As it is, position 1 sees only the future, and position 4, for which nothing is left, gets NaN. Do not count on that warning:
a layer that asks for no weights, as `nn.TransformerEncoderLayer` does, gets zeros there while it trains. Such a model
reaches a splendid loss, because it reads the answer. The course's `to_multihead_mask` turns the meaning round.

A float mask is *added* to the scores in both of PyTorch's functions. A mask of 0.0 and 1.0 therefore forbids nothing:
beside the others, an unwanted weight shrinks by a factor of $e$, no more. Use booleans. **Predict** roughly what share is left on three
keys of five that somebody meant to mask like this.
"""

# %%
mask = torch.tensor([[1.0, 1.0, 0.0, 0.0, 0.0]]).expand(5, 5)  # meant as: only the first two keys count
_, weights = layer(sequence, sequence, sequence, attn_mask=mask)
print("left on the keys that were meant to be masked:", weights[0, :, 2:].sum(-1).detach().numpy().round(2))

# %% [markdown]
r"""
### Example 2: Implementing Positional Encoding (NumPy)

Row `pos` of the table is the encoding of position `pos`. Its columns come in pairs, a sine and a cosine of one angle; from pair to
pair the angle turns more slowly.
"""


# %%
def positional_encoding(seq_len, d_model):
    PE = np.zeros((seq_len, d_model))
    for pos in range(seq_len):
        for i in range(0, d_model, 2):
            angle = pos / (10000 ** (i / d_model))
            PE[pos, i] = np.sin(angle)
            if i + 1 < d_model:
                PE[pos, i + 1] = np.cos(angle)
    return PE


print(positional_encoding(5, 8).round(3))

# %% [markdown]
r"""
**Key points:**

- Sine and cosine functions encode position information: each pair is the hand of a clock, and the clocks run at different speeds.
- Adjacent sine/cosine dimensions form a pair and share one frequency. So `i` counts 0, 2, 4 …: two columns at a time.
- Added to input embeddings before feeding into the model. The original paper multiplies the embeddings by
  $\sqrt{d_\text{model}}$ first; models in the style of GPT do not.

**Predict** from the second point: what is the sum of the squares of the two columns of a pair? And how many positions does
the slowest clock of 8 columns take for one turn?
"""

# %%
PE = positional_encoding(50, 8)
print("sin² + cos² of every pair:", np.unique((PE[:, 0::2] ** 2 + PE[:, 1::2] ** 2).round(12)))
print("positions for one turn, in units of 2π:", (encoding.wavelengths(8) / (2 * np.pi)).round(2))
print("slowest of 512 columns:", round(encoding.wavelengths(512)[-1] / (2 * np.pi), 1))

# %% [markdown]
r"""
The squares sum to 1, so every encoding is equally long. The turns take $2\pi$ to $2\pi \cdot 10000^{(d-2)/d}$ positions. You will
often read that the longest is $10000 \cdot 2\pi$; it comes close for wide models and is never reached, because the exponent of the last
pair is $(d-2)/d$ and not 1.

### Example 3: Visualising Positional Encodings

The table is easiest to check by eye. **Predict:** which columns will change quickly from row to row, those on the left or those
on the right?
"""

# %%
PE = positional_encoding(50, 16)
plt.imshow(PE, aspect="auto", cmap="viridis")
plt.colorbar()
plt.title("Positional Encoding Heatmap")
plt.xlabel("Embedding Dimension")
plt.ylabel("Position")
plt.show()

# %% [markdown]
r"""
In words: 50 rows, one for each position, and 16 columns. The columns on the left alternate between -1 and 1 within a few rows; the further
right, the longer the stripes; the last pair hardly changes over 50 positions, its sine near 0 and its cosine near 1.
No two rows are equal. A last column near 0 instead of 1, or stripes that run the other way, would tell you of a mistake at once.
"""

# %% [markdown]
r"""
### Debugging Demonstration

This demonstration shows common errors and how to fix them. The most common one with positional encodings is a table that does not match the
embedding dimension. Here somebody counted the columns from 0 to d_model - 1 and took the last index for the number:
"""


# %%
# Common mistake: not matching embedding dimension in positional encoding
def bad_positional_encoding(seq_len, d_model):
    PE = np.zeros((seq_len, d_model - 1))  # Wrong shape
    for pos in range(seq_len):
        for i in range(0, d_model - 1, 2):
            angle = pos / (10000 ** (i / d_model))
            PE[pos, i] = np.sin(angle)
            if i + 1 < d_model - 1:
                PE[pos, i + 1] = np.cos(angle)
    return PE


# %% [markdown]
r"""
The first tool is to print shapes at each step. **Predict** which addition fails: the one at 8 columns, the one at 2, or both.
"""

# %%
for d_model in (8, 2):
    embeddings, PE = np.zeros((3, 10, d_model)), bad_positional_encoding(10, d_model)
    print("embeddings", embeddings.shape, " PE", PE.shape)
    try:
        print("    sum", (embeddings + PE).shape)
    except ValueError as error:
        print("   ", error)

# %% [markdown]
r"""
At 8 columns NumPy refuses: the lucky case. At 2 columns the table is (10, 1), which *broadcasts*: the sine is added to both
columns, and nobody is told. A test at this small size finds the mistake only if it compares the shapes instead of
waiting for an error.

The corrected version must have the right shape. Is that enough?
"""


# %%
# Corrected version, as far as the shape goes
def good_positional_encoding(seq_len, d_model):
    return np.zeros((seq_len, d_model))


print(good_positional_encoding(10, 8).shape, "- different rows:", len(np.unique(good_positional_encoding(10, 8), axis=0)))

# %% [markdown]
r"""
The shape fits, and all positions look alike: adding this table changes nothing. Nor is it enough to append a column of zeros to
the bad one. Mend the function itself.
"""

# %% [markdown]
r"""
#### Exercise · `repaired_positional_encoding` · 3 points · 5 minutes

*Off the short path.*

Write `bad_positional_encoding` again, with all its columns and the right numbers in each, in about eight lines:

$$\text{PE}_{p,j} = \begin{cases}\sin\left(p \,/\, 10000^{2\lfloor j/2 \rfloor / d_\text{model}}\right) & j \text{ even}\\
\cos\left(p \,/\, 10000^{2\lfloor j/2 \rfloor / d_\text{model}}\right) & j \text{ odd}\end{cases}$$

- **Values** (2 points). A NumPy array (seq_len, d_model) of float32 or float64, right within $10^{-5}$ for even d_model; a new
  one at each call.
- **Odd widths** (1 point). An odd d_model ends with a sine that has no cosine.

<details><summary>Hint 1</summary>

In how many places does the bad function say `d_model - 1`? What does each of them decide?
</details>
<details><summary>Hint 2</summary>

Print the last column of your table for d_model 8. It should be close to 1, and not 0.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "repaired_positional_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def repaired_positional_encoding(seq_len, d_model):
    """Sinusoidal encoding (seq_len, d_model), a new NumPy array: sines in even columns, cosines in odd ones."""
    ### BEGIN SOLUTION
    PE = np.zeros((seq_len, d_model))
    for pos in range(seq_len):
        for i in range(0, d_model, 2):
            angle = pos / (10000.0 ** (i / d_model))
            PE[pos, i] = np.sin(angle)
            if i + 1 < d_model:
                PE[pos, i + 1] = np.cos(angle)
    return PE
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_repaired_positional_encoding_values", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam("repaired_positional_encoding", encodings.table_shape(sizes=[(10, 8)]))
### BEGIN HIDDEN TESTS
exam.add(
    encodings.table_by_hand(d_model=2, rows={0: [0.0, 1.0], 1: [0.841470985, 0.540302306]}),
    encodings.table_values(sizes=[(7, 2), (50, 16), (5, 8), (100, 12), (1, 6), (23, 64)]),
    encodings.table_kind(seq_len=6, d_model=10),
    encodings.table_fresh(seq_len=6, d_model=10),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_repaired_positional_encoding_odd", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam("repaired_positional_encoding", encodings.table_odd(sizes=[(10, 7)]))
### BEGIN HIDDEN TESTS
exam.add(encodings.table_odd(sizes=[(40, 7), (30, 15), (9, 1), (25, 3), (60, 21)]))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Your table, next to the course's. Move `d_model` through even and odd widths and watch the last column.
"""

# %%
encoding_explorer.explore(repaired_positional_encoding, seq_len=50, d_model=16)

# %% [markdown]
r"""
### Where you are

You have written what happens inside a head, cut and joined the heads, counted what they cost, and seen five ways in which a
layer misleads without an error: the wrong scale, a view, a batch axis, a mask turned round, an average over heads. In lesson 3
you put the parts together into a layer of your own and hold it against PyTorch's.
"""
