"""The mask bench: one boolean mask, what it does, and how PyTorch's two conventions read it."""

from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from course import attention
from course.live import student
from course.live.charts import matrix, with_colour_scale
from course.live.explorer import Explorer
from course.live.parameters import Choice, Flag, Whole
from course.live.picture import Frame
from course.live.sentence import WORDS, queries_and_keys
from course.live.wording import counted
from course.seeding import seeded
from course.wording import noun

MAX_TOKENS, WIDTH = 32, 8
NONE, CAUSAL, PADDING, BOTH = "none", "causal", "padding", "both"
PARAMETERS = (
    Whole("seq_len", "Tokens", 8, 1, MAX_TOKENS),
    Whole("padding", "Padded keys", 2, 0, MAX_TOKENS),
    Choice("mask", "Mask", CAUSAL, (NONE, CAUSAL, PADDING, BOTH)),
    Flag("inverted", "Invert the mask"),
)
EXERCISES = ("scaled_dot_product_attention",)


def explore(student_function=None, **initial):
    """An explorer of masks; takes a ``scaled_dot_product_attention``."""
    return Explorer("Mask bench", PARAMETERS, partial(frame, student_function), initial)


class Masked(NamedTuple):
    """All (T, T): the mask, True = may attend, and the weights of three readers of the same tensor."""

    mask: np.ndarray
    course: np.ndarray
    sdpa: np.ndarray
    multihead: np.ndarray


@lru_cache(maxsize=32)
def compute(seq_len, padding, mask, inverted):
    """The mask and the weights under it, read by the course and by PyTorch's two conventions."""
    allowed = build_mask(seq_len, padding, mask, inverted)
    q, k = queries_keys(seq_len)
    course = attention.masked_softmax(attention.attention_scores(q, k), allowed)
    # With the identity as values, what comes out of F.scaled_dot_product_attention are the weights.
    sdpa = F.scaled_dot_product_attention(q, k, torch.eye(seq_len)[None, None], attn_mask=allowed)
    _, multihead = plain_multihead()(q[0], k[0], k[0], attn_mask=allowed[0, 0])
    return Masked(*(x.numpy() for x in (allowed[0, 0], course[0, 0], sdpa[0, 0], multihead[0])))


def queries_keys(seq_len):
    """Queries and keys (1, 1, T, 8)."""
    return tuple(x[None, None, :seq_len, :WIDTH].contiguous() for x in queries_and_keys())


def build_mask(seq_len, padding, mask, inverted):
    """The mask (1, 1, T, T), True = may attend; the last ``padding`` keys are padding."""
    allowed = torch.ones(1, 1, seq_len, seq_len, dtype=torch.bool)
    if mask in (CAUSAL, BOTH):
        allowed = allowed & attention.causal_mask(seq_len)
    if mask in (PADDING, BOTH):
        allowed = allowed & attention.padding_mask([max(0, seq_len - padding)], seq_len)
    return ~allowed if inverted else allowed


@cache
def plain_multihead():
    """nn.MultiheadAttention with one head whose projections change nothing: it sees the very same q and k."""
    with seeded(0):
        layer = nn.MultiheadAttention(WIDTH, 1, bias=False, batch_first=True).eval().requires_grad_(False)
    layer.in_proj_weight.copy_(torch.eye(WIDTH).repeat(3, 1))
    return layer


def frame(function, seq_len, padding, mask, inverted):
    """The frame for these parameters, with the student's function beside the course's where there is one."""
    shown = compute(seq_len, padding, mask, inverted)
    panels = [
        with_colour_scale(mask_panel(shown.mask), 0, 1, "attention weight"),
        weights_panel(shown.course, "course, True = may attend"),
        weights_panel(shown.sdpa, "F.scaled_dot_product_attention"),
        weights_panel(shown.multihead, "nn.MultiheadAttention"),
    ]
    summary, problem = describe(shown), None
    if function is not None:
        try:
            note, panel = students_part(function, shown)
            panels.append(panel)
            summary += " " + note
        except student.Complaint as complaint:
            problem = str(complaint)
    return Frame(tuple(panels), ledger_rows(shown, padded_keys(seq_len, padding, mask)), summary, problem)


