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
# Lesson 1 · Foundations

*Sections 1 to 3 · 30 minutes · 10 points*

What multi-head attention and positional encoding are for, in words, in pictures and in two small functions of your own.
"""

# %%
import numpy as np
import torch

from course import attention, plots
from course.live import head_splitter, order_bench

# %% [markdown]
r"""
## 1. Welcome and Introduction (5 minutes)

### Icebreaker Activity

Have you ever wondered how a model can focus on different parts of a sentence at the same time? Or how it knows the
order of words when there are no loops or recurrence?

Read this sentence: *The animal didn't cross the street because it was too tired.* To understand **it**, you looked back at
*animal*. To understand **tired**, you looked at *was* and at *it*. You did both without re-reading the sentence from
the left. Write down, for yourself, which words the word **cross** needs. You will meet this sentence again, in a real
language model, in lesson 6.
"""

# %% [markdown]
r"""
### Lesson Overview

- **Duration:** about 2.5 hours with all exercises of lessons 1 to 4, or 60 or 90 minutes on a short path. Each
  exercise says which path it is on. Lessons 5 and 6 are optional.
- **Prerequisites:** Python, an understanding of self-attention, basic neural network concepts.
- **Materials needed:** Python (Jupyter or an IDE), NumPy, PyTorch, and the sample sentences that come with the course.

Nearly every exercise has the same four beats: what to write, a cell to write it in, a check that you can see and run as
often as you like, and hidden tests that run once you have handed in. When a check fails, it says what it saw
and what to look at.
"""

# %% [markdown]
r"""
## 2. Learning Objectives and Session Outline (5 minutes)

By the end of this lesson, which is made up of notebooks 1 to 4, you will be able to:

- explain the purpose and mechanics of multi-head attention,
- describe and implement positional encoding,
- analyse how these components enhance the Transformer architecture.

### What We'll Cover Today

1. The motivation for multi-head attention (lesson 1)
2. How multi-head attention works and why it is effective (lesson 2)
3. The need for positional encoding in Transformers (lessons 1 and 2)
4. Implementing and visualising positional encoding (lessons 2 and 3)
5. Hands-on practice and exercises (lesson 3)
6. Common pitfalls and how to avoid them (lesson 4)
"""

# %% [markdown]
r"""
### Success Criteria

By the end of this session, you should be able to implement and explain both multi-head attention and positional
encoding in the context of Transformers. *Implement* means: your own code passes the tests of lessons 2 and 3. *Explain*
means: you can say, with figures that you measured, what a head does and what is lost without positions.
"""

# %% [markdown]
r"""
## 3. Foundation Knowledge (15-20 minutes)

### Core Concepts

Attention answers one question for every token, that is, for every word or piece of a word: *which tokens matter to me,
and how much?* The answer is a row of weights, one for each token of the sentence and all at least 0, that sum to 1. What
the token gets is an average: every token, itself included, hands over one vector, its *value*, and the weights say how
much of it counts. Everything in this course is built on that average, so write it first.
"""

# %% [markdown]
r"""
#### Exercise · `weighted_average` · 3 points · 5 minutes

*On the 90-minute path.*

Average the rows of `values` with each row of `weights`, in about one line:

$$\text{out}_{t} = \sum_{s} \text{weights}_{t,s}\;\text{values}_{s}$$

- `weights` is a NumPy array (T, S): a row for each of T tokens that look, a number in it for each of S tokens that are
  looked at. Each row already sums to 1. `values` is a NumPy array (S, d).
- The result is a NumPy array (T, d) with the averages, for any T, S and d (2 points).
- It has the dtype of the arguments, float32 or float64, and the arguments stay as they are (1 point).

<details><summary>Hint 1</summary>

Do one row on paper: with weights 0.25 and 0.75, how much of each value is in the result?
</details>
<details><summary>Hint 2</summary>

