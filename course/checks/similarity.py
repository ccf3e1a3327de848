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
    check_shape(result, expected.shape, _shape_hint(tuple(result.shape), *units.shape))
    check_true(
        not result.isnan().any(), "the result has NaN, the mean of nothing.", f"{_DISTANCES} Distance T has no pair."
    )
    check_close(result, expected, _COSINES, atol=1e-5, suspects=mistaken_cosines(cosines, expected, units))


def _shape_hint(shape, size, width):
    """What to say of a result of this shape for vectors (size, width)."""
    if shape == (size - 1,):
        return f"{_DISTANCES} One is missing: at distance 0 each vector meets itself."
    if shape == (width,):
        return f"{_DISTANCES} Here there is one for each of the d features: T is len(vectors)."
    if shape == (size, size):
        return f"{_DISTANCES} Here are the cosines of all pairs: take the mean of each diagonal."
    return _DISTANCES


def mistaken_cosines(cosines, right, units):
    """(hint, (T,)) for what people return instead; cosines (T, T) of units (T, d)."""
    size, width = units.shape
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
    yield "Add up the products of the features; here their mean is taken.", right / width
    yield "A cosine is the dot product of directions, without dividing by sqrt(d).", right / width**0.5
    yield "Each pair counts once; here both diagonals are added up.", 2 * right
    for said, of_pairs in _other_matrices(cosines, units):
        yield said, torch.stack([of_pairs.diagonal(k).mean() for k in range(size)])
    yield (
        "Position p goes from 0 to T - 1 - k, so range(T - k) has all pairs; here one is left out.",
        torch.stack([cosines.diagonal(k)[:-1].sum() / (size - k) for k in range(size)]),
    )
    yield (
        "Position p goes from 0 to T - 1 - k, so range(T - k) has all pairs; here one is left out.",
        torch.stack([cosines.diagonal(k)[:-1].sum() / max(size - k - 1, 1) for k in range(size)]),
    )
    yield (
        "Distance k is one diagonal; here all distances from k on are mixed.",
        torch.stack([cosines.triu(k).mean() for k in range(size)]),
    )
    yield (
        "Distance 0 alone was filled in: return stands behind the loop.",
        torch.cat([right[:1], torch.zeros(size - 1)]),
    )
    slices = [(units[: size - k], units[k:]) for k in range(size)]
    yield (
        "The cosine runs over the features, dim=-1; here it runs over positions.",
        torch.stack([torch.cosine_similarity(a, b, dim=0).mean() for a, b in slices]),
    )
    yield (
        "Take the cosine of each pair, and then the mean; here it is the cosine of two mean vectors.",
        torch.stack([torch.cosine_similarity(a.mean(0), b.mean(0), dim=0) for a, b in slices]),
    )
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


def _other_matrices(cosines, units):
    """(hint, (T, T)) for what people take the diagonals of, instead of the cosines."""
    normalise = torch.nn.functional.normalize
    columns, sums = normalise(units, dim=0), normalise(units, p=1, dim=-1)
    centred = normalise(units - units.mean(0), dim=-1)
    yield (
        "Divide each vector by its own norm, dim=-1; here each feature is divided, over all positions.",
        columns @ columns.T,
    )
    yield "The length of a vector is the root of its sum of squares; here absolute values are added up.", sums @ sums.T
    yield "Take the vectors as they are; here the mean vector was taken off.", centred @ centred.T
    yield "A cosine takes the features as they are; this is a correlation, with their mean taken off.", units.corrcoef()
    yield "The cosines are no scores: no softmax.", cosines.softmax(-1)
    yield "The dot product of directions is the cosine already: no cos of it.", cosines.cos()