def students_part(function, shown):
    """A sentence about the student's weights and their panel; rows that may attend to nothing are not judged."""
    q, k = queries_keys(len(shown.mask))
    given = student.attention(function, q, k, torch.as_tensor(shown.mask)[None, None])
    some = shown.mask.any(-1)
    right = shown.course[some] @ k[0, 0].numpy(), shown.course[some]
    note = student.comparison_of_pair(function, right, [part[0, 0, some] for part in given])
    return note, weights_panel(given[1][0, 0], "yours")


def describe(shown):
    """Sentences on how the readers differ, and on the rows that may attend to nothing."""
    agree = {
        name: bool(np.allclose(weights, shown.course, atol=1e-5, equal_nan=False))
        for name, weights in (
            ("F.scaled_dot_product_attention", shown.sdpa),
            ("nn.MultiheadAttention", shown.multihead),
        )
    }
    same = [name for name, equal in agree.items() if equal]
    other = [name for name, equal in agree.items() if not equal]
    text = f"The mask lets {shown.mask.sum()} of {counted(shown.mask.size, 'pair')} through."
    if same:
        text += f" {' and '.join(same)} read{'s' * (len(same) == 1)} it as the course does."
    if other:
        text += f" {' and '.join(other)} give{'s' * (len(other) == 1)} other weights for the same tensor."
    empty = np.where(~shown.mask.any(-1))[0]
    if len(empty):
        text += (
            f" {len(empty)} of {counted(len(shown.mask), 'query', 'queries')} may attend to nothing "
            f"(first: position {empty[0]}): "
            "the course gives them a row of zeros."
        )
    return text


def padded_keys(seq_len, padding, mask):
    """How many keys are padding, in words: the slider goes further than a sentence, and some masks have no padding."""
    return f"{min(padding, seq_len)} of {seq_len}" if mask in (PADDING, BOTH) else "not in this mask"


def ledger_rows(shown, padded):
    queries = len(shown.mask)
    return (
        ("mask  (1, 1, T, S)", str((1, 1, *shown.mask.shape))),
        ("padded keys", padded),
        ("queries that may attend to nothing", f"{int((~shown.mask.any(-1)).sum())} of {queries}"),
        *(
            (f"rows of NaN, {name}", f"{int(np.isnan(weights).any(-1).sum())} of {queries}")
            for name, weights in (
                ("course", shown.course),
                ("F.scaled_dot_product_attention", shown.sdpa),
                ("nn.MultiheadAttention", shown.multihead),
            )
        ),
        ("nn.MultiheadAttention reads True as", "forbidden: pass ~mask"),
    )


def mask_panel(mask):
    words = WORDS[: len(mask)]
    size = f"{counted(len(mask), 'query', 'queries')} by {counted(len(mask), 'key')}"
    alt = f"The mask, {size}: {counted(mask.sum(), 'pair')} may attend (bright), the rest may not"
    return matrix(mask, "mask: bright = True", alt, rows=words, columns=words, row_name="query", column_name="key")


def weights_panel(weights, title):
    """Weights (T, T) from 0 to 1; NaN is left hollow."""
    words = WORDS[: len(weights)]
    numbers = weights[np.isfinite(weights)]
    hollow = int(np.isnan(weights).any(-1).sum())
    alt = (
        f"Weights of {title}, {counted(len(weights), 'query', 'queries')} by {counted(len(weights), 'key')}: largest "
        f"{numbers.max(initial=0):.2f}; "
        f"{hollow} {noun(hollow, 'row is', 'rows are')} NaN and left empty"
    )
    return matrix(weights, title, alt, rows=words, columns=words, row_name="query", column_name="key")
