"""Real heads: every attention map of all-MiniLM-L6-v2 on a few sentences, with its scores in words."""

from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np

from course import head_scores
from course.attention import MultiHeadAttention
from course.live import student
from course.live.charts import matrix, with_colour_scale
from course.live.explorer import Explorer
from course.live.parameters import Choice, Flag, Whole
from course.live.picture import Box, Frame, Line, Panel, Text
from course.minilm import NUM_HEADS, WIDTH, load_minilm
from course.seeding import seeded

LONGEST_NAME = 8  # words of a sentence in the list of sentences; a longer one is cut in the middle
ROW = 17  # pixels from one token to the next in the picture with lines


def name_of(text):
    """A sentence as the list of sentences shows it: whole, or its first and its last words."""
    words = text.split()
    return text if len(words) <= LONGEST_NAME else " ".join([*words[:4], "…", *words[-3:]])


SENTENCES = {name_of(sentence.text): sentence for sentence in load_minilm().sentences}
MOST_TOKENS = max(len(sentence.tokens) for sentence in SENTENCES.values())
NUM_LAYERS = len(next(iter(SENTENCES.values())).maps)
PARAMETERS = (
    Whole("layer", "Layer", 3, 0, NUM_LAYERS - 1),
    Whole("head", "Head", 1, 0, NUM_HEADS - 1),
    Whole("token", "Lines from token", 10, 0, MOST_TOKENS - 1),
    Choice("sentence", "Sentence", next(iter(SENTENCES)), tuple(SENTENCES)),
    Flag("positions", "Positions in layer 0", True),
)
SCORES = {
    "previous_token_score": lambda weights, tokens: head_scores.previous_token_score(weights),
    "next_token_score": lambda weights, tokens: head_scores.next_token_score(weights),
    "self_score": lambda weights, tokens: head_scores.self_score(weights),
    "delimiter_score": head_scores.delimiter_score,
    "attention_entropy": lambda weights, tokens: head_scores.entropy(weights),
}
EXERCISES = (*SCORES, "MultiHeadAttentionFromScratch")


def explore(student_function=None, **initial):
    """An explorer of ``layer``, ``head``, ``token``, ``sentence`` and ``positions``; takes a score or a layer class."""
    return Explorer("Real heads", PARAMETERS, partial(frame, student_function), initial)


class View(NamedTuple):
    """What one head does with a sentence of T tokens."""

    weights: np.ndarray  # (T, T)
    tokens: list
    name: str


@cache
def first_layer():
    """The course's layer with the weights of the model's layer 0."""
    return load_minilm().load_into(MultiHeadAttention(WIDTH, NUM_HEADS)).eval()


@lru_cache(maxsize=8)  # a few recent moves
def first_output(sentence, positions):
    """Out (1, T, 384) and weights (1, 12, T, T) of layer 0 for what it receives, with the positions in it or not."""
    return tuple(x.detach() for x in first_layer()(load_minilm().embed(SENTENCES[sentence].tokens, positions)))


def first_maps(sentence, positions):
    """The weights alone, as maps (12, T, T)."""
    return first_output(sentence, positions)[1][0]


def maps_of(sentence, layer, positions):
    """Maps (12, T, T) of a layer; above layer 0 those that the whole model gave."""
    return first_maps(sentence, positions) if layer == 0 else SENTENCES[sentence].maps[layer]


def frame(function, layer, head, token, sentence, positions):
    """The frame for these parameters, with the student's function beside the course's where there is one."""
    tokens = SENTENCES[sentence].tokens
    name = f"layer {layer}, head {head}" + ("" if positions or layer else ", no positions")
    view = View(maps_of(sentence, layer, positions)[head].numpy(), tokens, name)
    query = min(token, len(tokens) - 1)
    panels = [map_panel(view), lines_panel(view, query)]
    summary, problem = describe(view, query, token), None
    if not positions:
        summary += without_positions(sentence, layer, head)
    if function is not None:
        try:
            note, more = students_part(function, view, layer, head, sentence, positions)
            panels += more
            summary += " " + note
        except student.Complaint as complaint:
            problem = str(complaint)
    return Frame(tuple(panels), ledger_rows(view), summary, problem)


def students_part(function, view, layer, head, sentence, positions):
    """A sentence about the student's score, or about the map of the student's layer, which is shown as well."""
    kind = student.pick(function, *EXERCISES)
    if kind in SCORES and not isinstance(function, type):  # a class is a layer, whatever its name
        weights = SENTENCES[sentence].maps.new_tensor(view.weights)
        arguments = (weights, list(view.tokens)) if kind == "delimiter_score" else (weights,)
        given = student.numbers(function, student.ask(function, *arguments), ())
        return student.comparison(function, float(SCORES[kind](weights, view.tokens)), given), []
    if layer != 0:
        return f"Your {student.title(function)} is compared in layer 0, the one whose weights the course has.", []
    given = students_output(function, sentence, positions)
    note = student.comparison_of_pair(function, first_output(sentence, positions), given)
    return note, [map_panel(View(given[1][0, head], view.tokens, f"your {view.name}"))]


