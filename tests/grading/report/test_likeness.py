"""Alike is what stays alike under renaming and layout; usual and short answers are nobody's copy."""

import numpy as np
import pytest

from course.grading.report.gather import Classroom, Exercise
from course.grading.report.likeness import MIN_TOKENS, own_lines, similar_pairs, tokens

LONG = """def f(x):
    total = 0
    for place, value in enumerate(sorted(x)):
        total += value * place - 3
    if total > 10:
        total = total % 7
    return [total, total + 1, -total]
"""
RENAMED = """def f(x):
    # my own work
    s   =   0
    for i, v in enumerate( sorted(x) ):
        s += v*i - 3

    if s > 10:
        s = s % 7
    return [s, s + 1, -s]
"""
OTHER = """def f(x):
    table = {key: len(key) for key in map(str, x)}
    while len(table) < 3:
        table[str(len(table))] = max(table.values()) + 1
    best = max(table, key=table.get)
    return tuple(table), best.upper(), (1, 2, 3)
"""


@pytest.fixture
def classroom():
    """classroom(answers, stub, by_hand) with one exercise."""

    def make(answers, stub="def f(x):\n    pass", by_hand=False):
        count = len(answers)
        return Classroom(
            assignment="a",
            students=[f"s{n}" for n in range(count)],
            absent=0,
            ungraded=0,
            exercises=[Exercise("f", 2, (), stub, by_hand)],
            cells={},
            scores=np.ones((count, 1)),
            answers=[[answer] for answer in answers],
            blank=np.array([[answer is None] for answer in answers]),
            messages=[[None]] * count,
            minutes=np.full(count, np.nan),
        )

    return make


def pairs(classroom):
    return [(pair.first, pair.second) for pair in similar_pairs(classroom)]


def test_renaming_comments_and_layout_change_nothing(classroom):
    assert tokens(LONG) == tokens(RENAMED)
    assert pairs(classroom([LONG, OTHER, RENAMED, None])) == [(0, 2)]


def test_attributes_and_builtins_keep_their_names():
    assert tokens("x.reshape(1)") != tokens("x.transpose(1)")
    assert tokens("len(x)") != tokens("max(x)")


def test_what_most_of_the_class_wrote_is_no_copy(classroom):
    assert pairs(classroom([LONG] * 6 + [OTHER] * 2 + [None] * 4)) == [(6, 7)]


def test_short_answers_are_not_compared(classroom):
    assert pairs(classroom(["return x + 1", "return x + 1"])) == []


def test_as_many_tokens_as_characters_are_enough(classroom):
    shortest = "-" + "1+" * (MIN_TOKENS // 2 - 1) + "1"
    assert len(tokens(shortest)) == len(shortest) == MIN_TOKENS
    assert pairs(classroom([shortest, shortest, OTHER])) == [(0, 1)]
    assert pairs(classroom([shortest[1:], shortest[1:], OTHER])) == []


def test_the_stub_is_not_counted(classroom):
    stub = LONG.replace("return [total, total + 1, -total]", "...")
    assert pairs(classroom([LONG, LONG + "    # mine\n"], stub)) == []
    assert own_lines(LONG, stub).strip() == "return [total, total + 1, -total]"


def test_written_answers_are_compared_by_their_words(classroom):
    words = "the heads looked at other words once positions were added to the input and "
    texts = [words * 5, words * 5, " ".join(f"word{n}" for n in range(70))]
    assert pairs(classroom(texts, "", by_hand=True)) == [(0, 1)]


@pytest.mark.parametrize("source", ["def (", "'unclosed", "\x00", "    indented\n  less", "print 'x'"])
def test_broken_code_is_still_compared(source):
    assert isinstance(tokens(source), list)
