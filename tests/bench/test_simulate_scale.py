"""The queue of the simulation, against cases that can be worked out by hand."""

import numpy as np
import pytest

from bench.simulate_scale import PAGE, arrivals, read_times, simulate, span, tables


def run(come, grading, writing, workers):
    return simulate(np.array(come, float), np.array(grading, float), np.array(writing, float), workers)


def test_two_workers_share_four_equal_submissions():
    result = run([0] * 4, [10] * 4, [0] * 4, workers=2)
    assert result.finished == 20
    assert sorted(result.waits) == [10, 10, 20, 20]
    assert result.workers_busy == 1


def test_one_writer_holds_up_many_workers():
    result = run([0] * 5, [1] * 5, [3] * 5, workers=5)
    assert result.finished == 1 + 5 * 3
    assert result.writer_busy == pytest.approx(15 / 16)


def test_a_submission_that_meets_a_free_worker_waits_for_itself_only():
    result = run([0, 100, 200], [5] * 3, [1] * 3, workers=1)
    assert list(result.waits) == [6, 6, 6]


def test_a_slow_submission_holds_up_no_one_while_workers_are_free():
    result = run([0, 0, 0], [100, 1, 1], [0, 0, 0], workers=2)
    assert list(result.waits) == [100, 1, 2]


def test_half_of_the_submissions_come_in_the_last_half_life():
    come = arrivals(20_000, 6.0, np.random.default_rng(0))
    assert np.all(np.diff(come) >= 0)
    assert come.max() <= 0
    assert np.mean(come > -6) == pytest.approx(0.5, abs=0.02)


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.24, "1.2 s"), (600, "10.0 min"), (9000, "2.5 h"), (259200, "3.0 days")]
)
def test_spans_read_well(seconds, text):
    assert span(seconds) == text


def test_the_page_shows_the_tables_of_the_measured_times():
    expected = tables(read_times("cpu_seconds"), 100_000, 6 * 3600.0, 0.05)
    assert expected in PAGE.read_text("utf-8")
