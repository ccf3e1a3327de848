"""Sentences of lessons 4 to 6 that no cell beside them runs, or that give figures, each held against code."""

import math

import pytest
import torch
from torch.nn import functional as F

from course import head_scores, tasks
from course.attention import MultiHeadAttention, ablate_head, causal_mask, masked_softmax
from course.encoding import LearnedPositionalEncoding, rotation_matrix, sinusoidal_encoding, wavelengths
from course.minilm import load_minilm, similarity_by_distance
from course.training import new_model, train


@pytest.fixture(scope="module")
def sentence():
    return load_minilm().sentence("The animal didn't cross the street because it was too tired")


@pytest.fixture(scope="module")
def layer_0():
    return load_minilm().load_into(MultiHeadAttention(384, 12)).eval()


# Lesson 4


def test_lesson_4_weights_set_to_zero_after_the_softmax_do_not_sum_to_one():
    weights = torch.randn(5, 5).softmax(-1) * causal_mask(5)
    assert (weights.sum(-1)[:-1] < 1).all()
    assert torch.allclose(masked_softmax(torch.randn(5, 5), causal_mask(5)).sum(-1), torch.ones(5))


def test_lesson_4_the_last_pairs_of_16_columns_are_thousands_of_positions_long():
    assert (wavelengths(16)[-2:] > 2000).all()
    table = sinusoidal_encoding(40, 16)
    assert (table[:, 13::2] > 0.99).all()
    assert abs(table[:, 12::2]).max() < 0.05


# Lesson 5


def test_lesson_5_dot_products_of_positions_depend_on_the_distance_and_rise_again_at_4():
    table = sinusoidal_encoding(12, 16)
    products = table @ table[0]
    assert products[0] == 8
    assert (products[:3] > products[1:4]).all()
    assert products[4] > products[3]
    assert (table @ table[4])[4:] == pytest.approx(products[:8])


def test_lesson_5_a_head_made_by_hand_looks_at_the_previous_token_and_row_0_at_itself():
    table = torch.as_tensor(sinusoidal_encoding(10, 32))
    weights = (8 * (table @ torch.as_tensor(rotation_matrix(-1, 32)).T) @ table.T).softmax(-1)
    assert weights.argmax(-1).tolist() == [0, *range(9)]


def test_lesson_5_the_layers_of_the_mini_transformer_have_most_of_its_parameters():
    model = new_model(tasks.sorting(), num_layers=2, encoding=LearnedPositionalEncoding(64, 32))
    count = {name: sum(p.numel() for p in part.parameters()) for name, part in model.named_children()}
    layer = {name: sum(p.numel() for p in part.parameters()) for name, part in model.layers[0].named_children()}
    assert count["layers"] > sum(count.values()) / 2
    assert sum(layer.values()) == pytest.approx(8500, abs=100)
    assert layer["attention"] / layer["feed_forward"] == pytest.approx(1, abs=0.05)


def test_lesson_5_a_table_trained_on_sorting_makes_neighbours_alike_and_leaves_unused_rows_as_they_were():
    table = LearnedPositionalEncoding(64, 32)
    model = new_model(tasks.sorting(), seed=0, num_layers=2, encoding=table)
    before = table.table.detach().clone()
    train(model, tasks.sorting())
    assert torch.equal(table.table[16:], before[16:])
    directions = F.normalize(table.table.detach()[:16], dim=-1)
    cosines = directions @ directions.T
    assert cosines.diagonal(1).mean() > 0.7
    assert cosines.diagonal(8).mean() < 0


def test_lesson_5_a_loss_below_what_is_possible_comes_from_a_mask_that_is_missing():
    losses, generator = {}, torch.Generator().manual_seed(0)
    for causal in (True, False):
        model = new_model(tasks.previous_token(), seed=0, causal=causal)
        optimiser = torch.optim.Adam(model.parameters(), lr=1e-2)
        for _ in range(150):
            tokens = torch.randint(10, (32, 17), generator=generator)
            logits, _ = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        losses[causal] = loss.item()
    assert losses[True] == pytest.approx(math.log(10), abs=0.1)
    assert losses[False] < math.log(10) / 3


# Lesson 6


