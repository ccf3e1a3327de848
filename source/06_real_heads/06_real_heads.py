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
# Lesson 6 · Real Heads

*A real language model · 45 minutes · 40 points*

What the heads of a trained model look at, seen through your own code and measured with scores that you write. An
extension: nothing in the core lessons depends on it.
"""

# %%
import math

import torch
from torch import nn
from torch.nn import functional as F

from course import attention, head_scores, plots
from course.checks import Exam, Question, map_scores, model_heads, similarity
from course.encoding import sinusoidal_encoding
from course.experiment_plots import plot_similarity
from course.live import real_heads
from course.minilm import load_minilm

# %% [markdown]
r"""
## The Question of the First Lesson

*Have you ever wondered how a model can focus on different parts of a sentence at the same time?* So far the answer
was a mechanism: several heads, each with its own row of weights. Now you look at what the heads of a trained model do.

By the end you will be able to:

- load a trained layer's weights into attention code of your own, and prove that they arrived,
- describe a head by numbers instead of by a picture that suits you,
- tell an observation about a map from a claim about the model.

The rule is that of lesson 5: **write down your guess, run, explain the difference.**
"""

# %% [markdown]
r"""
## The Model and Its Slice

*all-MiniLM-L6-v2* turns sentences into vectors for searching and comparing. It is small, and widely used: 6 layers
of 12 heads, width 384, so $d_\text{head}$ is 32. Its licence is Apache 2.0, and the file beside the data says where
the weights come from.

The course ships a slice of it: the embeddings of a few hundred words and of 64 positions, the projections of
layer 0's attention, and the attention maps of all layers for ten sentences. Nothing is downloaded. Numbers are kept in half
precision, which moves no attention weight by more than 0.001.
"""

# %%
model = load_minilm()
sentence = model.sentence("The animal didn't cross the street because it was too tired")
x = model.embed(sentence.tokens)
print(" ".join(sentence.tokens))
print("what layer 0 receives:", tuple(x.shape), "  maps of all layers:", tuple(sentence.maps.shape))

# %% [markdown]
r"""
The model adds two tokens of its own, `[CLS]` at the start and `[SEP]` at the end; they are called *delimiters*. Words
are in lower case, and *didn't* became three tokens. The maps have the axes layer, head, query, key.

Position is in `x` already: the model adds a **learned** vector for each position to the embedding of the word, as in
lesson 5, and normalises the sum.
"""

# %% [markdown]
r"""
## Your Code Inside a Real Model

Paste your `MultiHeadAttentionFromScratch` of lesson 3 into the next cell, in place of the line that is there. Its
four projections need biases, because the model has them: `nn.Linear(embed_dim, embed_dim)` makes them unless told
otherwise. Without lesson 3, leave the line as it is: it takes the course's layer.
"""

# %%
MultiHeadAttentionFromScratch = attention.MultiHeadAttention

# %% [markdown]
r"""
#### Exercise · `load_layer` · 4 points · 5 minutes

*Off the short path.*

Copy a trained layer's weights into `layer`, and return `layer`. About eight lines. The model's file calls its
parts by other names:

| in the file | in the layer |
|---|---|
| `self.query` | `q_proj` |
| `self.key` | `k_proj` |
| `self.value` | `v_proj` |
| `output.dense` | `out_proj` |

- `layer` is an `nn.Module` with `q_proj`, `k_proj`, `v_proj`, `out_proj`, each an `nn.Linear(E, E)` with bias.
- `weights` is a dict with eight tensors: `self.query.weight` (E, E), `self.query.bias` (E,), and so on. Their axes are
  those of `nn.Linear`: (out, in).
- All eight arrive in the layer that was given, and that layer is returned (3 points).
- `weights` and all else about the layer, train or eval mode too, stay as they were; its parameters still ask for
  gradients (1 point).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

A parameter is written to under `with torch.no_grad():`, by its method `copy_`. Assigning to a variable that you
read it into changes nothing.
</details>
<details><summary>Hint 2</summary>

`getattr(layer, "q_proj").weight` is `layer.q_proj.weight`: with it, one loop goes through the table.
</details>
<details><summary>Hint 3</summary>

