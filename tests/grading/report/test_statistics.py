"""The numbers of test theory, against cases that can be worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.grading.report import statistics


def test_alpha_is_one_when_all_exercises_rank_alike():
    ability = np.arange(12.0)[:, None]
    assert statistics.cronbach_alpha(np.repeat(ability, 4, 1)).value == pytest.approx(1)


def test_alpha_of_a_case_by_hand():
    scores = np.array([[1.0, 2], [2, 2], [3, 5]] * 4)  # variances 8/11, 24/11; of the sum 56/11
    assert statistics.cronbach_alpha(scores).value == pytest.approx(2 * (1 - (8 + 24) / 56))


def test_alpha_of_unrelated_exercises_is_near_zero_and_inside_its_interval():
    estimate = statistics.cronbach_alpha(np.random.default_rng(1).normal(size=(400, 6)))
    assert estimate.low < 0 < estimate.high


def test_the_interval_of_alpha_shrinks_with_the_class():
    rng = np.random.default_rng(2)
    ability = rng.normal(size=(900, 1))
    scores = ability + rng.normal(size=(900, 5))
    small, large = (statistics.cronbach_alpha(part) for part in (scores[:30], scores))
    assert large.high - large.low < (small.high - small.low) / 2


def test_discrimination_leaves_the_exercise_itself_out():
    rng = np.random.default_rng(3)
    noise = rng.normal(size=(2000, 1)) * 10  # would dominate the sum if it counted
    ability = rng.normal(size=(2000, 1))
    others = np.hstack([ability, ability + 0.1 * rng.normal(size=(2000, 1)), ability])
    assert abs(statistics.discrimination(noise[:, 0], others).value) < 0.1
    assert statistics.discrimination(-ability[:, 0], others[:, ::2]).value == pytest.approx(-1)


def test_an_exercise_that_everyone_solves_has_no_discrimination():
    others = np.random.default_rng(4).normal(size=(50, 3))
    assert not statistics.discrimination(np.full(50, 2.0), others).known()


def test_discrimination_leaves_out_who_lacks_a_grade_and_needs_two_other_exercises():
    scores = np.random.default_rng(6).normal(size=(40, 4))
    complete = statistics.discrimination(scores[:, 0], scores[:, 1:])
    gaps = np.full((2, 4), np.nan)
    gaps[0, 0] = gaps[1, 3] = 1.0
    longer = np.vstack([scores, gaps])
    assert statistics.discrimination(longer[:, 0], longer[:, 1:]) == complete
    assert not statistics.discrimination(scores[:, 0], scores[:, 1:2]).known()


def test_mean_share_passes_over_missing_grades():
    scores = np.array([[4.0], [2.0], [np.nan]])
    assert statistics.mean_share(scores, np.array([4.0]))[0].value == pytest.approx(0.75)


def test_a_small_class_gets_no_interval_and_a_caveat():
    estimate = statistics.mean_share(np.ones((5, 1)), np.ones(1))[0]
    assert estimate.value == 1
    assert np.isnan(estimate.low)
    assert "anecdote" in statistics.caveat(5)
    assert "wide" in statistics.caveat(20)
    assert statistics.caveat(200) == ""


def test_the_interval_of_a_mean_is_students():
    estimate = statistics.mean_total(np.append(np.arange(10.0), np.nan), 25)
    assert estimate.value == 4.5
    assert estimate.high - 4.5 == pytest.approx(2.262 * np.std(np.arange(10), ddof=1) / np.sqrt(10), rel=0.01)


def test_the_interval_of_a_mean_stays_within_the_points_and_needs_totals_that_vary():
    estimate = statistics.mean_total(np.array([25.0] * 11 + [20.0]), 25)
    assert estimate.low < estimate.value < estimate.high == 25
    assert np.isnan(statistics.mean_total(np.full(12, 25.0), 25).low)


def test_the_interval_of_alpha_is_feldts():
    estimate = statistics.cronbach_alpha(np.random.default_rng(7).normal(size=(11, 3)))
    ratios = [(1 - bound) / (1 - estimate.value) for bound in (estimate.low, estimate.high)]
    assert ratios == pytest.approx([2.774, 1 / 3.419], rel=0.02)  # F with 10 and 20 degrees of freedom, from a table


def test_the_interval_of_discrimination_is_fishers():
    waves = np.array([np.sin, np.cos])[:, None]
    x, y = (wave(2 * np.pi * np.arange(28) / 28) for [wave] in waves)
    others = np.stack([x / 2, y * np.sqrt(0.75)], 1)  # their sum correlates with x by a half
    estimate = statistics.discrimination(x, others)
    assert estimate == pytest.approx((0.5, 0.156, 0.736), abs=0.001)


@pytest.mark.parametrize("solved", [0.0, 1.0])
def test_what_all_solve_or_no_one_is_not_certain(solved):
    [estimate] = statistics.mean_share(np.full((20, 1), solved), np.ones(1))
    assert estimate.value == solved
    assert {estimate.low, estimate.high} & {solved}
    assert 0.1 < estimate.high - estimate.low < 0.3


@given(st.lists(st.floats(0, 1), min_size=10, max_size=60))
def test_a_share_lies_in_its_interval(shares):
    [estimate] = statistics.mean_share(np.array(shares)[:, None], np.ones(1))
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_intervals_of_small_classes_hold_the_truth_as_often_as_they_say():
    rng, held = np.random.default_rng(8), np.zeros(3)
    for _ in range(400):
        ability = rng.normal(size=(12, 1))
        scores = (0.6 * ability + 0.8 * rng.normal(size=(12, 8)) > 0).astype(float)
        estimates = [
            statistics.mean_share(scores[:, :1], np.ones(1))[0],
            statistics.discrimination(scores[:, 0], scores[:, 1:]),
            statistics.cronbach_alpha(scores),
        ]
        for k, (estimate, truth) in enumerate(zip(estimates, (0.5, 0.398, 0.709), strict=True)):
            held[k] += not estimate.known() or estimate.low <= truth <= estimate.high
    assert (held / 400 > 0.92).all(), held / 400


def test_standard_error_is_the_spread_when_nothing_is_reliable():
    totals = np.array([[1.0], [3.0], [5.0]])
    assert statistics.standard_error(totals, statistics.Estimate(0.0, 0, 0)) == pytest.approx(2)
    assert statistics.standard_error(totals, statistics.Estimate(1.0, 1, 1)) == 0


@given(st.lists(st.floats(0, 100), min_size=1), st.sampled_from([1, 4, 13, 25, 45, 100]))
def test_every_total_is_in_one_bin(totals, maximum):
    counts, edges = statistics.distribution(np.array(totals), maximum)
    assert sum(counts) == len(totals)
    assert len(edges) == len(counts) + 1 <= 11
    assert (edges[0], edges[-1]) == (0, maximum)


def test_a_report_made_twice_is_the_same():
    scores = np.random.default_rng(5).normal(size=(40, 4))
    assert statistics.cronbach_alpha(scores) == statistics.cronbach_alpha(scores)
