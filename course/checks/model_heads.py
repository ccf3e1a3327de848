"""Checks of what is done with a model's heads: weights loaded, the strongest found, and how far the output moves."""

from contextlib import suppress

import torch

from course import minilm
from course.attention import ablate_head
from course.checks.compare import (
    agrees,
    as_array,
    check_close,
    check_shape,
    check_tensor,
    check_true,
    dtype_name,
    kind_of,
    refuse_none,
)
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.inputs import normal
from course.checks.model_head_slips import FROM_A_NUMBER, mistaken_moves, mistaken_places
from course.checks.probes import HeadsProbe

_PAIR = "Return (layer, head): where in scores (L, H) the largest entry stands."
_AXIS = "Along one axis argmax and max answer for each row or column: find the largest of all entries."
_COPY = "Fill the layer that was given, and return it: no deepcopy, and no new layer."
_DIRECTION = "a.copy_(b) writes b into a: the layer's parameter stands before the dot."
_NOTHING = (
    "Nothing was written into layer: layer.q_proj.weight.copy_(...) does it, a new variable or attribute does not, and "
    "load_state_dict takes the layer's own names alone."
)
_MOVES = "Entry h is the mean of abs(whole - without), all entries of the output, with head h alone taken away."


# Loading


@check("every weight in its place")
def loading_values(candidate, cases):
    """cases: (embed_dim, num_heads)."""
    for seed, case in enumerate(cases):
        layer, weights = _fresh_layer(case, seed)
        result, (after, *_) = candidate.observe(layer, weights)
        refuse_none(result, "what load_layer returned")
        check_true(isinstance(result, HeadsProbe), f"load_layer returned {kind_of(result)}.", "End with return layer.")
        _check_loaded(result, weights, layer, "the layer returned has")
        if not _moved(layer, after):
            raise CheckFailed("the layer given is as it was, and another was returned.", _COPY)
        _check_loaded(after, weights, layer, "the layer given has")


@check("weights and the rest of the layer as they were")
def loading_leaves(candidate, case):
    layer, weights = _fresh_layer(case)
    before = {name: value.clone() for name, value in weights.items()}
    _, (after, weights_after) = candidate.observe(layer, weights)
    kept, frozen, *_ = after.record().tolist()
    same = set(before) == set(weights_after) and all(torch.equal(before[n], weights_after[n]) for n in before)
    moved = _moved(layer, after)
    _, (in_training, _) = candidate.observe(layer.train(), weights)
    for condition, seen, hint in (
        (moved or same, "weights was changed, and not the layer.", _DIRECTION),
        (moved, "nothing in the layer given has changed.", "Copy into the parameters of layer itself."),
        (same, "weights was changed.", "Leave the dict and its tensors alone: copy_ reads, pop and *= write."),
        (frozen == 0, "parameters of the layer are frozen now.", "Leave requires_grad as it was: True."),
        (kept == 0, "parameters of the layer hold gradients now.", "Copy under torch.no_grad()."),
        *after.left_alone(case[1], "Copy numbers, and nothing else."),
        (in_training.training, "a layer in train mode came back in eval mode.", "Leave the mode to the caller."),
    ):
        check_true(condition, seen, hint)


def _moved(layer, after):
    """Whether any number of the layer has changed."""
    new = after.state_dict()
    return any(name not in new or not torch.equal(old, new[name]) for name, old in layer.state_dict().items())


def _fresh_layer(case, seed=0):
    """(a layer, eight weights by the names of a checkpoint, in another order than the layer's)."""
    width, num_heads = case
    weights = {
        f"{theirs}.{part}": normal(*shape, seed=100 * seed + 10 * number + len(shape))
        for number, theirs in enumerate(reversed(minilm.CHECKPOINT_NAMES.values()))
        for part, shape in (("weight", (width, width)), ("bias", (width,)))
    }
    return HeadsProbe(width, num_heads).eval(), weights


