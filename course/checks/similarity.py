"""Checks of cosine_by_distance, how alike vectors (T, d) are that stand 0, 1, ... T-1 positions apart."""

import torch

from course.checks.compare import as_array, check_close, check_shape, check_tensor, check_true
from course.checks.exam import check
from course.checks.inputs import normal
from course.minilm import similarity_by_distance

_COSINES = "Entry k is the mean of the cosines of vectors[p] and vectors[p + k], over all p where both exist."
_DISTANCES = "Entry k belongs to distance k, from 0 to T - 1."


@check("vectors of length 1")
def cosine_of_units(candidate, cases):
    """cases: (T, d)."""
    for seed, case in enumerate(cases):
        vectors = _vectors(*case, seed)
        _check_cosines(candidate, torch.nn.functional.normalize(vectors, dim=-1))


@check("vectors of any length")
def cosine_of_any(candidate, cases):
    """cases: (T, d). The answer's own result for the same directions is what this part compares with."""
    for seed, (time, width) in enumerate(cases):
        vectors = _vectors(time, width, seed + 5)
        units = torch.nn.functional.normalize(vectors, dim=-1)
        lengths = torch.linspace(0.3, 4.0, time).roll(seed + 2)[:, None]
        own = as_array(candidate(units))
        result, (after,) = candidate.observe(units * lengths)
        array = as_array(result)
        check_shape(array, own.shape, _DISTANCES)
        hint = "A cosine does not change with the length of a vector: divide each vector by its own norm, row by row."
        check_true(bool((abs(own) > 1e-3).any()), "the result is 0 everywhere.", _COSINES)
        check_close(array, own, hint, atol=1e-3)
        check_true(torch.equal(units * lengths, after), "vectors was changed in place.", "/= writes into it: use /.")


def _vectors(time, width, seed):
    """Vectors (T, d) that are more alike where they stand near each other, and not centred."""
    steps = normal(time, width, seed=seed + 140)
    return steps + 0.8 * steps.roll(1, 0) + 0.4


def _check_cosines(candidate, units):
    cosines = units @ units.T
    expected = similarity_by_distance(units)
    result = candidate(units)
    check_tensor(result)
    hint = _DISTANCES
    if tuple(result.shape) == (len(units) - 1,):
        hint = f"{_DISTANCES} One is missing: at distance 0 each vector meets itself."
    check_shape(result, expected.shape, hint)
    check_close(result, expected, _COSINES, atol=1e-5, suspects=mistaken_cosines(cosines, expected))


def mistaken_cosines(cosines, right):
    """(hint, (T,)) for what people return instead; cosines (T, T)."""
    size = len(cosines)
    counts = torch.arange(size, 0, -1)
    around = torch.stack([cosines.gather(1, ((torch.arange(size) + k) % size)[:, None]).mean() for k in range(size)])
    yield "This compares with the first vector alone: take all pairs at that distance.", cosines[0]
    yield "This compares with the last vector alone: take all pairs at that distance.", cosines[-1].flip(0)
    yield "Take the mean over the pairs; here it is the sum.", right * counts
    yield "At distance k there are T - k pairs: divide by that, not by T.", right * counts / size
    yield "Positions do not go round: the last has none after it.", around
    yield (
        "Take the cosines as they are; here their absolute values are averaged.",
        torch.stack([cosines.abs().diagonal(k).mean() for k in range(size)]),
    )
    yield (
        "Take the cosines as they are; here they are squared.",
        torch.stack([(cosines**2).diagonal(k).mean() for k in range(size)]),
    )
    yield "This is 1 minus the cosine: return the cosine.", 1 - right
    yield "Each vector has a norm of its own; here all were divided by one number.", right / size
    yield "This is the mean of each row, all distances mixed: take the diagonals.", cosines.mean(1)
    yield "Entry k belongs to distance k: here the order is turned round.", right.flip(0)
    yield (
        "One pair stands for each distance here: take the mean over all of them.",
        torch.stack([cosines.diagonal(k)[-1] for k in range(size)]),
    )
    yield (
        "Take the mean over the pairs; here it is the median.",
        torch.stack([cosines.diagonal(k).median() for k in range(size)]),
    )
    yield (
        "Take the mean over the pairs; here it is the largest.",
        torch.stack([cosines.diagonal(k).max() for k in range(size)]),
    )
    yield (
        "These are distances between the vectors: take cosines, dot products of directions.",
        torch.stack([(2 - 2 * cosines).clamp(min=0).sqrt().fill_diagonal_(0).diagonal(k).mean() for k in range(size)]),
    )