A sum of products over a shared index is what a matrix product computes. Which index is shared here?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "weighted_average", "locked": false, "schema_version": 3, "solution": true, "task": false}
def weighted_average(weights, values):
    """Average values (S, d) with each row of weights (T, S): an array (T, d) of the same dtype."""
    ### BEGIN SOLUTION
    return weights @ values  # (T, S) @ (S, d) -> (T, d)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_weighted_average_values", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, averages

exam = Exam(
    "weighted_average",
    averages.average_shape(queries=1, keys=2, width=3),
    averages.average_by_hand(weights=[[0.25, 0.75]], values=[[8.0, 0.0], [0.0, 4.0]], expected=[[2.0, 3.0]]),
)
### BEGIN HIDDEN TESTS
exam.add(
    averages.average_by_hand(
        weights=[[1.0, 0.0, 0.0], [0.5, 0.0, 0.5]],
        values=[[2.0, -1.0], [9.0, 9.0], [4.0, 5.0]],
        expected=[[2.0, -1.0], [3.0, 2.0]],
    ),
    averages.average_sizes(cases=[(5, 3, 7), (3, 7, 2), (1, 6, 4), (4, 4, 4), (6, 1, 5)]),
)
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_weighted_average_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, averages

exam = Exam(
    "weighted_average",
    averages.average_by_hand(weights=[[0.25, 0.75]], values=[[8.0, 0.0], [0.0, 4.0]], expected=[[2.0, 3.0]]),
    averages.average_keeps(queries=2, keys=3, width=1),
)
### BEGIN HIDDEN TESTS
exam.add(
    averages.average_by_hand(
        weights=[[0.0, 0.0, 1.0], [0.5, 0.5, 0.0]],
        values=[[2.0, -1.0], [4.0, 5.0], [9.0, 7.0]],
        expected=[[9.0, 7.0], [3.0, 2.0]],
    ),
    averages.average_keeps(queries=3, keys=5, width=2),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
### Multi-Head Attention

Multi-head attention allows the model to attend to information from different representation subspaces at different
positions. Instead of performing a single attention function, the model runs several attention operations (*heads*) in
parallel, each with its own set of learned projections.

A *projection* is a learned matrix. The three of a head make from every token a *query* (what it looks for), a *key* (what
it offers) and a *value* (what it hands over).
"""

# %% [markdown]
r"""
**Real-world analogy.** Imagine a team of experts, each focusing on a different aspect of a problem. By combining their
insights, you get a more comprehensive understanding. The analogy has a limit: nobody tells a head what to be an expert
in. What a head looks at is learned, it is often hard to name, and several heads may learn the same thing.
"""

# %% [markdown]
r"""
**Why this matters.** One head gives one row of weights per token: a single way of looking around. To look at the verb
with most of its weight, it must take that weight from everything else. Several heads look in several ways at once, so the model
can capture various types of relationships and patterns in the data, and understand complex sequences better.

A token's vector has `d_model` numbers. Its queries in all the heads together have as many, and so have its keys and its
values: of 8 columns, each of two heads gets four. Each of these four is computed from the token's whole vector.
"""

# %%
plots.head_columns(d_model=8, num_heads=2)

# %% [markdown]
r"""
#### Exercise · `head_width` · 2 points · 3 minutes

*On the 60- and the 90-minute path.*

Return the number of columns that each head gets, in about three lines: $d_\text{head} = d_\text{model} / H$, where H
is `num_heads`.

- The result is an `int`, for any positive `d_model` that is a multiple of `num_heads` (1 point).
- When `d_model` is not a multiple of `num_heads`, raise `ValueError` (1 point). Its message is for the
  reader: let it name both numbers.

<details><summary>Hint 1</summary>

Python has two divisions. Which one gives an `int`?
</details>
<details><summary>Hint 2</summary>

`%` gives the remainder. When it is not 0, some columns would be left over.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "head_width", "locked": false, "schema_version": 3, "solution": true, "task": false}
def head_width(d_model, num_heads):
    """Width of one head, an int. ValueError when d_model is not a multiple of num_heads."""
    ### BEGIN SOLUTION
    if d_model % num_heads:
        raise ValueError(f"d_model {d_model} is not a multiple of num_heads {num_heads}")
    return d_model // num_heads
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_head_width_values", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads

exam = Exam("head_width", heads.widths(cases=[(8, 2, 4)]))
### BEGIN HIDDEN TESTS
exam.add(heads.widths(cases=[(12, 3, 4), (35, 5, 7), (7, 7, 1), (9, 1, 9), (384, 12, 32)]))
### END HIDDEN TESTS
exam.run()

# %% nbgrader={"grade": true, "grade_id": "test_head_width_error", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Exam, heads

exam = Exam("head_width", heads.refuses_uneven(cases=[(8, 3)]))
### BEGIN HIDDEN TESTS
exam.add(heads.refuses_uneven(cases=[(9, 2), (10, 4), (3, 6), (100, 7)]))
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
**Predict, then move.** In the explorer below, the columns of a sentence's tokens are cut into heads, and each head shows its
*attention map*: its weights, with a row for each query. Before you touch the head count: what will happen to the number of
maps, to $d_\text{head}$, and to the number of parameters when you go from 2 heads to 4? Then choose 3 heads, a number that
does not divide the width, and read what it says.
"""

# %%
head_splitter.explore(num_heads=2)

# %% [markdown]
r"""
The number of maps doubled and each head became half as wide. The number of parameters did not change: more heads
re-partition the same columns. What grows is the memory for the maps, one number for each head and each pair of
tokens. You will count both in lesson 2.
"""

# %% [markdown]
r"""
### Positional Encoding

Transformers lack recurrence. An attention layer without a mask, in which every token may look at all the others, treats
the sentence as a set of vectors: it has no sense of word order. Positional encoding injects information about the
position of each token into the model, so that it can distinguish between different orders of the same tokens.

In the original Transformer the position enters once, at the bottom, as a vector that is added to the *embedding*, the
vector that stands for the word itself:
"""

# %%
plots.position_added()

# %% [markdown]
r"""
You may have heard that attention can *never* know the order of words without an encoding. That is true without a
mask. With a causal mask, where each token sees only itself and what came before, a model of two layers can learn order
by itself; lesson 5 trains one that does.

Now predict what a layer without a mask and without positions makes of two sentences with the same words.
"""

# %% [markdown]
r"""
#### Exercise · `order_question` · 2 points · 3 minutes

*On the 60- and the 90-minute path.*

A self-attention layer, with no mask and no positional encoding, reads *dog bites man* and then *man bites dog*. Which
statement is true?

- **A** Both outputs are the same array, row by row.
- **B** Each word gets the same output vector in both sentences; the rows stand in another order.
- **C** The output vector of *dog* differs, because in the second sentence *dog* comes last.
- **D** With one head the sentences cannot be told apart, but with several heads they can.

Answer first; the cell after the check shows what happens.
"""

# %% nbgrader={"grade": false, "grade_id": "order_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
order_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
order_question = "B"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_order_question", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("order_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "B",
    {
        "A": "The layer is permutation equivariant, not invariant: when the inputs change places, the outputs change places with them.",
        "B": "The layer is permutation equivariant: each word attends to the same set of words in both sentences, so only the rows move.",
        "C": "Nothing in the layer knows that a word comes last: the weights depend on the vectors alone, and the set of vectors is the same.",
        "D": "Every head computes its weights from the vectors alone, so each of them is as blind to order as one head is.",
    },
)
### END HIDDEN TESTS
question.run()

# %%
layer = attention.MultiHeadAttention(embed_dim=8, num_heads=2)
words = {word: torch.randn(8) for word in ("dog", "bites", "man")}
with torch.no_grad():
    first, _ = layer(torch.stack([words[w] for w in ("dog", "bites", "man")])[None])  # (1, T, 8)
    second, _ = layer(torch.stack([words[w] for w in ("man", "bites", "dog")])[None])
print("same array:          ", torch.allclose(first, second, atol=1e-6))
print("same vector for dog: ", torch.allclose(first[0, 0], second[0, 2], atol=1e-6))

# %% [markdown]
r"""
The sentences mean different things, and the layer gives every word the same vector in both. When the inputs change
places, the outputs change places with them, and that is all: the layer is *permutation equivariant*. Shuffle a sentence
yourself below. The *equivariance error* says how far the outputs are from having moved along with the words: without an
encoding it is zero, up to rounding. Switch to *sinusoidal* or *learned* and the error appears: that difference is what a model can
use to tell orders apart. The fourth setting, *along the batch*, is a mistake. **Predict** what it does to the error.
"""

# %%
order_bench.explore()

# %% [markdown]
r"""
### Key Terminology