def _check_loaded(layer, weights, fresh, who):
    """Fail with what stands in the first parameter that does not hold its weight."""
    found, before = layer.state_dict(), fresh.state_dict()
    for name, old in before.items():
        check_true(name in found, f"{who} no parameter {name} any more.", "Write into the parameters that are there.")
        same = found[name].dtype == old.dtype
        check_true(same, f"{who} {dtype_name(found[name])} in {name}.", "Leave the precision of the layer as it is.")
    if not _moved(fresh, layer):
        raise CheckFailed(f"{who} its old numbers in q_proj.weight, and everywhere.", _NOTHING)
    arrived = [name for name, value in found.items() if not agrees(value, before[name], 1e-6)]
    for ours, theirs in minilm.CHECKPOINT_NAMES.items():
        for part in ("weight", "bias"):
            value, wanted = found[f"{ours}.{part}"], weights[f"{theirs}.{part}"]
            if agrees(value, wanted, 1e-6):
                continue
            others = [name for name, other in weights.items() if agrees(value, other, 1e-6)]
            if value.shape != wanted.shape:
                seen, hint = f"the shape {tuple(value.shape)}", "Write into the parameters that are there, of any size."
            elif agrees(value, before[f"{ours}.{part}"], 1e-6):
                seen, hint = "its old numbers", f"Copy {theirs}.{part} into layer.{ours}.{part}."
                if all(name.startswith("q_proj") for name in arrived):
                    hint = "q_proj alone was written to: go through all four, and return behind the loop."
            elif part == "weight" and agrees(value, wanted.T, 1e-6):
                seen, hint = "its weight transposed", "Both are (out, in), as nn.Linear has it: copy without transpose."
            elif others:
                seen, hint = f"the weight called {others[0]}", f"It belongs to another projection: {theirs} is {ours}."
            else:
                seen, hint = "other numbers", f"Copy {theirs}.{part} as it is, without a scale or a sum."
            raise CheckFailed(f"{who} {seen} in {ours}.{part}.", hint)


# The strongest head


@check("largest score by hand")
def strongest_by_hand(candidate, scores, expected):
    _check_place(candidate, torch.tensor(scores), tuple(expected))


@check("any numbers of layers and heads")
def strongest(candidate, cases):
    """cases: (L, H, layer, head) with the place of the largest score."""
    for seed, (layers, heads, *place) in enumerate(cases):
        scores = _scores(layers, heads, place, seed + 80)
        if seed % 2:
            scores = 1e6 * (scores - 2)  # all of them negative, and far from 0
        _check_place(candidate, scores, tuple(place))


def _scores(layers, heads, place, seed):
    """Scores (L, H) from 0 to 1.1, the largest at ``place``."""
    scores = normal(layers, heads, seed=seed).sigmoid()
    scores[place[0]] *= 0.1  # so that neither its layer nor its head has the largest mean
    scores[:, place[1]] *= 0.1
    scores[tuple(place)] = 1.1
    return scores


def _check_place(candidate, scores, place):
    found, (after,) = candidate.observe(scores)
    if scores.max() < 0:  # one that returns nothing at all has failed before
        check_true(found is not None, "the result is None where all scores are negative.", FROM_A_NUMBER)
    pair = _pair(found, scores)
    if pair != place:
        hint = mistaken_places(scores, place).get(pair, _PAIR)
        if not scores.max() < 0:
            place = (3, 2)
            larger = _scores(7, 9, place, 7)  # where every slip gives another place, as it may not on paper
            with suppress(CheckFailed):
                hint = mistaken_places(larger, place).get(_pair(candidate(larger), larger), hint)
        raise CheckFailed("this is not where the largest score stands.", hint)
    check_true(torch.equal(scores, after), "scores was changed in place.", "Read scores, and write into none of it.")