There is also `layer.load_state_dict`. It wants a dict with the layer's own names.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "load_layer", "locked": false, "schema_version": 3, "solution": true, "task": false}
def load_layer(layer, weights):
    """Copy the eight tensors of weights, named as in the model's file, into the projections of layer; return layer."""
    ### BEGIN SOLUTION
    names = {"self.query": "q_proj", "self.key": "k_proj", "self.value": "v_proj", "output.dense": "out_proj"}
    with torch.no_grad():
        for theirs, ours in names.items():
            projection = getattr(layer, ours)
            projection.weight.copy_(weights[f"{theirs}.weight"])
            projection.bias.copy_(weights[f"{theirs}.bias"])
    return layer
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_load_layer_values", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "load_layer",
    model_heads.loading_values(cases=[(12, 3)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    model_heads.loading_values(cases=[(14, 2), (15, 5), (9, 1)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_load_layer_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "load_layer",
    model_heads.loading_leaves(case=(12, 3)),
)
### BEGIN HIDDEN TESTS
exam.add(
    model_heads.loading_leaves(case=(15, 5)),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
Now the proof. The model's own code, which is not yours, computed the maps in the slice. Your layer gets the model's
weights and the model's input. **Predict** how far its maps are from the model's, at most.
"""

# %%
layer = load_layer(MultiHeadAttentionFromScratch(384, 12), model.checkpoint()).eval()
with torch.no_grad():
    out, weights = layer(x)
difference = (weights[0] - sentence.maps[0]).abs().max().item()
print(f"12 maps of {len(sentence.tokens)} x {len(sentence.tokens)}, largest difference {difference:.4f}")

# %% [markdown]
r"""
What is left is the half precision of the slice. Scale, softmax, the cut into heads, queries and keys: with one of them
wrong, the maps would be far apart. **Your code computes the maps of a real language model.** Values and `out_proj` come after
the maps, so no map speaks for them; that they arrived, the checks of `load_layer` have told you.

Here are the twelve heads of layer 0. Which of them could you describe in a few words?
"""

# %%
plots.attention_maps(weights[0].detach(), sentence.tokens, "Layer 0, your layer")

# %% [markdown]
r"""
## Scores Instead of Impressions

Seventy-two maps for each sentence invite you to find what you are looking for. A score says the same of every head:
one number for each map, by a rule that was fixed before.
"""

# %% [markdown]
r"""
#### Exercise · `previous_token_score` · 3 points · 3 minutes

*Off the short path.*

How much attention does a token give to the one before it, on average? In about one line:

$$\text{score} = \frac{1}{T-1}\sum_{t=1}^{T-1} w_{t,\,t-1}$$

- `weights` is a tensor (..., T, T) of float32 or float64, T at least 2, queries first; the rows sum to 1. Positions
  count from 0, and the first token does not count: it has none before it.
- The score of one map (T, T) is right (2 points).
- Any axes in front stay: maps (L, H, T, T) give a tensor (L, H), and `weights` is left as it was (1 point).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

Write down which entries of a 4 × 4 map are meant. They lie on one line, just below the main diagonal.
</details>
<details><summary>Hint 2</summary>

`weights.diagonal(offset, dim1, dim2)` reads such a line. Without `dim1` and `dim2` it takes the first two axes, which
are the wrong ones for (L, H, T, T).
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "previous_token_score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def previous_token_score(weights):
    """Mean attention of a token to the one before it: weights (..., T, T) -> a tensor (...)."""
    ### BEGIN SOLUTION
    return weights.diagonal(-1, -2, -1).mean(-1)  # (..., T, T) -> (..., T-1) -> (...)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_previous_token_score_map", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "previous_token_score",
    map_scores.neighbour_by_hand(offset=-1, weights=[[0.5, 0.3, 0.2], [0.6, 0.1, 0.3], [0.2, 0.7, 0.1]], expected=0.65),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.neighbour_map(offset=-1, sizes=[5, 7, 2, 11]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_previous_token_score_stack", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "previous_token_score",
    map_scores.stack(shapes=[(2, 3, 5, 5)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.stack(shapes=[(3, 2, 7, 7), (5, 6, 6), (4, 3, 3), (2, 3, 4, 5, 5), (1, 2, 4, 4)]),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
The next two are its sisters.

#### Exercise · `next_token_score` · 1 point · 1 minute

*Off the short path.*

The same for the token **after** each token: the mean of $w_{t,\,t+1}$ over the T − 1 tokens that have one. One line.

- `weights` (..., T, T) gives a tensor (...), as above, and is left as it was (1 point).

<details><summary>Hint</summary>

The line of entries is just above the main diagonal.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "next_token_score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def next_token_score(weights):
    """Mean attention of a token to the one after it: weights (..., T, T) -> a tensor (...)."""
    ### BEGIN SOLUTION
    return weights.diagonal(1, -2, -1).mean(-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_next_token_score", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "next_token_score",
    map_scores.neighbour_by_hand(offset=1, weights=[[0.5, 0.4, 0.1], [0.6, 0.1, 0.3], [0.2, 0.7, 0.1]], expected=0.35),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.neighbour_map(offset=1, sizes=[5, 7, 2, 11]),
    map_scores.stack(shapes=[(3, 2, 7, 7), (5, 6, 6), (4, 3, 3), (1, 2, 4, 4)]),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
#### Exercise · `self_score` · 1 point · 1 minute

*Off the short path.*

The mean of $w_{t,\,t}$: how much attention a token gives to **itself**. One line.

- `weights` (..., T, T) gives a tensor (...), as above, and is left as it was (1 point).

<details><summary>Hint</summary>

All T tokens count: each has itself.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "self_score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def self_score(weights):
    """Mean attention of a token to itself: weights (..., T, T) -> a tensor (...)."""
    ### BEGIN SOLUTION
    return weights.diagonal(0, -2, -1).mean(-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_self_score", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "self_score",
    map_scores.neighbour_by_hand(offset=0, weights=[[0.5, 0.4, 0.1], [0.6, 0.1, 0.3], [0.2, 0.2, 0.6]], expected=0.4),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.neighbour_map(offset=0, sizes=[5, 7, 2, 11]),
    map_scores.stack(shapes=[(3, 2, 7, 7), (5, 6, 6), (4, 3, 3), (1, 2, 4, 4)]),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
#### Exercise · `strongest_head` · 2 points · 2 minutes

*Off the short path.*

Which head has the largest score? In one or two lines.

- `scores` is a tensor (L, H), one score for each head of each layer, negative ones too; the largest
  stands there once.
- The result is a pair `(layer, head)` of whole numbers, not of floats, counted from 0; `scores` is left as it was
  (2 points).

<details><summary>Hint</summary>

`scores.argmax()` counts through all entries, row after row, as if they stood in one line. How many entries does a row
have?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "strongest_head", "locked": false, "schema_version": 3, "solution": true, "task": false}
def strongest_head(scores):
    """(layer, head) of the largest entry of scores (L, H), two ints."""
    ### BEGIN SOLUTION
    return divmod(scores.argmax().item(), scores.shape[1])  # argmax counts through all entries, row by row
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_strongest_head", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "strongest_head",
    model_heads.strongest_by_hand(
        scores=[[0.1, 0.5, 0.2, 0.0], [0.55, 0.5, 0.1, 0.6], [0.1, 0.2, 0.3, 0.05]], expected=(1, 3)
    ),
)
### BEGIN HIDDEN TESTS
exam.add(
    model_heads.strongest(cases=[(6, 12, 3, 1), (3, 5, 2, 4), (7, 2, 0, 1), (4, 9, 1, 0), (1, 6, 0, 4), (5, 1, 3, 0)]),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
**Predict**: among 72 heads, how large is the largest share of attention on the previous token? On the next? On the
token itself? Write three numbers down, then run.
"""

# %%
for score in (previous_token_score, next_token_score, self_score):
    of_heads = score(sentence.maps)  # (L, H)
    best, head = strongest_head(of_heads)
    print(f"{score.__name__:21} layer {best}, head {head}: {of_heads[best, head].item():.2f}")

# %% [markdown]
r"""
One head does nothing but look at the previous token: **layer 0, head 2, with 1.00**. Looking at the next token, in
layer 1, is far less pure, and no head is much interested in the token itself; it comes along anyway, because each
layer's output is *added* to its input.

Is this a property of the head or of the sentence? Nine others are at hand.
"""

# %%
for other in model.sentences:
    previous, following = previous_token_score(other.maps)[0, 2], next_token_score(other.maps)[1, 8]
    print(f"{previous:.2f}  {following:.2f}  {other.text[:60]}")

# %% [markdown]
r"""
The first number is the same for all ten, whatever the words are. The second lies between 0.43 and 0.67. A head's description
should come with such a range.

## Where Attention Rests

#### Exercise · `rest_question` · 2 points · 1 minute

*Off the short path.*

Take the 60 heads of layers 1 to 5. For most of them one kind of key gets the largest share of attention, on average
over the queries of our sentence. Which?

- **A** The token itself.
- **B** A token next to the query.
- **C** The token `[CLS]` at the start.
- **D** The noun *animal*, which the sentence is about.

Answer first; you will measure it in a moment.
"""

# %% nbgrader={"grade": false, "grade_id": "rest_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
rest_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
rest_question = "C"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_rest_question", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
question = Question("rest_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "C",
    {
        "A": "You have measured it: no head gives more than 0.18 to the token itself. Most of them rest on [CLS].",
        "B": "One head clearly gives its neighbours more, head 8 of layer 1. In 57 of the 60 heads [CLS] is the key with the largest share.",
        "C": "In 57 of the 60 heads [CLS] is the key with the largest share, and in 32 of them it gets more than half.",
        "D": "One head does, in layer 5. In 57 of the 60 heads [CLS] is the key with the largest share.",
    },
)
### END HIDDEN TESTS
question.run()

# %% [markdown]
r"""
#### Exercise · `delimiter_score` · 4 points · 4 minutes

*Off the short path.*

How much attention goes to `[CLS]` and `[SEP]`, taken together? In about two lines: for each query the **sum** over
the keys that are delimiters, and then the mean over all T queries.

- `weights` is a tensor (..., T, T), and `tokens` is the list of its T tokens, strings.
- The score of one map is right, where `[CLS]` stands first and `[SEP]` last (3 points).
- It is also right for delimiters in any number and place (two sentences have two `[SEP]`; without any the score is
  0; other tokens in brackets, as `[UNK]`, are none), maps with axes in front give a tensor (...), and `weights` and
  `tokens` are left as they were (1 point).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

Attention *to* a token stands in its column. Which columns are meant? A list of their places is enough.
</details>
<details><summary>Hint 2</summary>

`weights[..., places]` takes the columns in the list `places`. Its last axis is no longer T long: sum over it.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "delimiter_score", "locked": false, "schema_version": 3, "solution": true, "task": false}
def delimiter_score(weights, tokens):
    """Mean attention to the tokens "[CLS]" and "[SEP]", taken together: weights (..., T, T) -> a tensor (...)."""
    ### BEGIN SOLUTION
    places = [place for place, token in enumerate(tokens) if token in ("[CLS]", "[SEP]")]
    return weights[..., places].sum(-1).mean(-1)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_delimiter_score_map", "locked": true, "points": 3, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "delimiter_score",
    map_scores.delimiter_by_hand(
        weights=[[0.5, 0.3, 0.2], [0.6, 0.1, 0.3], [0.2, 0.3, 0.5]], tokens=["[CLS]", "dog", "[SEP]"], expected=2.3 / 3
    ),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.delimiter_map(sizes=[5, 7, 4, 11]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_delimiter_score_any", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "delimiter_score",
    map_scores.delimiter_any(cases=[((2, 3), ["[CLS]", "dog", "[SEP]", "[UNK]", "[SEP]", "."])]),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.delimiter_any(
        cases=[
            ((3, 2), ["dog", "[CLS]", "[", "bites", "]", "[SEP]", "man"]),
            ((5,), ["[CLS]", "a", "b", "[SEP]", "c", "d", "[SEP]"]),
            ((), ["dog", "bites", "[SEP]"]),
            ((1, 2), ["[CLS]", "dog", "bites", "[SEP]"]),
            ((2, 4), ["dog", "bites", "man"]),
        ]
    ),
)
### END HIDDEN TESTS
exam.run()

# %%
to_delimiters = delimiter_score(sentence.maps, sentence.tokens)  # (6, 12)
shares = sentence.maps[1:].mean(-2)  # (5, 12, T): how much each key gets, averaged over the queries
print("delimiters, mean of each layer:", [round(value, 2) for value in to_delimiters.mean(1).tolist()])
print("heads of layers 1-5 where [CLS] gets most:", (shares.argmax(-1) == 0).sum().item(), "of 60")
print("                  where it gets over half:", (shares[..., 0] > 0.5).sum().item(), "of 60")

# %% [markdown]
r"""
From layer 1 on, about half of all attention goes to two tokens that no one wrote. A row of weights must sum to 1: a
head that finds nothing to do for a query has to put it somewhere, and `[CLS]` is always there. Many papers read it
as a place to **rest**; whether resting means doing nothing depends on the values there, which a map does not show.

So beware of pictures in which the delimiters were left out: they hide this. And beware of averages over heads: about half
of what they show is this, and the few heads that do something else drown in it.
"""

# %% [markdown]
r"""
#### Exercise · `attention_entropy` · 4 points · 4 minutes

*Off the short path.*

How widely does a head look? The entropy of a query's row, in **bits**, averaged over the queries. In about two lines:

$$\text{entropy} = \frac{1}{T}\sum_{t}\Big(-\sum_{s} w_{t,s}\log_2 w_{t,s}\Big), \qquad 0\,\log_2 0 = 0$$

It is 0 when each query looks at one token, and $\log_2 T$ when all tokens get the same.

- `weights` is a tensor (..., T, T) of float32 or float64. For one map without zeros the value is right, within 1e-5
  (2 points).
- Weights of exactly 0 add nothing, and nothing becomes NaN (1 point).
- Any axes in front stay, and `weights` is left as it was (1 point).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

`weights.log2()` gives the logarithms. For zeros it gives −inf, and 0 · (−inf) is NaN. Where a weight is 0, what
should be added?
</details>
<details><summary>Hint 2</summary>

Several ways lead there: `torch.where`, `nan_to_num` on the products, a `clamp` of what goes into the logarithm, or
`torch.xlogy(w, w)`, which is $w \ln w$ with zeros done right. How does one get from ln to log2?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "attention_entropy", "locked": false, "schema_version": 3, "solution": true, "task": false}
def attention_entropy(weights):
    """Mean entropy of the rows of weights (..., T, T) in bits: a tensor (...)."""
    ### BEGIN SOLUTION
    nats = -torch.xlogy(weights, weights).sum(-1)  # (..., T); xlogy takes 0 log 0 for 0
    return nats.mean(-1) / math.log(2)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_attention_entropy_map", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "attention_entropy",
    map_scores.entropy_by_hand(weights=[[0.25, 0.25, 0.25, 0.25], [0.5, 0.25, 0.125, 0.125]] * 2, expected=1.875),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.entropy_map(sizes=[5, 7, 2, 11]),
    map_scores.entropy_small(size=16),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_attention_entropy_zeros", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "attention_entropy",
    map_scores.entropy_zeros(
        cases=[[[1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.5, 0.25, 0.25, 0.0], [0.0, 0.5, 0.5, 0.0]]]
    ),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.entropy_zeros(
        cases=[
            [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
            [[0.0, 0.25, 0.5, 0.25], [0.0, 0.0, 1.0, 0.0], [0.5, 0.25, 0.125, 0.125], [0.5, 0.0, 0.0, 0.5]],
        ]
    ),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_attention_entropy_stack", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "attention_entropy",
    map_scores.stack(shapes=[(2, 3, 5, 5)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    map_scores.stack(shapes=[(3, 2, 7, 7), (5, 6, 6), (4, 3, 3), (2, 3, 4, 5, 5), (1, 2, 4, 4)]),
    map_scores.entropy_keeps(weights=[[1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]),
)
### END HIDDEN TESTS
exam.run()

# %%
spread = attention_entropy(sentence.maps)  # (6, 12)
for name, (place, head) in (("narrowest", strongest_head(-spread)), ("widest", strongest_head(spread))):
    bits = spread[place, head].item()
    print(f"{name:9} layer {place}, head {head:2}: {bits:.2f} bits, {2**bits:.1f} tokens")

# %% [markdown]
r"""
Two to the power of the entropy is a number of tokens: over how many a head spreads its attention. The head that looks at the
previous token is the narrowest of all; the widest gives something to most of the sentence, like an average.

Now walk through the heads. In the explorer, choose a layer, a head and a sentence; the lines show where one token
looks, and the words below are the scores. It calls your entropy too, and says whether it agrees. Find a head in the
upper layers that does *not* rest on `[CLS]`.
"""

# %%
real_heads.explore(attention_entropy, layer=1, head=8)

# %% [markdown]
r"""
## What a Head Is Made Of

Head 2 of layer 0 finds the previous token. Does it know it by its words, which often come in pairs, or by its place?
Take the position vectors away from what layer 0 receives, and look again. Nothing else is taken away.
"""

# %% [markdown]
r"""
#### Exercise · `position_question` · 2 points · 1 minute

*Off the short path.*

Head 2 of layer 0 gives 1.00 to the previous token of our 16. What is left of it without the position vectors?

- **A** About 1.00: the head has learned which words follow each other.
- **B** About 0.5: half of it is words and half is place.
- **C** About 0.1: hardly more than if it spread its attention evenly.
- **D** Exactly 0: without positions the head attends to nothing.
"""

# %% nbgrader={"grade": false, "grade_id": "position_question", "locked": false, "schema_version": 3, "solution": true, "task": false}
position_question = ""  # one letter, between the quotes
### BEGIN SOLUTION
position_question = "C"
### END SOLUTION

# %% nbgrader={"grade": true, "grade_id": "test_position_question", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
question = Question("position_question", letters="ABCD")
### BEGIN HIDDEN TESTS
question.key(
    "C",
    {
        "A": "The words are all still there, and 0.11 is left of 1.00: the head finds its token by place.",
        "B": "Words do not carry half of it: 0.11 is left, where an even spread would give 0.06.",
        "C": "0.11 is left, where an even spread would give 1/16 = 0.06: position is what this head is made of.",
        "D": "A row of weights always sums to 1: the attention goes elsewhere. To the previous token go 0.11 of it.",
    },
)
### END HIDDEN TESTS
question.run()

# %%
with torch.no_grad():
    _, blind = layer(model.embed(sentence.tokens, positions=False))
with_positions, without = previous_token_score(weights[0]), previous_token_score(blind[0])
print(f"head 2 on the previous token: {with_positions[2]:.2f} with positions, {without[2]:.2f} without")
plots.side_by_side(
    {"with positions": weights[0, 2].detach(), "without": blind[0, 2].detach()}, "key", "query", "Layer 0, head 2"
)

# %% [markdown]
r"""
**Position is what that head is made of.** This was an intervention, not a look at a map: one thing was changed, and
the effect was measured. That is the stronger kind of evidence.

Do the other heads of the layer need positions as much? Move the explorer's head through layer 0, with positions off and
on. It runs your layer beside the course's.
"""

# %%
real_heads.explore(MultiHeadAttentionFromScratch, layer=0, head=2, positions=False)

# %% [markdown]
r"""
## Not All Heads Matter Alike

You have taken positions away. Now take heads away, one at a time.
"""

# %% [markdown]
r"""
#### Exercise · `head_importance` · 5 points · 5 minutes

*Off the short path.*

How far does the output of a layer move when one head is taken away? For every head in turn, the mean absolute
difference between the layer's output and its output without that head, over all B · T · E entries. About four lines.

- `layer` is a `MultiHeadAttention` of `course.attention`, in eval mode: `layer(x)` returns (out, weights), and
  `layer.num_heads` is H. `attention.ablate_head(layer, x, head)` gives the output (B, T, E) without one head.
- For `x` (B, T, E) the result is a tensor (H,): entry h belongs to head h (4 points).
- The result is a tensor that carries no gradient, and the layer and `x` are left as they were (1 point).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

Compute the whole output once, and then one number for each head in `range(layer.num_heads)`.
</details>
<details><summary>Hint 2</summary>

Differences of opposite sign cancel in a mean: take `.abs()` first. `torch.stack` makes one tensor of a list of
tensors without axes.
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "head_importance", "locked": false, "schema_version": 3, "solution": true, "task": false}
def head_importance(layer, x):
    """Mean absolute change of the output of layer for x (B, T, E) when each head alone is removed: a tensor (H,)."""
    ### BEGIN SOLUTION
    with torch.no_grad():
        whole, _ = layer(x)
        moves = [(whole - attention.ablate_head(layer, x, head)).abs().mean() for head in range(layer.num_heads)]
    return torch.stack(moves)
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_head_importance_values", "locked": true, "points": 4, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "head_importance",
    model_heads.importance_values(cases=[(2, 5, 12, 3)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    model_heads.importance_values(cases=[(3, 5, 12, 4), (2, 7, 15, 3), (1, 6, 10, 5), (4, 3, 14, 2)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_head_importance_kept", "locked": true, "points": 1, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "head_importance",
    model_heads.importance_leaves(case=(2, 5, 12, 3)),
)
### BEGIN HIDDEN TESTS
exam.add(
    model_heads.importance_leaves(case=(3, 4, 15, 5)),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
**Predict**: is head 2, whose map is the clearest, also the one that moves the output most? And by what factor do the
first and the last of the twelve differ?
"""

# %%
whole_layer = model.load_into(attention.MultiHeadAttention(384, 12)).eval()
for other in model.sentences:
    moves = head_importance(whole_layer, model.embed(other.tokens))
    ranking = moves.argsort(descending=True).tolist()
    print(f"{other.text[:12]:12}  {ranking}  factor {moves.max() / moves.min():.1f}")

# %% [markdown]
r"""
Head 4 leads on all ten sentences. You would not have picked it from its map: on our sentence its attention is spread over
some nine tokens of 16, and the previous token, the next, the token itself and the delimiters get less than 0.3 each.
What a head *looks at* and what it *does to the output* are two questions.

Not all heads matter alike. Studies that removed heads from trained models found that many can go at little cost.
Ours is a smaller statement: how far one layer's output moves. Whether the model's *answers* suffer would take the
whole model and a task.
"""

# %% [markdown]
r"""
## Learned Positions Beside the Sinusoids

The 64 position vectors of the slice were learned from nothing but text. Do they know, as sinusoids do, that 3 is near 4?

#### Exercise · `cosine_by_distance` · 4 points · 4 minutes

*Off the short path.*

How alike are two vectors that stand k positions apart? In about four lines:

$$\text{result}_k = \frac{1}{T-k}\sum_{p=0}^{T-1-k} \cos(\text{vectors}_p,\ \text{vectors}_{p+k})$$

- `vectors` is a tensor (T, d). The result is a tensor (T,): entry k belongs to distance k, from 0 to T − 1.
- It is right for vectors that have length 1 (2 points).
- It does not change when vectors are made longer or shorter, each by another factor, and `vectors` is left as it
  was (2 points).
"""

# %% [markdown]
r"""
<details><summary>Hint 1</summary>

The cosine of two vectors is the dot product of their directions. `F.normalize(vectors, dim=-1)` gives directions.
</details>
<details><summary>Hint 2</summary>

One matrix product gives all T × T cosines. Which of its diagonals belongs to distance k?
</details>
"""


# %% nbgrader={"grade": false, "grade_id": "cosine_by_distance", "locked": false, "schema_version": 3, "solution": true, "task": false}
def cosine_by_distance(vectors):
    """Mean cosine of the vectors (T, d) that stand k positions apart, for k = 0 ... T-1: a tensor (T,)."""
    ### BEGIN SOLUTION
    directions = F.normalize(vectors, dim=-1)
    cosines = directions @ directions.T  # (T, T)
    return torch.stack([cosines.diagonal(k).mean() for k in range(len(vectors))])
    ### END SOLUTION


# %% nbgrader={"grade": true, "grade_id": "test_cosine_by_distance_units", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "cosine_by_distance",
    similarity.cosine_of_units(cases=[(6, 4)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    similarity.cosine_of_units(cases=[(7, 5), (5, 9), (2, 3), (11, 4)]),
)
### END HIDDEN TESTS
exam.run()


# %% nbgrader={"grade": true, "grade_id": "test_cosine_by_distance_lengths", "locked": true, "points": 2, "schema_version": 3, "solution": false, "task": false}
exam = Exam(
    "cosine_by_distance",
    similarity.cosine_of_any(cases=[(6, 4)]),
)
### BEGIN HIDDEN TESTS
exam.add(
    similarity.cosine_of_any(cases=[(7, 5), (5, 9), (2, 3), (11, 4)]),
)
### END HIDDEN TESTS
exam.run()

# %% [markdown]
r"""
**Predict**: two curves over distances 0 to 63. Which falls faster at first? Which is smoother? Does either fall all
the way down?
"""

# %%
learned = cosine_by_distance(model.position_vectors)
fixed = cosine_by_distance(torch.as_tensor(sinusoidal_encoding(64, 384), dtype=torch.float32))
for k in (1, 2, 3, 5, 10, 20, 50):
    print(f"distance {k:2}: learned {learned[k]:.2f}, sinusoidal {fixed[k]:.2f}")
plot_similarity({"learned": learned, "sinusoidal": fixed})

# %% [markdown]
r"""
**Alike**: neighbours are the most similar, and both curves fall at first. Nobody told the model that positions form a
line; text did. Neither is a measuring tape: the learned one rises again and again, the other falls ever more slowly.

**Not alike**: two sinusoids at one distance have the same cosine wherever they stand, while the learned curve is a mean
over pairs that differ. It moves in waves, back up to about 0.65 at distances 6 and 12, down to nothing at 21. The sinusoids
keep 0.48 or more at any distance here, because their slow columns hardly move.

This is about the vectors. What a head makes of them, you have seen in head 2.
"""

# %% [markdown]
r"""
## Attention Is Evidence, Not Explanation

The first lesson's sentence: *it* is the animal when it was too **tired**, and the street when it was too **wide**. If
heads follow that, the attention of *it* should move from *animal* to *street*.

**Predict**, then run: where do the two heads that send *it* to *animal* most strongly send it in the second sentence?
"""

# %%
animal = head_scores.attention_between(sentence.maps, sentence.tokens, "it", "animal")  # (6, 12)
top = animal.flatten().topk(2).indices.tolist()
for ending in ("tired", "wide"):
    read = model.sentence(f"The animal didn't cross the street because it was too {ending}")
    for place in top:
        map_of_head, name = read.maps.flatten(0, 1)[place], divmod(place, 12)
        to = {key: head_scores.attention_between(map_of_head, read.tokens, "it", key) for key in ("animal", "street")}
        print(f"too {ending:5}  layer {name[0]}, head {name[1]:2}: " + ", ".join(f"{k} {v:.2f}" for k, v in to.items()))

# %% [markdown]
r"""
Both heads send *it* to *animal* with about 0.7 when it was tired. When it was wide, one of them lets go of most of
that, the other of little, and **neither** goes to *street*.

Before you write, look around: the explorer below has both sentences; choose a token, and other heads. Which heads
look at *street*, and in which of the two sentences?
"""

# %%
real_heads.explore(layer=3, head=1, token=10)

# %% [markdown] nbgrader={"grade": false, "grade_id": "evidence", "locked": true, "points": 8, "schema_version": 3, "solution": false, "task": true}
r"""
#### Exercise · `evidence` · 8 points · 8 minutes

*Off the short path.*

A blog post shows the map of layer 3, head 1 for "… too tired" and says: *the model has understood that "it" is the
animal.* Reply in 150 to 250 words:

1. the **figures**: what you measured for *it* in both sentences, with layer and head,
2. what they are **evidence for**, in a sentence that you would defend,
3. what they do **not** show, with two reasons from this lesson or from your own figures,
4. an **experiment** that would test the claim better, and what you would expect if the claim were true.

### BEGIN MARK SCHEME
Eight points; half points are possible. Notes are as good as prose.

**Figures (2 points).** 2: attention from "it" to "animal" and to "street" in both sentences, with layer and head,
as the outputs show (layer 3 head 1: 0.68 and 0.05 for tired, 0.28 and 0.12 for wide; layer 5 head 11: 0.67 and
0.02, 0.56 and 0.04). 1: one sentence only, or no "street". 0: none, or such as the notebook does not show.

**Evidence for (1 point).** A claim of the size of the figures: these two heads attend from "it" mostly to "animal"
in this sentence, and one of them less so when the ending changes. "The model understands" or "this is a coreference
head": 0.

**Not shown (3 points).** 1.5 points a reason, up to two: the heads do not turn to "street" when it is meant; two
heads of 72 were picked because they fit; one or two sentences; a weight says where a head looks and not what it
takes from there (values) or what becomes of it (head 4 of layer 0 moves the output most and has no clear map); most
attention rests on [CLS]; the same tokens at the same places may be attended to for other reasons (position, being a
noun, being the subject); upper layers mix tokens, so that position "animal" no longer holds the word alone.

**Experiment (2 points).** 1: an intervention or a controlled comparison, not another map of one sentence (remove
the head and see whether an output changes that depends on the referent; many sentence pairs that differ in one
word; swap the nouns' places; compare with heads drawn at random). 1: the outcome to expect if the claim were true.
### END MARK SCHEME
"""

# %% [markdown] course={"answer_to": "evidence"}
r"""
*Write your answer here.*
"""

# %% [markdown]
r"""
## Where You Are

*How can a model focus on different parts of a sentence at the same time?* You have measured it: heads run side by
side, each with weights of its own. One looks at the previous token, one in the layer above at the next, several spread
widely, and many rest. You saw it with your own code, described it by scores, and tested it by taking positions and heads
away.

Three habits to keep: score before you look, intervene before you explain, and give the range along with the number.
"""