def test_lesson_6_most_heads_of_layers_1_to_5_rest_on_cls(sentence):
    shares = sentence.maps[1:].mean(-2)
    assert (shares.argmax(-1) == 0).sum() == 57
    assert (shares[..., 0] > 0.5).sum() == 32
    assert (shares.argmax(-1) != 0).nonzero()[:, 0].min() == 2  # "in the upper layers": from layer 3 on
    assert head_scores.self_score(sentence.maps).max() < 0.185
    to_delimiters = head_scores.delimiter_score(sentence.maps, sentence.tokens).mean(1)
    assert to_delimiters[1:].tolist() == pytest.approx([0.5] * 5, abs=0.125)


def test_lesson_6_one_head_gives_its_neighbours_clearly_more_than_cls_and_one_looks_at_animal(sentence):
    maps = sentence.maps[1:]  # layers 1 to 5
    neighbours = (maps.diagonal(-1, -2, -1).sum(-1) + maps.diagonal(1, -2, -1).sum(-1)) / maps.shape[-1]
    shares = maps.mean(-2)
    assert (neighbours - shares[..., 0] > 0.05).nonzero().tolist() == [[0, 8]]
    assert (shares.argmax(-1) == sentence.tokens.index("animal")).nonzero()[:, 0].tolist() == [4]


def test_lesson_6_values_and_the_output_projection_do_not_reach_a_map_and_queries_and_keys_do(sentence):
    model = load_minilm()
    for name, reaches in (("q_proj", True), ("k_proj", True), ("v_proj", False), ("out_proj", False)):
        layer = model.load_into(MultiHeadAttention(384, 12)).eval()
        with torch.no_grad():
            getattr(layer, name).weight.copy_(getattr(layer, name).weight.T.clone())
            maps = layer(model.embed(sentence.tokens))[1][0]
        assert bool((maps - sentence.maps[0]).abs().max() > 0.5) == reaches


def test_lesson_6_the_next_token_head_has_a_range_and_the_previous_token_head_none():
    scores = [
        (
            head_scores.previous_token_score(other.maps)[0, 2].item(),
            head_scores.next_token_score(other.maps)[1, 8].item(),
        )
        for other in load_minilm().sentences
    ]
    previous, following = zip(*scores, strict=True)
    assert min(previous) > 0.995
    assert (round(min(following), 2), round(max(following), 2)) == (0.43, 0.67)


def test_lesson_6_the_head_that_looks_back_is_the_narrowest_of_all(sentence):
    entropies = head_scores.entropy(sentence.maps)
    assert divmod(entropies.argmin().item(), 12) == (0, 2)
    assert 2 ** entropies.max() > 12


def test_lesson_6_head_4_moves_the_output_most_and_no_score_names_it(sentence, layer_0):
    model = load_minilm()
    for other in model.sentences:
        x = model.embed(other.tokens)
        with torch.no_grad():
            whole = layer_0(x)[0]
            moves = torch.stack([(whole - ablate_head(layer_0, x, head)).abs().mean() for head in range(12)])
        assert moves.argmax() == 4
        assert 2 < moves.max() / moves.min() < 3.5
    map_of_head = sentence.maps[0, 4]
    assert 2 ** head_scores.entropy(map_of_head) == pytest.approx(9, abs=0.2)
    neighbours = (head_scores.previous_token_score, head_scores.next_token_score, head_scores.self_score)
    shares = [score(map_of_head) for score in neighbours]
    assert max(*shares, head_scores.delimiter_score(map_of_head, sentence.tokens)) < 0.3


def test_lesson_6_learned_positions_move_in_waves_and_sinusoids_stay_alike():
    learned = similarity_by_distance(load_minilm().position_vectors)
    fixed = similarity_by_distance(sinusoidal_encoding(64, 384))
    assert learned[[6, 12]].tolist() == pytest.approx([0.65, 0.65], abs=0.015)
    assert abs(learned[21]) < 0.01
    assert learned[1] == learned[1:].max()
    assert 0.48 <= fixed.min() < 0.49
    assert learned[1] < fixed[1]


def test_lesson_6_it_lets_go_of_animal_and_does_not_turn_to_street():
    wide = load_minilm().sentence("The animal didn't cross the street because it was too wide")
    tired = load_minilm().sentence("The animal didn't cross the street because it was too tired")
    for layer, head, kept in ((3, 1, False), (5, 11, True)):
        to_animal = [
            head_scores.attention_between(read.maps[layer, head], read.tokens, "it", "animal") for read in (tired, wide)
        ]
        assert to_animal[0] == pytest.approx(0.7, abs=0.05)
        assert bool(to_animal[1] > to_animal[0] / 2) == kept
        assert head_scores.attention_between(wide.maps[layer, head], wide.tokens, "it", "street") < 0.15
