"""Classical test theory for a class: difficulty, discrimination, reliability, each with its uncertainty.

``scores`` is (N students, K exercises) in points, ``maxima`` (K,); NaN where a grade is missing.
"""

from typing import NamedTuple

import numpy as np

RESAMPLES = 2000
LEVEL = 0.95
SMALL = 10  # below this an interval says nothing; below ROUGH a number is a hint
ROUGH = 30


class Estimate(NamedTuple):
    """A number and its interval; all NaN when it cannot be computed."""

    value: float
    low: float
    high: float

    def known(self):
        return not np.isnan(self.value)


UNKNOWN = Estimate(np.nan, np.nan, np.nan)


def mean_share(scores, maxima):
    """Mean share of the points of each exercise, a list of K Estimates: 1 is easy, 0 hard."""
    shares = scores / maxima
    return [_bootstrap(column[~np.isnan(column)][:, None], lambda rows: rows[..., 0].mean(-1)) for column in shares.T]


def discrimination(exercise, others):
    """Correlation of an exercise (N,) with the sum of the others (N, M), an Estimate.

    The exercise itself is left out of the sum (corrected item-total correlation), because it would correlate with
    itself. Students with a missing grade are left out.
    """
    if others.shape[1] < 2:
        return UNKNOWN
    pairs = np.stack([exercise, others.sum(1)], 1)
    whole = pairs[~np.isnan(pairs).any(1)]
    return _bootstrap(whole, lambda rows: _correlation(rows[..., 0], rows[..., 1]))


def cronbach_alpha(scores):
    """Cronbach's alpha (1951) of the exercises; 1 when all rank the students alike, 0 when none agree."""
    return _bootstrap(scores[~np.isnan(scores).any(1)], _alpha)


def standard_error(scores, alpha):
    """Points by which a student's total would vary if the test were repeated: sd * sqrt(1 - alpha)."""
    totals = scores[~np.isnan(scores).any(1)].sum(1)
    if len(totals) < 2 or not alpha.known():
        return np.nan
    return float(totals.std(ddof=1) * np.sqrt(1 - np.clip(alpha.value, 0, 1)))


def distribution(totals, maximum):
    """(counts, edges) of totals in at most ten round steps of 0 ... maximum; the maximum is in the last."""
    if maximum <= 0:
        return [], [0.0]
    step = next(size * 10.0**power for power in range(9) for size in (1, 2, 5) if maximum <= 10 * size * 10.0**power)
    edges = np.append(np.arange(0, maximum, step), maximum)
    counts = np.histogram(np.clip(totals[~np.isnan(totals)], 0, maximum), edges)[0]
    return counts.tolist(), edges.tolist()


def quartiles(values):
    """(25 %, 50 %, 75 %) of the known values, NaN without any."""
    known = np.asarray(values, float)
    known = known[~np.isnan(known)]
    return tuple(map(float, np.percentile(known, [25, 50, 75]))) if len(known) else (np.nan,) * 3


def caveat(students):
    """What a reader of these numbers must know about a class of this size, or an empty string."""
    if students < SMALL:
        return (
            f"With {students} students every number here is an anecdote: no intervals are shown, "
            "and neither discrimination nor reliability is computed."
        )
    if students < ROUGH:
        return (
            f"With {students} students the intervals are wide: read a difference inside them as no difference, "
            "and judge no exercise by its discrimination alone."
        )
    return ""


def _alpha(rows):
    """Alpha over the last two axes of rows (..., N, K)."""
    count = rows.shape[-1]
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = rows.var(-2, ddof=1).sum(-1)
        return count / (count - 1) * (1 - parts / rows.sum(-1).var(-1, ddof=1)) if count > 1 else np.nan * parts


def _correlation(x, y):
    """Pearson correlation along the last axis, NaN where either does not vary."""
    x, y = x - x.mean(-1, keepdims=True), y - y.mean(-1, keepdims=True)
    norm = np.sqrt((x * x).sum(-1) * (y * y).sum(-1))
    return np.where(norm > 1e-12, (x * y).sum(-1) / np.where(norm > 1e-12, norm, 1), np.nan)


def _bootstrap(rows, statistic):
    """Estimate of statistic(rows) with a percentile interval over resampled students; rows (N, ...).

    The generator is seeded, so a report made twice is the same.
    """
    count = len(rows)
    if count == 0:
        return UNKNOWN
    value = float(statistic(rows))
    if count < SMALL or np.isnan(value):
        return Estimate(value, np.nan, np.nan)
    rng = np.random.default_rng(0)
    batch = max(1, 2_000_000 // rows.size)  # keeps memory flat for large classes
    drawn = [
        statistic(rows[rng.integers(count, size=(min(batch, RESAMPLES - start), count))])
        for start in range(0, RESAMPLES, batch)
    ]
    drawn = np.concatenate([np.atleast_1d(part) for part in drawn])
    drawn = drawn[~np.isnan(drawn)]
    low, high = np.percentile(drawn, [50 * (1 - LEVEL), 50 * (1 + LEVEL)]) if len(drawn) else (np.nan, np.nan)
    return Estimate(value, float(low), float(high))
