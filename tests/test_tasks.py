import itertools

import pytest
import torch

from course import tasks


def draw(task, seq_len=None, held_out=False, seed=0, batch=200):
    source = task.draw_held_out if held_out else task.draw
    return source(batch, seq_len or task.seq_len, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("make", [tasks.reversing, tasks.previous_token, tasks.sorting, tasks.mirror_and_previous])
def test_targets_follow_from_the_symbols(make):
    tokens, targets = draw(make(), seq_len=5)
    for symbols, answer in zip(tokens.tolist(), targets.tolist(), strict=True):
        previous = [tasks.IGNORE, *symbols[:-1]]
        pairs = [mirror * 5 + before for mirror, before in zip(symbols[::-1], previous, strict=True)]
        expected = {
            tasks.reversing: symbols[::-1],
            tasks.previous_token: previous,
            tasks.sorting: sorted(symbols),
            tasks.mirror_and_previous: [tasks.IGNORE, *pairs[1:]],
        }
        assert answer == expected[make]


@pytest.mark.parametrize("seq_len", [2, 7])
def test_which_came_first_asks_at_the_end_and_is_balanced(seq_len):
    tokens, targets = draw(tasks.which_came_first(), seq_len)
    assert (targets[:, :-1] == tasks.IGNORE).all()
    for symbols, answer in zip(tokens.tolist(), targets[:, -1].tolist(), strict=True):
        assert symbols[-1] == 2
        assert symbols.count(0) == symbols.count(1) == 1
        assert (symbols.index(answer)) < symbols.index(1 - answer)
    assert 0.35 < targets[:, -1].float().mean() < 0.65


def test_which_came_first_needs_room_for_two():
    with pytest.raises(ValueError, match="no room for two"):
        draw(tasks.which_came_first(), 1)


def test_sample_sentences_come_in_pairs_of_the_same_words_with_the_other_actor():
    sentences = tasks.sample_sentences()
    assert len(sentences) > 100
    for (words, actor), (other_words, other_actor) in zip(sentences[::2], sentences[1::2], strict=True):
        assert len(words) == 8
        assert sorted(words) == sorted(other_words)
        assert words != other_words
        assert actor != other_actor
        assert {actor, other_actor} <= set(words)


def test_the_actor_is_the_noun_before_an_active_verb_and_after_by():
    for words, actor in tasks.sample_sentences():
        nouns = [after for the, after in itertools.pairwise(words) if the == "the"][-2:]
        assert actor == (nouns[1] if words[-3] == "by" else nouns[0])


def test_held_out_sentences_are_never_drawn_for_training():
    task = tasks.who_acts()
    seen = {tuple(row) for row in draw(task, batch=5000)[0].tolist()}
    held_out = {tuple(row) for row in draw(task, held_out=True, batch=5000)[0].tolist()}
    assert seen
    assert held_out
    assert not seen & held_out


def test_sentences_have_one_length():
    with pytest.raises(ValueError, match="have 8 words, not 16"):
        draw(tasks.who_acts(), 16)


@pytest.mark.parametrize("make", [tasks.reversing, tasks.which_came_first, tasks.who_acts])
def test_drawing_depends_on_the_generator_alone(make):
    state = torch.random.get_rng_state()
    first, again, other = draw(make(), seed=1), draw(make(), seed=1), draw(make(), seed=2)
    assert all(torch.equal(a, b) for a, b in zip(first, again, strict=True))
    assert not torch.equal(first[0], other[0])
    assert torch.equal(state, torch.random.get_rng_state())
