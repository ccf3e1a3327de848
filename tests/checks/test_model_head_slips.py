"""The slips that checks of lesson 6 name are none of them right, and a hint belongs to one value."""

import pytest
import torch

from course import head_scores
from course.attention import ablate_head
from course.checks import map_scores, map_slips, model_head_slips, model_heads, similarity
from course.checks.compare import agrees
from course.checks.inputs import normal
from course.checks.probes import HeadsProbe
from tests.checks.slips import taken_for_right

WEIGHTS = map_scores.maps(7, 7, seed=35)
TOKENS = ["[CLS]", "a", "b", "[SEP]", "c", "d", "[SEP]"]


def moves_of_a_layer():
    layer, x = HeadsProbe(12, 3).eval(), normal(2, 5, 12, seed=3)
    with torch.no_grad():
        whole = layer(x)[0]
        moves = torch.stack([whole - ablate_head(layer, x, head) for head in range(3)])
        return moves.abs().mean((1, 2, 3)), list(model_head_slips.mistaken_moves(layer, x, moves, whole))


def cosines_of_vectors():
    units = torch.nn.functional.normalize(normal(7, 4, seed=5) + 0.3, dim=-1)
    right = similarity.similarity_by_distance(units)
    return right, list(similarity.mistaken_cosines(units @ units.T, right, units))


SLIPS = {
    "previous token": (head_scores.previous_token_score(WEIGHTS), list(map_slips.neighbour_slips(WEIGHTS, -1))),
    "itself": (head_scores.self_score(WEIGHTS), list(map_slips.neighbour_slips(WEIGHTS, 0))),
    "next token": (head_scores.next_token_score(WEIGHTS), list(map_slips.neighbour_slips(WEIGHTS, 1))),
    "delimiters": (head_scores.delimiter_score(WEIGHTS, TOKENS), list(map_slips.delimiter_slips(WEIGHTS, TOKENS))),
    "entropy": (head_scores.entropy(WEIGHTS), list(map_slips.entropy_slips(WEIGHTS))),
    "moves": moves_of_a_layer(),
    "cosines": cosines_of_vectors(),
}


@pytest.mark.parametrize("name", SLIPS)
def test_no_slip_is_right(name):
    assert taken_for_right(*SLIPS[name], tolerance=1e-6) == []


def test_a_layer_that_is_loaded_differs_from_what_is_loaded():
    layer, weights = model_heads._fresh_layer((12, 3))
    values = [*layer.state_dict().values(), *weights.values()]
    same = [(a, b) for i, a in enumerate(values) for b in values[:i] if agrees(a, b)]
    assert same == []


def test_no_place_that_is_mistaken_is_right():
    place = (3, 2)
    scores = model_heads._scores(7, 9, place, 7)
    slips = model_head_slips.mistaken_places(scores, place)
    assert place not in slips
    assert len(slips) == 19  # all but the one for negative scores: each slip has a place of its own
