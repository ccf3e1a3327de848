"""What is made of measured milliseconds; measuring itself is for the benchmark."""

import math

from bench.latency import summarise


def test_the_first_press_stands_beside_median_95_per_cent_and_worst():
    latency = summarise([300.0, *range(1, 21)], lost=2, settled=40.0)
    assert (latency.first, latency.median, latency.high, latency.worst) == (300, 11, 20, 300)
    assert (latency.lost, latency.settled) == (2, 40)


def test_one_press_is_all_of_them():
    assert summarise([30.0], 0, 0.0)[:4] == (30, 30, 30, 30)


def test_where_every_press_was_lost_there_is_no_number():
    latency = summarise([], lost=60, settled=0.0)
    assert all(math.isnan(figure) for figure in latency[:4]) and latency.lost == 60
