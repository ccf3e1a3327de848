import numpy as np
import pytest
import torch
from torch import nn

from course import head_scores
from course.attention import MultiHeadAttention
from course.live import real_heads
from course.live.real_heads import SENTENCES, explore, first_maps
from course.minilm import WIDTH, load_minilm

TIRED = next(iter(SENTENCES))


def alts(explorer):
    return [panel.alt for panel in explorer.frame.panels]


def test_layer_0_is_computed_and_is_the_model_s():
    for name, sentence in SENTENCES.items():
        assert np.allclose(first_maps(name, True), sentence.maps[0], atol=1e-3), name


def test_sentences_have_names_of_their_own_and_all_of_them_are_there():
    assert len(SENTENCES) == len(load_minilm().sentences)
    assert max(map(len, SENTENCES)) < 60, "a name fits into the list"


@pytest.mark.parametrize("layer", range(6))
def test_a_map_is_that_of_the_layer_and_the_head(layer):
    weights = SENTENCES[TIRED].maps[layer, 7]
    explorer = explore(layer=layer, head=7)
    assert dict(explorer.frame.ledger)["to itself, mean"] == f"{head_scores.self_score(weights):.2f}"
    assert f"largest weight {weights.max():.2f}" in alts(explorer)[0]


def test_it_says_where_the_chosen_token_looks():
    explorer = explore(layer=3, head=1, token=10)
    assert "“it” (position 10) looks most at “animal” (position 2), with 0.68." in explorer.summary
    assert alts(explorer)[1].startswith("Attention of it at 10, largest: animal at 2 0.68")


def test_scores_are_said_in_words():
    assert "1.00 to the previous token" in explore(layer=0, head=2).summary


def test_a_token_beyond_the_sentence_is_the_last_one():
    summary = explore(sentence="dog bites man", token=20).summary
    assert "There is no token 20 here, 4 is the last." in summary
    assert "“[SEP]” (position 4)" in summary


def test_without_positions_little_is_left_of_the_head_that_looks_back():
    summary = explore(layer=0, head=2, positions=False).summary
    assert "With positions 1.00 went to the previous token, without them 0.1" in summary


def test_positions_cannot_be_taken_away_higher_up():
    with_them, without = explore(layer=2, head=3), explore(layer=2, head=3, positions=False)
    assert "from layer 0 alone" in without.summary
    assert with_them.svg == without.svg


def test_a_right_score_agrees_and_a_wrong_one_is_compared():
    def next_token_score(weights):
        return weights.diagonal(1).mean()

    def previous_token_score(weights):
        return weights.diagonal(1).mean()

    def delimiter_score(weights, tokens):
        return sum(weights[:, s].mean() for s, token in enumerate(tokens) if token.startswith("["))

    assert "Your next_token_score agrees" in explore(next_token_score, layer=1, head=8).summary
    assert "Your previous_token_score differs" in explore(previous_token_score, layer=1, head=8).summary
    assert "Your delimiter_score agrees" in explore(delimiter_score).summary


class MultiHeadAttentionFromScratch(MultiHeadAttention):
    pass


def test_the_student_s_layer_gets_the_weights_and_its_map_is_shown():
    explorer = explore(MultiHeadAttentionFromScratch, layer=0, head=4)
    assert "Your MultiHeadAttentionFromScratch agrees" in explorer.summary
    assert any("your layer 0, head 4" in alt for alt in alts(explorer))
    explorer.set(layer=3)
    assert "compared in layer 0" in explorer.summary


def test_a_layer_class_by_another_name_is_a_layer():
    assert "Your MultiHeadAttention agrees" in explore(MultiHeadAttention, layer=0).summary


def test_a_layer_with_the_wrong_scale_differs():
    class MultiHeadAttentionFromScratch(MultiHeadAttention):
        def forward(self, x, mask=None, bias=None):
            return super().forward(2 * x, mask, bias)

    assert "Your MultiHeadAttentionFromScratch differs" in explore(MultiHeadAttentionFromScratch, layer=0).summary


def test_a_layer_with_the_right_weights_and_another_output_differs():
    class MultiHeadAttentionFromScratch(MultiHeadAttention):
        def forward(self, x, mask=None, bias=None):
            return x, super().forward(x, mask, bias)[1]

    summary = explore(MultiHeadAttentionFromScratch, layer=0).summary
    assert "differs from the course's in out by" in summary


def test_a_layer_that_cannot_take_the_weights_is_told_why():
    class MultiHeadAttentionFromScratch(nn.Module):
        def __init__(self, embed_dim, num_heads):
            super().__init__()
            for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                self.add_module(name, nn.Linear(embed_dim, embed_dim, bias=False))

    problem = explore(MultiHeadAttentionFromScratch, layer=0).problem
    assert problem.startswith("Your MultiHeadAttentionFromScratch cannot take the model's weights: q_proj is")
    assert "with no bias" in problem

    def MultiHeadAttentionFromScratch(embed_dim, num_heads):
        return torch.zeros(3)

    assert "cannot take the model's weights" in explore(MultiHeadAttentionFromScratch, layer=0).problem


def test_a_sentence_that_is_not_there_is_refused_with_those_that_are():
    assert "choose one of" in explore(sentence="a cat").problem


def test_names_of_sentences_cut_the_middle_and_keep_the_ends():
    assert real_heads.name_of("one two three") == "one two three"
    assert real_heads.name_of("a b c d e f g h i j") == "a b c d … h i j"


def test_the_students_layer_is_made_once_and_without_the_learners_random_numbers():
    made = []

    class MultiHeadAttentionFromScratch(MultiHeadAttention):
        def __init__(self, embed_dim, num_heads):
            super().__init__(embed_dim, num_heads)
            made.append(embed_dim)

    state = torch.random.get_rng_state()
    explorer = explore(MultiHeadAttentionFromScratch, layer=0).set(head=4).set(head=5)
    assert "agrees with the course's" in explorer.summary
    assert made == [WIDTH]
    assert torch.equal(torch.random.get_rng_state(), state)