Three terms carry the rest of the course. Match each with its description.

#### Exercise · `key_terms` · 3 points · 4 minutes

*Off the short path.*

One point for each term. Two descriptions are left over.

- **A** A vector that is added to an input embedding and depends on where the token stands.
- **B** A learned linear transformation that makes queries, keys or values from token vectors.
- **C** One of several attention mechanisms that run in parallel, each with its own queries, keys and values.
- **D** The matrix of weights with which the tokens of a sentence look at one another.
- **E** A table with one vector for each word of the vocabulary.
"""

# %% nbgrader={"grade": false, "grade_id": "key_terms", "locked": false, "schema_version": 3, "solution": true, "task": false}
key_terms = {"head": "", "projection": "", "positional encoding": ""}  # a letter for each
### BEGIN SOLUTION
key_terms = {"head": "C", "projection": "B", "positional encoding": "A"}
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_key_terms_head", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("key_terms", letters="ABCDE", item="head")
### BEGIN HIDDEN TESTS
question.key(
    "C",
    {
        "A": "That vector says where a token stands. A head is a whole attention mechanism, with maps of its own.",
        "B": "A head uses three such transformations, but it goes on from there: it compares, normalises and averages.",
        "C": "Each head has its own queries, keys and values, and therefore its own map.",
        "D": "That matrix is what a head computes on the way; the head is the mechanism that computes it.",
        "E": "That table makes the input embeddings, before any attention. A head compares the vectors that come out of it.",
    },
)
### END HIDDEN TESTS
question.run()

# %% nbgrader={"grade": true, "grade_id": "test_key_terms_projection", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("key_terms", letters="ABCDE", item="projection")
### BEGIN HIDDEN TESTS
question.key(
    "B",
    {
        "A": "That vector is added. A projection multiplies: it is a matrix that is learned.",
        "B": "Q, K and V are three projections of the same tokens, and each head has its own columns of them.",
        "C": "That mechanism starts with projections and does more: a projection alone compares nothing.",
        "D": "Those weights are computed anew for each sentence. A projection is learned once and then used for all of them.",
        "E": "A table is looked up by word. A projection is a linear map that is applied to a vector.",
    },
)
### END HIDDEN TESTS
question.run()

# %% nbgrader={"grade": true, "grade_id": "test_key_terms_positional_encoding", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
from course.checks import Question

question = Question("key_terms", letters="ABCDE", item="positional encoding")
### BEGIN HIDDEN TESTS
question.key(
    "A",
    {
        "A": "It depends on the position alone, whatever the word, and it is added to the word's embedding.",
        "B": "A linear transformation treats every position alike, so it cannot say where a token stands.",
        "C": "An attention mechanism without positions is blind to order; the encoding is what it is given to see it.",
        "D": "Those weights are what comes out of attention. The encoding goes in, before attention runs.",
        "E": "That table knows the word and not its place: the same word has the same row wherever it stands.",
    },
)
### END HIDDEN TESTS
question.run()

# %% [markdown]
r"""
### Where you are

You have written the average that attention is made of, you can say how wide a head is, and you have seen that a layer without
positions is blind to order. Lesson 2 opens the box: how the weights come about, and the code line by line.
"""
