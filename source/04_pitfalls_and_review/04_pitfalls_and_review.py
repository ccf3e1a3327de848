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
# Lesson 4 · Pitfalls and Review

*Sections 7 to 9 · 25 minutes · 20 points*

Four functions that run and are wrong, what to do about them, which good advice is out of date, and what to take away.
"""

# %%
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course import plots
from course.live import mask_bench

# %% [markdown]
r"""
## 7. Common Pitfalls and Troubleshooting (10 minutes)

Four colleagues send you four functions. Each of them returns something without complaint, and each is wrong. You know
the functions from lessons 2 and 3; now you read somebody else's. The cells hold the code as it was sent: run the check,
read what it saw, and mend the function with as small a change as you can. Every repair is worth 3 points.
"""

# %% [markdown]
r"""
### Frequent Mistakes

#### Problem 1: Mismatched dimensions in multi-head attention or positional encoding

- **Cause:** incorrect input shapes.
- **Solution:** always check and match dimensions.

The best mismatch is the one that crashes, because you notice it. Here a batch of tokens (B, T, E) = (4, 6, 8) meets
the first colleague's table. Before you run the two cells: the message will name two sizes. Which two, and which of them is wrong?
"""

# %% [markdown]
r"""
#### Exercise · `positional_encoding` · 3 points · 2 minutes

*On the 60- and the 90-minute path.*

Mend the function, in one line, so that it returns the table (seq_len, d_model) with

$$\text{PE}_{p,\,j} = \begin{cases}\sin(\omega_j\,p) & j \text{ even}\\ \cos(\omega_j\,p) & j \text{ odd}\end{cases}
\qquad \omega_j = 10000^{-2\lfloor j/2\rfloor/d_\text{model}}$$

- Even `d_model`: shape and values, right to 1e-5 for the first 100 positions (1 point). Odd `d_model`: it ends with a
  sine (1 point).
- What worked still works, once the shape is right: a NumPy array of float32 or float64, a new one at each call (1 point).

<details><summary>Hint 1</summary>

Count the columns that the function makes for `d_model = 8`.
</details>
<details><summary>Hint 2</summary>

