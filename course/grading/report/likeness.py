"""Answers that look alike, exercise by exercise, as a question to ask and not a verdict.

Code is compared as tokens without comments and layout, with the student's own names replaced, so that renaming
and reformatting change nothing; written answers as words. What the released stub already says is left out. The
measure is RapidFuzz's indel similarity.
"""

import functools
from typing import NamedTuple

import numpy as np
from pygments.lexers.python import PythonLexer
from pygments.token import Token
from rapidfuzz import fuzz, process

MIN_TOKENS = 40  # shorter answers are alike by nature
ALIKE = 0.9
COMMON = 0.1  # an answer that more than this share of the class gives is the usual one
LIBRARIES = {"torch", "nn", "F", "np", "math", "plt"}
LEXER = PythonLexer()


class Pair(NamedTuple):
    """Two students' indices whose answers to ``exercises`` (indices) look alike, with each one's similarity."""

    first: int
    second: int
    exercises: tuple
    similarity: tuple


def tokens(source):
    """Tokens of Python source without comments, docstrings and layout.

    Names of the writer's own become numbers in the order in which they appear; attributes, keywords and builtins stay.
    """
    names, found = {}, []
    for kind, text in LEXER.get_tokens(source):
        if kind in Token.Comment or kind in Token.Text or kind in Token.String.Doc:
            continue
        own = kind in Token.Name and kind not in Token.Name.Builtin and text not in LIBRARIES
        if own and not (found and found[-1] == "."):
            text = f"name{names.setdefault(text, len(names))}"
        found.append(text)
    return found


def own_lines(answer, stub):
    """The answer without lines that stand in the stub."""
    given = {line.strip() for line in stub.splitlines() if line.strip()}
    return "\n".join(line for line in answer.splitlines() if line.strip() not in given)


def similar_pairs(classroom):
    """Pairs of students with an unusual answer in common, the most alike first."""
    alike, tokens_of = {}, functools.cache(tokens)
    for k, exercise in enumerate(classroom.exercises):
        parts_of = str.split if exercise.by_hand else tokens_of
        rows = [n for n in range(len(classroom.students)) if classroom.answers[n][k] and not classroom.blank[n, k]]
        answers = [own_lines(classroom.answers[n][k], exercise.stub) for n in rows]
        texts = [parts_of(answer) if _may_be_long(answer) else [] for answer in answers]
        for first, second, similarity in _alike(texts):
            alike.setdefault((rows[first], rows[second]), []).append((k, similarity))
    pairs = [Pair(*pair, *zip(*found, strict=True)) for pair, found in alike.items()]
    return sorted(pairs, key=lambda pair: (-len(pair.exercises), -sum(pair.similarity), pair.first, pair.second))


def _may_be_long(answer):
    """Whether an answer has characters enough for MIN_TOKENS; most of a class's time goes into taking tokens apart."""
    return sum(map(len, answer.split())) >= MIN_TOKENS


def _alike(texts):
    """(i, j, similarity) of token lists that are long, alike, and unlike what most of the class wrote."""
    distinct = sorted({token for text in texts for token in text})
    alphabet = {token: chr(0x10000 + number) for number, token in enumerate(distinct)}  # RapidFuzz compares characters
    long = [n for n, text in enumerate(texts) if len(text) >= MIN_TOKENS]
    if len(long) < 2:
        return
    coded = ["".join(map(alphabet.get, texts[n])) for n in long]
    similarity = process.cdist(coded, coded, scorer=fuzz.ratio, dtype=np.float32, score_cutoff=100 * ALIKE) / 100
    shared = (similarity >= ALIKE).sum(1)  # counts the answer itself
    unusual = shared <= max(2, COMMON * len(texts))
    for i, j in zip(*np.nonzero(np.triu(similarity >= ALIKE, 1)), strict=True):
        if unusual[i] and unusual[j]:
            yield long[i], long[j], float(similarity[i, j])
