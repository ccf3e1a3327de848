"""Toy tasks that a tiny encoder learns in a second or two, each a question about order.

A task gives one target per position; positions that count for nothing hold ``IGNORE``, which
``torch.nn.functional.cross_entropy`` leaves out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources

import torch

from course.defaults import torch_defaults

IGNORE = -100  # cross_entropy's default ignore_index
ONE_ANSWER = {"steps": 300, "learning_rate": 1e-2}  # one answer per sequence tells less: smaller steps, and more


@dataclass(frozen=True)
class Task:
    """A question about sequences.

    ``draw(batch, seq_len, generator)`` gives tokens and targets, both (B, T), of new examples;
    ``draw_held_out`` does so from examples that training never shows, where the two can differ. ``steps``
    and ``learning_rate`` are the training that a tiny encoder needs to learn it whatever the seed.
    """

    name: str
    num_symbols: int
    num_classes: int
    seq_len: int
    draw: Callable
    draw_held_out: Callable
    steps: int = 200
    learning_rate: float = 2e-2


def symbol_task(name, seq_len, num_symbols, answer, num_classes=None):
    """A task on random symbols with targets ``answer(tokens)``; there are too many sequences to learn by heart."""

    def draw(batch, seq_len, generator):
        tokens = torch.randint(num_symbols, (batch, seq_len), generator=generator)
        return tokens, answer(tokens)

    return Task(name, num_symbols, num_classes or num_symbols, seq_len, draw, draw)


def reversing(seq_len=16, num_symbols=10):
    """Say the sequence backwards: position t answers with the symbol at T-1-t."""
    return symbol_task("reversing", seq_len, num_symbols, lambda tokens: tokens.flip(1))


def previous_token(seq_len=16, num_symbols=10):
    """Position t answers with the symbol at t-1; position 0 counts for nothing."""
    return symbol_task("previous token", seq_len, num_symbols, shifted)


def sorting(seq_len=16, num_symbols=10):
    """Position t answers with the t-th smallest symbol of the sequence."""
    return symbol_task("sorting", seq_len, num_symbols, lambda tokens: tokens.sort(1).values)


def mirror_and_previous(seq_len=16, num_symbols=5):
    """Two questions at once: position t answers with the pair (symbol at T-1-t, symbol at t-1).

    The pair (a, b) is class a*num_symbols + b; position 0 counts for nothing.
    """

    def answer(tokens):
        before = shifted(tokens)
        return torch.where(before == IGNORE, IGNORE, tokens.flip(1) * num_symbols + before)

    return symbol_task("mirror and previous token", seq_len, num_symbols, answer, num_symbols**2)


def shifted(tokens):
    """tokens (B, T) one place to the right, with IGNORE in front."""
    return torch.cat((torch.full_like(tokens[:, :1], IGNORE), tokens[:, :-1]), dim=1)


def which_came_first(seq_len=2, num_fillers=6):
    """Two marked symbols stand among ``seq_len - 2`` fillers; which of the two came first?

    The marked symbols are 0 and 1. One more position, the symbol 2, ends the sequence and asks; it alone
    counts. Without order half of the answers are right.
    """

    def draw(batch, seq_len, generator):
        if seq_len < 2:
            raise ValueError(f"seq_len {seq_len} has no room for two symbols: take 2 or more")
        tokens = 3 + torch.randint(num_fillers, (batch, seq_len), generator=generator)
        places = torch.rand(batch, seq_len, generator=generator).argsort(1)[:, :2]  # two different positions each
        tokens.scatter_(1, places, torch.tensor([0, 1]).expand(batch, 2))
        return ask(tokens, question=2, answers=(places[:, 0] > places[:, 1]).long())

    return Task("which came first", 3 + num_fillers, 2, seq_len, draw, draw, **ONE_ANSWER)


def ask(tokens, question, answers):
    """tokens (B, T) with the symbol ``question`` at the end, and targets (B, T+1) that count there only."""
    asked = torch.cat((tokens, torch.full_like(tokens[:, :1], question)), dim=1)
    targets = torch.full_like(asked, IGNORE)
    targets[:, -1] = answers
    return asked, targets


def sample_sentences():
    """The sample sentences of the course: a list of (words, actor), eight words each.

    Every sentence stands beside the one in which the two nouns have changed places, so the words alone
    leave two actors possible.
    """
    text = resources.files("course").joinpath("data/sentences.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line and not line.startswith("#")]
    return [(sentence.split(), actor) for actor, sentence in rows]


@torch_defaults()  # the sentences stay on the CPU, where the generators are that choose among them
def who_acts():
    """Read a sample sentence and name its actor: "the dog" of "today the man is bitten by the dog".

    A position more, "?", ends the sentence and asks. Every fourth pair of sentences is held out.
    """
    sentences = sample_sentences()
    vocabulary = [*sorted({word for words, _ in sentences for word in words}), "?"]
    index = {word: number for number, word in enumerate(vocabulary)}
    tokens = torch.tensor([[index[word] for word in words] for words, _ in sentences])
    actors = torch.tensor([index[actor] for _, actor in sentences])
    held_out = (torch.arange(len(sentences)) // 2) % 4 == 3  # both sentences of a pair go to the same side

    def drawing(rows):
        def draw(batch, seq_len, generator):
            if seq_len != tokens.shape[1]:
                raise ValueError(f"the sample sentences have {tokens.shape[1]} words, not {seq_len}")
            chosen = rows[torch.randint(len(rows), (batch,), generator=generator)]
            return ask(tokens[chosen], index["?"], actors[chosen])

        return draw

    train, test = (~held_out).nonzero().flatten(), held_out.nonzero().flatten()
    sizes = (len(vocabulary), len(vocabulary), tokens.shape[1])
    return Task("who acts", *sizes, drawing(train), drawing(test), **ONE_ANSWER)
