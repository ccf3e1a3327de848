import pytest
import torch

from course import head_scores as scores

TOKENS = ["[CLS]", "dog", "bites", "[SEP]"]


def shifted(offset, size=4):
    """Weights (T, T): all attention goes ``offset`` places on, or to the query itself where that is outside."""
    keys = [row + offset if 0 <= row + offset < size else row for row in range(size)]
    return torch.eye(size)[keys]


@pytest.mark.parametrize(
    ("score", "offset"),
    [(scores.previous_token_score, -1), (scores.self_score, 0), (scores.next_token_score, 1)],
)
def test_each_score_is_one_for_its_own_pattern_and_counts_only_tokens_that_have_such_a_neighbour(score, offset):
    assert score(shifted(offset)) == 1
    for other in {-1, 0, 1} - {offset}:
        assert score(shifted(other)) <= 0.25  # the token at the edge that looks at itself


def test_scores_of_uneven_weights_by_hand():
    weights = torch.tensor([[0.5, 0.3, 0.2], [0.6, 0.1, 0.3], [0.2, 0.7, 0.1]])
    assert scores.previous_token_score(weights).item() == pytest.approx((0.6 + 0.7) / 2)
    assert scores.next_token_score(weights).item() == pytest.approx((0.3 + 0.3) / 2)
    assert scores.self_score(weights).item() == pytest.approx((0.5 + 0.1 + 0.1) / 3)
    delimiters = scores.delimiter_score(weights, ["[CLS]", "dog", "[SEP]"]).item()
    assert delimiters == pytest.approx((0.7 + 0.9 + 0.3) / 3)
    assert scores.attention_between(weights, ["a", "b", "c"], "c", "b").item() == pytest.approx(0.7)


def test_one_token_has_neither_a_previous_nor_a_next():
    alone = torch.ones(1, 1)
    assert scores.previous_token_score(alone).isnan() and scores.next_token_score(alone).isnan()
    assert scores.self_score(alone) == 1 and scores.entropy(alone) == 0


def test_entropy_counts_bits():
    assert scores.entropy(torch.full((4, 4), 0.25)).item() == pytest.approx(2)
    assert scores.entropy(shifted(0)).item() == 0
    half = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.25, 0.5, 0.25]])
    assert scores.entropy(half).item() == pytest.approx((1 + 0 + 1.5) / 3)


def test_all_layers_and_heads_are_scored_at_once():
    maps = torch.rand(2, 3, 4, 4).softmax(-1)
    for score in (scores.previous_token_score, scores.next_token_score, scores.self_score, scores.entropy):
        assert score(maps).shape == (2, 3)
        assert score(maps)[1, 2].item() == pytest.approx(score(maps[1, 2]).item())
    assert scores.delimiter_score(maps, TOKENS).shape == (2, 3)


def test_arrays_and_maps_that_carry_gradients_are_welcome():
    weights = torch.full((4, 4), 0.25, requires_grad=True)
    assert scores.previous_token_score(weights.detach().numpy()) == 0.25
    assert scores.describe_head(weights, TOKENS) == scores.describe_head(weights.detach(), TOKENS)


def test_a_head_in_words():
    words = scores.describe_head(torch.full((4, 4), 0.25), TOKENS)
    assert "0.25 to the previous token" in words
    assert "0.50 to [CLS] and [SEP]" in words
    assert "4.0 of 4 tokens" in words


def test_a_token_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ValueError, match=r"'cat' is not in the sentence: it has \[CLS\], dog"):
        scores.attention_between(shifted(0), TOKENS, "dog", "cat")


@pytest.mark.parametrize(
    "score", [scores.delimiter_score, lambda weights, tokens: scores.attention_between(weights, tokens, "dog", "dog")]
)
def test_tokens_of_another_sentence_are_refused(score):
    with pytest.raises(ValueError, match="4 tokens for 3 keys: one for each is wanted"):
        score(shifted(0, size=3), TOKENS)
