"""The findings that the lesson prints, held against real runs over three seeds: the large gaps only."""

import pytest
import torch

from course import experiments, tasks


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


def lowest(result, label, length=None):
    """The worst seed of a condition."""
    return per_seed(result, label, length).min()


def highest(result, label, length=None):
    """The best seed of a condition."""
    return per_seed(result, label, length).max()


def per_seed(result, label, length):
    column = result.lengths.index(length) if length else 0
    return result.accuracies[result.labels.index(label), :, column]


def test_the_best_guess_without_order_names_the_most_frequent_symbol():
    tokens, targets = tasks.reversing().draw(20_000, 16, torch.Generator().manual_seed(0))
    guess = tokens.mode(dim=1).values[:, None]
    assert (guess == targets).float().mean().item() == pytest.approx(experiments.BEST_GUESS, abs=0.005)


def test_reversing_needs_positions():
    result = experiments.positions()
    assert lowest(result, "sinusoidal") > 0.9
    assert 0.15 < lowest(result, "no positions") <= highest(result, "no positions") < 0.35


def test_short_sequences_need_positions_too():
    result = experiments.short_sequences()
    for symbols in (2, 4):
        assert lowest(result, f"{symbols} symbols, sinusoidal") > 0.9
        assert highest(result, f"{symbols} symbols, no positions") < 0.65


def test_sentences_need_positions():
    result = experiments.sentences()
    assert lowest(result, "sinusoidal") > 0.8
    assert highest(result, "no positions") < 0.65


def test_a_causal_mask_gives_order_away():
    result = experiments.order_blindness()
    assert highest(result, "no mask, 2 layers") < 0.35
    assert lowest(result, "causal mask, 2 layers") > 0.75


def test_vectors_of_places_reverse_and_distances_do_not():
    result = experiments.encodings()
    for label in ("sinusoidal", "learned"):
        assert lowest(result, label) > 0.85
    for label in ("no positions", "rotary", "ALiBi"):
        assert highest(result, label) < 0.5


def test_added_vectors_fail_at_four_times_the_length_and_relative_encodings_lose_least():
    result = experiments.lengths()
    for label in ("sinusoidal", "learned"):
        assert lowest(result, label, 16) > 0.9
        assert highest(result, label, 64) < 0.5
    for label in ("rotary", "ALiBi"):
        assert lowest(result, label, 16) > 0.75
        assert lowest(result, label, 32) > 0.65
        assert lowest(result, label, 64) > highest(result, "sinusoidal", 64) + 0.1


def test_more_heads_help_where_two_places_are_asked_for_at_once_and_nowhere_else():
    result = experiments.heads()
    assert highest(result, "two lookups, 1 head") + 0.1 < lowest(result, "two lookups, 8 heads")
    assert lowest(result, "one lookup, 1 head") > 0.9


@pytest.mark.parametrize(
    "name", sorted(set(experiments.__all__) - {"SEEDS", "Condition", "Experiment", "Result", "run"})
)
def test_every_experiment_is_short_and_silent_while_nbgrader_grades(name, monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    result = getattr(experiments, name)()
    assert result.shortened
    assert capsys.readouterr().err == ""
