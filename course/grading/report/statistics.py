"""Classical test theory for a class: difficulty, discrimination, reliability, each with its uncertainty.

``scores`` is (N students, K exercises) in points, ``maxima`` (K,); NaN where a grade is missing.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from course.grading.wording import plural

TAIL = 0.975  # the quantile at which an interval of 95 % ends
Z = stats.norm.ppf(TAIL)
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
    return [_share(column[~np.isnan(column)]) for column in (scores / maxima).T]


def mean_total(totals, maximum):
    """Mean of totals (N,) of 0 ... maximum, with Student's interval, which totals that do not vary have none of."""
    known = totals[~np.isnan(totals)]
    count = len(known)
    if not count:
        return UNKNOWN
    value = float(known.mean())
    if count < SMALL or np.ptp(known) == 0:
        return Estimate(value, np.nan, np.nan)
    reach = float(known.std(ddof=1) / np.sqrt(count) * stats.t.ppf(TAIL, count - 1))
    return Estimate(value, *np.clip([value - reach, value + reach], 0, maximum).tolist())


def discrimination(exercise, others):
    """Correlation of an exercise (N,) with the sum of the others (N, M), an Estimate with Fisher's interval.

    The exercise itself is left out of the sum (corrected item-total correlation), because it would correlate with
    itself. Students with a missing grade are left out.
    """
    total = others.sum(1)
    known = ~np.isnan(exercise + total)
    x, y = exercise[known], total[known]
    if others.shape[1] < 2 or len(x) < SMALL or np.ptp(x) == 0 or np.ptp(y) == 0:
        return UNKNOWN
    value = float(np.clip(np.corrcoef(x, y)[0, 1], -1, 1))
    with np.errstate(divide="ignore"):
        place, reach = np.arctanh(value), Z / np.sqrt(len(x) - 3)
    return Estimate(value, float(np.tanh(place - reach)), float(np.tanh(place + reach)))


def cronbach_alpha(scores):
    """Cronbach's alpha (1951) of the exercises, with Feldt's interval (1965).

    It is 1 when all exercises rank the students alike, and 0 when none agree.
    """
    rows = scores[~np.isnan(scores).any(1)]
    students, exercises = rows.shape
    if students < SMALL or exercises < 2 or np.ptp(rows.sum(1)) == 0:
        return UNKNOWN
    unexplained = float(rows.var(0, ddof=1).sum() / rows.sum(1).var(ddof=1))
    value = exercises / (exercises - 1) * (1 - unexplained)
    ratios = stats.f.ppf([TAIL, 1 - TAIL], students - 1, (students - 1) * (exercises - 1))
    return Estimate(value, *(float(1 - (1 - value) * ratio) for ratio in ratios))


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
            f"With {plural(students, 'student')} every number here is an anecdote: no intervals are shown, "
            "and neither discrimination nor reliability is computed."
        )
    if students < ROUGH:
        return (
            f"With {students} students the intervals are wide: read a difference inside them as no difference, "
            "and judge no exercise by its discrimination alone."
        )
    return ""


def _share(shares):
    """Mean of shares (N,), with Agresti and Coull's interval, which is no point where all shares are alike.

    Two shares of 1 and two of 0 are added. A mean of resampled classes would be certain of an exercise that all solve,
    and its intervals hold the truth in 75 to 90 of 100 classes of ten to fifteen.
    """
    count = len(shares)
    if not count:
        return UNKNOWN
    value = float(shares.mean())
    if count < SMALL:
        return Estimate(value, np.nan, np.nan)
    more = np.append(shares, [0, 0, 1, 1])
    reach = Z * more.std() / np.sqrt(len(more))
    return Estimate(value, *np.clip([more.mean() - reach, more.mean() + reach], 0, 1).tolist())