`np.arange(n)` ends with n − 1.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "positional_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def positional_encoding(seq_len, d_model):
    """Table (seq_len, d_model): sine in the even columns, cosine in the odd ones, base 10000."""
    columns = np.arange(d_model - 1)
    angles = np.arange(seq_len)[:, None] / 10000 ** (2 * (columns // 2) / d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))
### BEGIN SOLUTION


def positional_encoding(seq_len, d_model):
    columns = np.arange(d_model)
    angles = np.arange(seq_len)[:, None] / 10000 ** (2 * (columns // 2) / d_model)  # (T, d_model)
    return np.where(columns % 2 == 0, np.sin(angles), np.cos(angles))
### END SOLUTION


# %%
tokens = torch.zeros(4, 6, 8)  # (B, T, E)
try:
    print("fits:", (tokens + torch.as_tensor(positional_encoding(6, 8))).shape)
except RuntimeError as error:
    print("does not fit:", error)

# %% nbgrader={"grade": true, "grade_id": "test_positional_encoding_even", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam(
    "positional_encoding",
    encodings.table_shape(sizes=[(6, 8)]),
    encodings.table_by_hand(d_model=2, rows={0: [0.0, 1.0], 1: [0.841471, 0.540302]}),
)
### BEGIN HIDDEN TESTS
exam.add(
    encodings.table_shape(sizes=[(1, 2), (7, 4), (3, 12)]),
    encodings.table_by_hand(d_model=4, rows={0: [0, 1, 0, 1], 2: [0.909297, -0.416147, 0.019999, 0.999800]}),
    encodings.table_values(sizes=[(9, 6), (5, 10), (100, 16), (11, 2)]),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_positional_encoding_odd", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam("positional_encoding", encodings.table_odd(sizes=[(6, 5)]))
### BEGIN HIDDEN TESTS
exam.add(encodings.table_odd(sizes=[(4, 3), (30, 7), (25, 9), (5, 1)]))
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_positional_encoding_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam("positional_encoding", encodings.table_shape(sizes=[(6, 8)]), encodings.table_kind(seq_len=6, d_model=8))
### BEGIN HIDDEN TESTS
exam.add(
    encodings.table_shape(sizes=[(7, 4), (3, 12)]),
    encodings.table_kind(seq_len=9, d_model=6),
    encodings.table_fresh(seq_len=7, d_model=6),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
The worst mismatch is the one that fits. A tensor can have the right shape and the wrong numbers in it: `view` and
`reshape` read the numbers as one long row, always in the same order, and only cut that row in other places.

The second colleague cuts (B, T, d_model) into heads. Below, token 0 holds the numbers 0 to 3 and token 1 holds 4 to 7.
Predict what head 0 of two heads gets from token 1, then run the cell after the function.
"""

# %% [markdown]
r"""
#### Exercise · `split_heads` · 3 points · 3 minutes

*Off the short path.*

Mend the function, in one line: $(B, T, d_\text{model}) \to (B, H, T, d_\text{head})$, where head $h$ of every token holds that
token's features $h\,d_\text{head}$ to $(h+1)\,d_\text{head}-1$.

- Each number stands where it belongs, for any sizes (2 points).
- What worked still works, once the first part holds: `ValueError` when `num_heads` does not divide the width, dtype and
  gradients kept, inputs that are transposed views (1 point).

<details><summary>Hint 1</summary>

The last two axes of the result are (T, d_head). Which two axes come out when only the last axis of x is cut?
</details>
<details><summary>Hint 2</summary>

Cut to (B, T, H, d_head) first. What is left to do changes the order of two axes.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "split_heads", "locked": false, "schema_version": 3, "solution": true, "task": false}
def split_heads(x, num_heads):
    """Cut x (B, T, d_model) into heads (B, H, T, d_head). ValueError when d_model is not a multiple of num_heads."""
    batch, time, width = x.shape
    if width % num_heads:
        raise ValueError(f"d_model {width} is not a multiple of num_heads {num_heads}")
    return x.reshape(batch, num_heads, time, width // num_heads)
### BEGIN SOLUTION


def split_heads(x, num_heads):
    batch, time, width = x.shape
    if width % num_heads:
        raise ValueError(f"d_model {width} is not a multiple of num_heads {num_heads}")
    return x.reshape(batch, time, num_heads, width // num_heads).transpose(1, 2)  # (B, T, H, d_head) -> (B, H, T, d_head)
### END SOLUTION


# %%
numbered = torch.arange(8).reshape(1, 2, 4)  # (B, T, d_model): every number names its own place
print("token 1:                ", numbered[0, 1].tolist())
print("head 0, row of token 1: ", split_heads(numbered, 2)[0, 0, 1].tolist())

# %% nbgrader={"grade": true, "grade_id": "test_split_heads_order", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads

exam = Exam("split_heads", heads.split_order(cases=[(1, 3, 2, 4)]))
### BEGIN HIDDEN TESTS
exam.add(heads.split_order(cases=[(2, 5, 3, 4), (3, 4, 2, 5), (1, 1, 4, 3), (4, 3, 3, 1), (2, 7, 1, 6), (3, 3, 3, 3)]))
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_split_heads_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads

exam = Exam(
    "split_heads",
    heads.split_order(cases=[(1, 3, 2, 4)]),
    heads.refuses_uneven(cases=[(8, 3)], call=heads.tokens_and_heads),
)
### BEGIN HIDDEN TESTS
exam.add(
    heads.refuses_uneven(cases=[(9, 2), (10, 4), (3, 6)], call=heads.tokens_and_heads),
    heads.split_keeps(sizes=(2, 5, 3, 4)),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
The third mismatch comes with PyTorch itself. `nn.MultiheadAttention` expects (T, B, E) unless you say
`batch_first=True`. Given (B, T, E) it attends from one sentence to another, and no error says so. What will be the shape of
the weights for B = 3 sentences of T = 5 tokens?
"""

# %%
x = torch.randn(3, 5, 8)  # (B, T, E)
for batch_first in (False, True):
    layer = nn.MultiheadAttention(8, num_heads=2, batch_first=batch_first)
    print(f"batch_first={batch_first!s:5}  weights", tuple(layer(x, x, x)[1].shape))

# %% [markdown]
r"""
The wrong call returns weights (5, 3, 3): at each of five places, three sentences look at one another. The output has
the shape (3, 5, 8) in both cases. Weights have the axes (query, key) at their end: when you see the batch size there,
the batch is what you attend over.
"""

# %% [markdown]
r"""
#### Problem 2: Forgetting to add positional encoding to input embeddings

- **Cause:** the encoding never reaches the model. **Effect:** the model loses its sense of order.
- **Solution:** always add positional encoding before feeding to the model; section 8 says what "always" is worth today.

Nothing crashes when it is forgotten: the model trains, the loss falls, and the accuracy stops at what the words alone
can tell. The third colleague computed the encoding with care.
"""

# %% [markdown]
r"""
#### Exercise · `add_positional_encoding` · 3 points · 2 minutes

*On the 60- and the 90-minute path.*

Mend the function, in one line: $\text{out}_{b,t} = x_{b,t} + \text{PE}_t$ for x (B, T, E).

- The sum is right for any B, T and E (2 points). A mistake that is left in `positional_encoding` costs nothing here.
- What worked still works, once the sum is right: a new tensor of the dtype and on the device of x, which stays as it was,
  and gradients that reach x (1 point).

<details><summary>Hint 1</summary>

Which of the names in the function is never used again?
</details>
<details><summary>Hint 2</summary>

Shapes are aligned from the right: (T, E) fits (B, T, E) as it is.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "add_positional_encoding", "locked": false, "schema_version": 3, "solution": true, "task": false}
def add_positional_encoding(x):
    """x (B, T, E) plus the encoding of its T positions: a new tensor of the same shape, dtype and device."""
    table = positional_encoding(x.shape[1], x.shape[2])  # (T, E), NumPy
    table = torch.as_tensor(table, dtype=x.dtype, device=x.device)
    return x
### BEGIN SOLUTION


def add_positional_encoding(x):
    table = positional_encoding(x.shape[1], x.shape[2])  # (T, E), NumPy
    table = torch.as_tensor(table, dtype=x.dtype, device=x.device)
    return x + table  # (T, E) broadcasts over the batch
### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_add_positional_encoding_sum", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam(
    "add_positional_encoding",
    encodings.on_own_or_lent("positional_encoding", encodings.sum_values(sizes=[(2, 3, 6)])),
)
### BEGIN HIDDEN TESTS
exam.add(
    encodings.on_own_or_lent(
        "positional_encoding", encodings.sum_values(sizes=[(3, 5, 6), (5, 2, 8), (1, 7, 4), (4, 1, 10), (2, 6, 7), (3, 4, 1)])
    )
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_add_positional_encoding_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, encodings

exam = Exam(
    "add_positional_encoding",
    encodings.on_own_or_lent("positional_encoding", encodings.sum_values(sizes=[(2, 3, 6)])),
    encodings.on_own_or_lent("positional_encoding", encodings.sum_keeps_x(batch=2, time=3, width=6)),
)
### BEGIN HIDDEN TESTS
exam.add(
    encodings.on_own_or_lent("positional_encoding", encodings.sum_keeps_kind(batch=2, time=5, width=6)),
    encodings.on_own_or_lent("positional_encoding", encodings.sum_keeps_x(batch=3, time=4, width=8)),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
**A test that finds this slip.** Give every position the same token. Without positions all outputs of a layer are
equal; with them they differ. Predict: which of the two numbers is zero before your repair, and which after it?
"""

# %%
same = torch.ones(1, 6, 8)  # six times the same token
layer = nn.MultiheadAttention(8, num_heads=2, batch_first=True)
for name, tokens in (("without positions", same), ("with positions   ", add_positional_encoding(same))):
    out, _ = layer(tokens, tokens, tokens)
    print(name, f"largest difference between two outputs: {(out - out[:, :1]).abs().max():.6f}")

# %% [markdown]
r"""
#### Problem 3: An attention that looks plausible

The fourth colleague's function returns weights between 0 and 1, and the maps look like attention. Nothing crashes
and every shape is right. There are two slips, in two lines. Mend one at a time, and see which of the three checks turns into a tick.
"""

# %% [markdown]
r"""
#### Exercise · `scaled_dot_product_attention` · 3 points · 3 minutes

*Off the short path.*

Mend the function, in two lines. It stays from scratch: nothing ready-made, nothing from `course`.

$$\text{weights} = \operatorname{softmax}_{\text{keys}}\!\left(\frac{QK^\top}{\sqrt{d}}\right),\qquad \text{out} = \text{weights}\; V$$

- The softmax runs over the keys (1 point). The scores are divided by $\sqrt d$, with $d$ the width of a query (1 point).
- What worked still works, once the softmax runs over the keys: out and weights in this order; the mask, True = may attend;
  scores up to 1e4; dtype and gradients; arguments left as they are, transposed views among them (1 point).

<details><summary>Hint 1</summary>

Sum the weights over each axis in turn. Over which one is the sum 1 everywhere, and over which should it be?
</details>
<details><summary>Hint 2</summary>

Hold the line that makes the scores against the formula, sign by sign. What stands under $QK^\top$, and which axis of `q`
has the length d?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "scaled_dot_product_attention", "locked": false, "schema_version": 3, "solution": true, "task": false}
def scaled_dot_product_attention(q, k, v, mask=None):
    """Attend from q (B, H, T, d) to k (B, H, S, d), v (B, H, S, d_v): out (B, H, T, d_v), weights (B, H, T, S)."""
    scores = q @ k.transpose(-2, -1)  # (B, H, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-2)
    return weights @ v, weights
### BEGIN SOLUTION


def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])  # (B, H, T, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    weights = scores.softmax(dim=-1)
    return weights @ v, weights
### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_scaled_dot_product_attention_axis", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, repairs

exam = Exam("scaled_dot_product_attention", repairs.softmax_axis(cases=[(1, 2, 3, 4, 5, 6)]), from_scratch=True)
### BEGIN HIDDEN TESTS
exam.add(repairs.softmax_axis(cases=[(2, 3, 5, 4, 6, 7), (3, 2, 4, 6, 8, 5), (2, 1, 1, 5, 3, 4), (2, 3, 5, 5, 4, 6)]))
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_scaled_dot_product_attention_scale", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, repairs

exam = Exam("scaled_dot_product_attention", repairs.score_scale(cases=[(1, 2, 3, 4, 5, 6)]), from_scratch=True)
### BEGIN HIDDEN TESTS
exam.add(
    repairs.score_scale(cases=[(2, 3, 7, 4, 6, 9), (3, 2, 4, 6, 8, 5), (2, 4, 3, 7, 1, 2), (2, 3, 4, 5, 16, 3)]),
    repairs.score_scale(cases=[(2, 3, 5, 5, 4, 4), (3, 2, 1, 1, 6, 6)]),  # T = S, as in self-attention
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_scaled_dot_product_attention_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, attention, repairs

exam = Exam(
    "scaled_dot_product_attention",
    repairs.softmax_axis(cases=[(1, 2, 3, 4, 5, 6)]),
    attention.attention_mask(title="a mask", kinds=["shape (T, S)"], sizes=(1, 2, 3, 4, 5, 6)),
    from_scratch=True,
)
### BEGIN HIDDEN TESTS
sizes = (2, 3, 4, 5, 6, 7)
kinds = ["causal", "shape (T, S)", "shape (B, 1, 1, S)", "shape (H, 1, S)", "shape (B, H, T, S)", "nothing forbidden"]
exam.add(
    repairs.out_of_weights(sizes=sizes),
    attention.attention_mask(title="masks", kinds=kinds, sizes=sizes),
    attention.attention_mask(title="masks", kinds=["causal", "shape (T, S)"], sizes=(2, 3, 5, 5, 4, 4)),
    attention.attention_large(queries=5, keys=7),
    attention.attention_large_masked(queries=5, keys=7),
    attention.attention_precision(sizes=sizes),
    attention.attention_keeps_arguments(sizes=sizes),
    attention.attention_gradients(sizes=sizes),
    attention.attention_views(sizes=sizes),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
**One mask, three readers.** In this course a boolean mask says True = may attend. `F.scaled_dot_product_attention` reads it
so too. `nn.MultiheadAttention` reads True as *forbidden*. The bench below hands one and the same tensor to your function
and to both of them. Before you move anything: what does a causal mask of ours become in `nn.MultiheadAttention`?
"""

# %%
mask_bench.explore(scaled_dot_product_attention, mask="causal")

# %% [markdown]
r"""
It becomes a mask that shows only the future: every token attends to what comes after it, and the last one, which may
look at nothing, becomes NaN. In training with `need_weights=False` not even that happens. No error is raised. The weights are
where you see it, so draw them once before you train.

Masks belong on the *scores*. A mask that sets weights to zero after the softmax leaves rows that no longer sum to one.
"""

# %% [markdown]
r"""
### Debugging Tips

- **Print tensor shapes at each step.** A hook does it for every layer of a model, without a change to its code.
- **Visualise positional encodings.** A table that is a column short or has its axes swapped shows at a glance.
- **Use small test cases to verify implementation.** Number the entries, as you did with `split_heads`; use sizes that all
  differ, so that swapped axes cannot hide; take inputs whose answer you know without the code.
"""

# %%
def report(name):
    return lambda module, inputs, output: print(f"{name:10}", [tuple(x.shape) for x in inputs])


encoder = nn.TransformerEncoderLayer(d_model=8, nhead=2, dim_feedforward=12, batch_first=True)
for name, part in encoder.named_children():
    part.register_forward_hook(report(name))
out = encoder(torch.randn(3, 5, 8))

# %% [markdown]
r"""
Each line shows what comes *into* a part. Read from the top: which part changes the width from 8 to 12, and which back? The layer has attention,
normalisation and two linear layers, and nothing in it knows about positions: PyTorch leaves the encoding to you.

Now the table. Look for the fast waves on the left and the slow ones on the right, and count the columns: is the last one there?
"""

# %%
plots.heatmap(positional_encoding(40, 16), "dimension", "position", "Your positional encoding")

# %% [markdown]
r"""
The cosines of the last pairs stay near 1 and the sines near 0 in the first 40 rows: their waves are thousands of positions long.
A table in which all *pairs* of columns look alike has lost the exponent; one in which all *rows* look alike has lost the position.
"""

# %% [markdown]
r"""
## 8. Best Practices and Professional Tips (5 minutes)

### Industry Standards

You will find three rules in many courses. Here is how much of each still holds.

**"Use multi-head attention for all Transformer models."** Several heads are the rule. But the heads need not all have their
own keys and values: in *grouped-query* attention a few query heads share one key and value head, in *multi-query*
attention all of them do. Many large language models do this because, while they write, they must keep the keys and values of every
earlier token in memory.
"""

# %%
d_model, num_heads = 4096, 32
d_head = d_model // num_heads
for name, kv_heads in (("multi-head", 32), ("grouped-query", 8), ("multi-query", 1)):
    cache = 2 * kv_heads * d_head  # keys and values of one token in one layer
    print(f"{name:14} {kv_heads:2} key/value heads   {cache:5} numbers kept for each token")

# %% [markdown]
r"""
Sharing changes what is kept, not how the weights are computed: each shared head serves a whole group of queries. Will PyTorch's
own grouped attention agree with keys and values that you repeat yourself?
"""

# %%
q = torch.randn(1, 8, 5, 4)  # 8 query heads
k, v = torch.randn(1, 2, 5, 4), torch.randn(1, 2, 5, 4)  # 2 key and value heads
grouped = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
repeated = F.scaled_dot_product_attention(q, k.repeat_interleave(4, 1), v.repeat_interleave(4, 1))
print("largest difference:", (grouped - repeated).abs().max().item())

# %% [markdown]
r"""
They agree, up to rounding: each key and value head served four query heads, with a quarter of the numbers.

**"Always include positional encoding."** Include *some* source of order. Without a causal mask attention has none, so an
encoder needs an encoding. It need not be added to the embeddings: rotary encoding turns queries and keys, ALiBi adds to the scores.
A causal mask itself tells order, and a decoder of two layers can learn it without any encoding, as one does in lesson 5. Most
decoders still include one.

And computable is not yet usable: sinusoids exist for every position, but a model trained with them on short sequences does worse
on longer ones.
"""

# %% [markdown]
r"""
**"Document model architecture and hyperparameters."** This one has aged well. Write down what another person needs to build
the same model: widths, heads, key and value heads, layers, the encoding with its base and its longest trained length, the
mask, the place of the normalisation, dropout, and the versions of your libraries. Let the code write what it knows:
"""

# %%
card = {
    "d_model": encoder.self_attn.embed_dim,
    "num_heads": encoder.self_attn.num_heads,
    "parameters": sum(p.numel() for p in encoder.parameters()),
    "dropout": encoder.dropout.p,
    "normalisation": "before" if encoder.norm_first else "after",
    "torch": torch.__version__,
}
print(card)

# %% [markdown]
r"""
#### Exercise · `best_practice_question` · 2 points · 2 minutes

*Off the short path.*

Four notes stand in the design document of a decoder-only language model with a causal mask. Which one is right?

- **A** "We need a positional encoding because a causal model cannot learn order without one."
- **B** "We chose sinusoids, so the model may be used at four times the length that it was trained on."
- **C** "Our 32 query heads share 8 key and value heads, so only a quarter as many keys and values are kept in memory."
- **D** "We doubled the number of heads at the same width, so the layer has twice the parameters."
"""

# %% nbgrader={"grade": false, "grade_id": "best_practice_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
best_practice_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
best_practice_question = "C"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_best_practice_question", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("best_practice_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "C",
    {
        "A": "With a causal mask each position sees a different number of tokens, and two layers can learn order from that alone. An encoding helps; it is not the only way.",
        "B": "Sinusoids can be computed for any position, but a model has learned to use those it was trained on: on longer sequences the accuracy falls.",
        "C": "This is grouped-query attention. What is kept for each token shrinks with the number of key and value heads, here from 32 to 8.",
        "D": "The heads share the width: twice as many heads are half as wide, and the projections keep their size and their parameters.",
    },
)
### END HIDDEN TESTS
question.run()

# %% [markdown]
r"""
### Next Steps in Your Learning Journey

- **Explore full Transformer encoder and decoder stacks.** Lesson 5 stacks layers; read next how a decoder attends to an encoder.
- **Learn about training objectives (e.g., translation).** The tasks of lesson 5 are toys: their loss is the one that translation and
  language models use, the cross-entropy of the right token.
- **Try implementing a mini-Transformer.** You have its heart: attention, heads, positions. What is missing is a linear layer
  or two, normalisation and residual connections.
"""

# %% [markdown]
r"""
## 9. Summary and Review (5 minutes)

### Key Takeaways

1. Multi-head attention enables the model to capture diverse relationships: several rows of weights for each token instead of one, for
   the same number of parameters. What a head looks at is learned; not every head is useful, and more are not always better.
2. Positional encoding is essential for sequence understanding in Transformers, wherever no causal mask tells the order.
3. Careful implementation and visualisation help avoid common mistakes. The four functions of this lesson all ran; what gave them
   away was two shapes that did not fit, a numbered tensor, the same token in every place, and a sum over an axis.
"""

# %% [markdown]
r"""
### Quick Review Questions

Answer in your own words, in two to five sentences each. An instructor reads these answers; the rubric gives points for
reasons, not for length. Write into the cell below each question.
"""

# %% [markdown] nbgrader={"grade": false, "grade_id": "review_advantage", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": true}
r"""
#### Exercise · `review_advantage` · 2 points · 2 minutes

*Off the short path.*

**What is the main advantage of multi-head attention?** Say what one head alone cannot do, and what several heads cost.

### BEGIN MARK SCHEME
One point for the advantage: a head gives one row of weights per token, a single way of looking; several heads look in several
ways at once, each in its own learned projection (subspace), so different relations need not share one softmax.
Half a point for "different relationships" without a reason.

One point for the cost: the parameters stay the same (the width is shared, each head is narrower), the score maps take memory
proportional to H·T². Half a point when only one of the two is named.

No deduction for language. "More heads are always better" or "twice the heads, twice the parameters" loses the point it belongs to.
### END MARK SCHEME
"""

# %% [markdown] course={"answer_to": "review_advantage"}
r"""
*Write your answer here.*
"""

# %% [markdown] nbgrader={"grade": false, "grade_id": "review_necessity", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": true}
r"""
#### Exercise · `review_necessity` · 2 points · 2 minutes

*On the 60- and the 90-minute path.*

**Why is positional encoding necessary in Transformers?** Say what happens to the output of a layer without it when the words change
places, and name one case in which a model can do without.

### BEGIN MARK SCHEME
One point for the reason: without mask and encoding, attention depends on the vectors alone; when the inputs change places, the
outputs change places with them (permutation equivariance), so "dog bites man" and "man bites dog" give every word the same vector.
Half a point for "attention has no order" without what follows from it. "The output stays the same" (invariance) is half a point.

One point for a case: a causal mask (each position sees a different number of tokens), or a task in which order does not matter (a set, a bag
of words), or position that enters elsewhere (rotary, ALiBi, recurrence). Half a point for a case without its reason.
### END MARK SCHEME
"""

# %% [markdown] course={"answer_to": "review_necessity"}
r"""
*Write your answer here.*
"""

# %% [markdown] nbgrader={"grade": false, "grade_id": "review_visualisation", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": true}
r"""
#### Exercise · `review_visualisation` · 2 points · 2 minutes

*Off the short path.*

**How can you visualise positional encodings?** Name a picture, say what its axes are, and what a correct encoding looks like in it. Which
mistake of this lesson would you see?

### BEGIN MARK SCHEME
One point for a picture with its axes: a heatmap of the table, rows = positions, columns = dimensions, with a colour bar; or the
similarity PE(i)·PE(j) over two positions; or single columns as waves over the position. Half a point without the axes.

One point for what it shows: fast waves in the first columns and slow ones in the last (or: bands along the diagonal that depend on the
distance alone), and one mistake that would be seen, such as a missing column, exchanged axes, the same frequency everywhere.
Half a point when one of the two is missing.
### END MARK SCHEME
"""

# %% [markdown] course={"answer_to": "review_visualisation"}
r"""
*Write your answer here.*
"""

# %% [markdown]
r"""
### Where you are

You can read attention code that looks right and find out whether it is, and you can say which advice holds. That is the core of
the course, 100 points in four lessons. Lesson 5 goes further: learned, rotary and linear-bias positions, heads taken away, lengths never
seen. Lesson 6 opens a real language model with your own code.
"""
