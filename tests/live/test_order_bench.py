import pytest
import torch
from torch import nn

from course import encoding
from course.live.order_bench import PARAMETERS, compute, explore, permutation, verdict

SHUFFLED = (2, 0, 1, 4, 3)
NAMES = PARAMETERS[2].options


@pytest.mark.parametrize("name", ["none", "along the batch"])
def test_without_positions_along_time_the_output_is_only_permuted(name):
    assert compute(SHUFFLED, name).error < 1e-6
    assert "cannot tell the two sentences apart" in explore(encoding=name).summary


@pytest.mark.parametrize("name", ["sinusoidal", "learned"])
def test_with_positions_the_output_changes(name):
    assert compute(SHUFFLED, name).error > 1e-2
    assert "The layer tells the two orders apart." in explore(encoding=name).summary


@pytest.mark.parametrize("name", NAMES)
def test_the_same_order_has_nothing_to_compare(name):
    assert compute((0, 1, 2), name).error == 0
    assert "nothing to compare" in explore(encoding=name, order=(0, 1), seq_len=3).summary


def test_one_token_cannot_be_shuffled():
    assert "one token has one order" in explore(seq_len=1).summary


def test_a_seed_gives_one_order_and_a_hand_written_order_has_precedence():
    assert permutation(9, 4, None) == permutation(9, 4, None)
    assert sorted(permutation(9, 4, None)) == list(range(9))
    assert permutation(9, 4, None) != permutation(9, 5, None)
    assert permutation(3, 4, (2, 1, 0)) == (2, 1, 0)


def test_the_ledger_says_whose_order_it_is():
    assert "order, by seed" in dict(explore(seq_len=3).frame.ledger)
    assert dict(explore(seq_len=3, order="2 1 0").frame.ledger)["order, by hand"] == "2 1 0"


def test_no_difference_at_all_is_written_as_nought():
    assert "equivariance error 0." in verdict(0.0, (1, 0), "Without positions")


def test_an_order_for_another_length_is_kept_as_far_as_it_goes():
    assert permutation(2, 0, (2, 1, 0)) == (1, 0)
    assert permutation(5, 0, (2, 1, 0)) == (2, 1, 0, 3, 4)


def test_the_students_encoding_is_compared_and_used():
    def add_positional_encoding(x):
        return encoding.add_sinusoidal_encoding(x)

    explorer = explore(add_positional_encoding)
    assert "Your add_positional_encoding agrees with the course's." in explorer.summary
    assert float(dict(explorer.frame.ledger)["equivariance error, yours"]) > 1e-2


def test_computing_and_forgetting_to_add_is_seen():
    def add_positional_encoding(x):
        encoding.add_sinusoidal_encoding(x)
        return x

    explorer = explore(add_positional_encoding)
    assert "differs from the course's" in explorer.summary
    assert float(dict(explorer.frame.ledger)["equivariance error, yours"]) < 1e-6


def test_a_learned_table_is_made_once():
    made = []

    class LearnedPositionalEncoding(nn.Module):
        def __init__(self, max_len, d_model):
            super().__init__()
            made.append((max_len, d_model))
            self.table = nn.Parameter(torch.randn(max_len, d_model))

        def forward(self, x):
            return x + self.table[: x.shape[1]]

    explorer = explore(LearnedPositionalEncoding)
    explorer.set(seq_len=5).set(seq_len=6)
    assert len(made) == 1
    assert "With your table, the output has changed" in explorer.summary


def test_order_sensitivity_is_held_against_the_course_s_number():
    def order_sensitivity(model, x, permutation):
        with torch.no_grad():
            return (model(x)[0][:, permutation] - model(x[:, permutation])[0]).abs().mean().item()

    for name in NAMES:
        assert "agrees with the course's" in explore(order_sensitivity, encoding=name).summary

    def backwards(model, x, permutation):
        return (model(x)[0] - model(x[:, permutation])[0]).abs().mean().item()

    backwards.__name__ = "order_sensitivity"
    assert "differs from the course's" in explore(backwards, encoding="none").summary


def test_a_number_that_is_none_is_told_so():
    def order_sensitivity(model, x, permutation):
        return float("nan")

    assert explore(order_sensitivity).problem == "Your order_sensitivity returned nan: a number was wanted."


def test_a_function_that_changes_the_model_spoils_no_later_move():
    def order_sensitivity(model, x, permutation):
        model.double()
        for parameter in model.parameters():
            parameter.zero_()
        return 0.0

    summary = explore(encoding="sinusoidal", seed=7).summary
    explorer = explore(order_sensitivity, encoding="sinusoidal").set(seed=8)
    compute.cache_clear()
    assert explorer.set(seed=7).problem is None
    assert explorer.summary.startswith(summary)


@pytest.mark.parametrize("function", [None, encoding.LearnedPositionalEncoding])
def test_the_learners_seed_is_left_alone(function):
    torch.manual_seed(5)
    wanted = torch.rand(1)
    torch.manual_seed(5)
    explore(function, encoding="learned", seq_len=7)
    assert torch.equal(torch.rand(1), wanted)