def _pair(found, scores):
    """What was returned as two ints. CheckFailed when it is no pair of whole numbers."""
    refuse_none(found)
    entries = found.tolist() if hasattr(found, "tolist") else found
    if not isinstance(entries, tuple | list) or len(entries) != 2:
        raise CheckFailed(f"the result is {kind_of(found)}, wanted a pair.", _no_pair(entries, scores))
    values = []
    for entry in entries:
        words = isinstance(entry, str)
        check_true(not words, "an entry of the pair is a text.", "Return two whole numbers, without words: (1, 3).")
        values.append(as_array(entry, "an entry of the pair"))
    check_true(all(value.size == 1 for value in values), "an entry of the pair is not one number.", _AXIS)
    whole = all("float" not in dtype_name(e) if hasattr(e, "dtype") else type(e) is int for e in entries)
    hint = "Whole numbers count layers and heads: divide by //, or take divmod; / makes a float."
    check_true(whole, "an entry of the pair is a float, no whole number.", hint)
    return tuple(int(value.reshape(())) for value in values)


def _no_pair(entries, scores):
    """The hint for what is no pair."""
    if isinstance(entries, int):
        return "argmax counts through all entries, row by row: split its number into layer and head; divmod does it."
    if isinstance(entries, float):
        return "This is the score itself: return where it stands." if agrees(entries, scores.max()) else _PAIR
    if isinstance(entries, tuple | list) and len(entries) == 1:
        return "Here is a list of one place: take the place out, with [0]."
    if isinstance(entries, list) and len(entries) in scores.shape:
        return _AXIS
    return _PAIR


# How far the output moves without a head


@check("how far the output moves")
def importance_values(candidate, cases):
    """cases: (B, T, E, H)."""
    for seed, case in enumerate(cases):
        layer, x = _layer_and_input(case, seed)
        with torch.no_grad():
            whole = layer(x)[0]
            moves = torch.stack([whole - ablate_head(layer, x, head) for head in range(case[-1])])  # (H, B, T, E)
        result = candidate(layer, x)
        array = as_array(result)
        check_shape(array, (case[-1],), _one_for_each_head(array.shape, case[-1]))
        expected = as_array(moves.abs().mean((1, 2, 3)))
        check_close(array, expected, _MOVES, atol=1e-5, suspects=mistaken_moves(layer, x, moves, whole))


def _one_for_each_head(shape, num_heads):
    if len(shape) == 1 and shape[0] < num_heads:
        return "One number for each head: range(layer.num_heads) has them all; return stands behind the loop."
    if not shape:
        return "One number for each head: keep each one in a list, and make one tensor of them."
    return "One number for each head: the mean runs over batch, tokens and features."


@check("layer and x left as they were, no gradient kept")
def importance_leaves(candidate, case):
    layer, x = _layer_and_input(case)
    result, (after, x_after) = candidate.observe(layer, x)
    check_tensor(result)
    kept, frozen, *_ = after.record().tolist()
    same = all(torch.equal(a, b) for a, b in zip(layer.parameters(), after.parameters(), strict=True))
    for condition, seen, hint in (
        (not result.requires_grad, "the result still carries its graph.", "Measure under torch.no_grad()."),
        (same, "the layer's parameters were changed.", "Change a copy of the layer, or none at all."),
        (kept == 0, "the layer's parameters hold gradients now.", "Compute outputs only, without backward()."),
        (frozen == 0, "the layer's parameters were frozen.", "Use torch.no_grad() instead of requires_grad_(False)."),
        *after.left_alone(case[-1]),
        (torch.equal(x, x_after), "x was changed in place.", "Make new tensors: -= writes into x."),
    ):
        check_true(condition, seen, hint)


def _layer_and_input(case, seed=0):
    """(layer in eval mode, x (B, T, E))."""
    batch, time, width, num_heads = case
    return HeadsProbe(width, num_heads).eval(), normal(batch, time, width, seed=seed + 120)