@lru_cache(maxsize=4)
def students_layer(function):
    """The student's layer with the model's weights, made once: making it takes longer than all the rest of a move."""
    with seeded(0):
        layer = student.ask(function, WIDTH, NUM_HEADS)
    try:
        return load_minilm().load_into(layer).eval()
    except (AttributeError, ValueError) as error:
        raise student.Complaint(f"Your {student.title(function)} cannot take the model's weights: {error}.") from error


def students_output(function, sentence, positions):
    """Out (1, T, 384) and weights (1, 12, T, T) of the student's layer, as arrays."""
    x = load_minilm().embed(SENTENCES[sentence].tokens, positions)
    result = student.ask(students_layer(function), x)
    return student.arrays(function, result, tuple(x.shape), (1, NUM_HEADS, x.shape[1], x.shape[1]))


def describe(view, query, wanted):
    """Where the chosen token looks, and the scores of the head, in words."""
    key = int(view.weights[query].argmax())
    missing = f"There is no token {wanted} here, {query} is the last. " if wanted != query else ""
    return (
        f"{missing}{view.name[0].upper()}{view.name[1:]}: “{view.tokens[query]}” (position {query}) looks most at "
        f"“{view.tokens[key]}” (position {key}), with {view.weights[query, key]:.2f}. "
        f"{head_scores.describe_head(view.weights, view.tokens)}"
    )


def without_positions(sentence, layer, head):
    """What the missing position vectors change, as a sentence."""
    if layer != 0:
        return " Positions can be taken away from layer 0 alone: this map was made with them."
    before, after = (
        float(head_scores.previous_token_score(first_maps(sentence, kept)[head])) for kept in (True, False)
    )
    return f" With positions {before:.2f} went to the previous token, without them {after:.2f}."


def ledger_rows(view):
    weights, tokens = view.weights, view.tokens
    return (
        ("to the previous token, mean", f"{head_scores.previous_token_score(weights):.2f}"),
        ("to the next token, mean", f"{head_scores.next_token_score(weights):.2f}"),
        ("to itself, mean", f"{head_scores.self_score(weights):.2f}"),
        ("to [CLS] and [SEP], mean", f"{head_scores.delimiter_score(weights, tokens):.2f}"),
        ("entropy, bits", f"{head_scores.entropy(weights):.2f} of at most {np.log2(len(tokens)):.2f}"),
        ("an even spread gives each key", f"{1 / len(tokens):.2f}"),
    )


def map_panel(view):
    """The head's map, bright where the weight is 1."""
    weights, tokens = view.weights, view.tokens
    t, s = np.unravel_index(weights.argmax(), weights.shape)
    alt = (
        f"Attention of {view.name}, {len(tokens)} queries by {len(tokens)} keys: largest weight {weights[t, s]:.2f}, "
        f"from {tokens[t]} at {t} to {tokens[s]} at {s}; {head_scores.delimiter_score(weights, tokens):.2f} of all "
        "attention goes to the delimiters"
    )
    side = max(150, 13 * len(tokens))
    axes = {"rows": tokens, "columns": tokens, "row_name": "query", "column_name": "key"}
    return with_colour_scale(matrix(weights, view.name, alt, **axes, side=side), 0.0, 1.0, "attention weight")


def lines_panel(view, query):
    """Lines from one query to every key, as thick as the weight; the numbers stand behind the keys."""
    row, tokens = view.weights[query], view.tokens
    left, right, top = 100, 220, 34
    height = top + ROW * len(tokens)
    marks = [Text(8, 14, f"from “{tokens[query]}” ({query})", 12)]
    marks.append(Box(4, top + ROW * query - 1, left - 4, ROW, None, "orange"))
    for place, token in enumerate(tokens):
        y = top + ROW * (place + 0.5)
        marks.append(Text(left - 6, y + 4, token, 11, "end"))
        marks.append(Text(right + 6, y + 4, token))
        marks.append(Text(right + 90, y + 4, f"{row[place]:.2f}"))
        if row[place] >= 0.005:  # what the numbers show as 0.00 gets no line
            ends = ((left, top + ROW * (query + 0.5)), (right, y))
            marks.append(Line(ends, "orange", 0.6 + 7 * float(row[place]), faint=bool(row[place] < 0.05)))
    largest = ", ".join(f"{tokens[s]} at {s} {row[s]:.2f}" for s in row.argsort()[::-1][:3])
    return Panel(right + 130, height + 8, tuple(marks), f"Attention of {tokens[query]} at {query}, largest: {largest}")
