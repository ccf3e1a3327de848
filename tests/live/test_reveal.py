import numpy as np

from course import attention
from course.live.picture import Box, Text
from course.live.reveal import compute, explore


def test_the_scores_become_the_weights():
    answer = compute(3)
    assert np.allclose(np.exp(answer.scores) / np.exp(answer.scores).sum(), answer.weights, atol=1e-6)


def test_nothing_is_given_away_before_it_is_revealed():
    explorer = explore(guess=(0.2,) * 5)
    shown = explorer.svg + explorer.summary
    assert "attention: " not in shown and "miss" not in shown
    assert not any(f"{weight:.2f}" in explorer.svg for weight in compute(2).weights)


def test_the_largest_miss_is_named_in_words():
    weights = compute(2).weights
    guess = weights.copy()
    guess[1] -= 0.2
    guess[4] += 0.1
    summary = explore(guess=guess, revealed=True).summary
    assert summary.startswith("The largest miss is cat (1): ")
    assert "so your guess is 0.20 too little" in summary
    assert "Your row sums to 0.90, not to 1." in summary


def test_a_close_guess_is_told_so():
    assert explore(guess=compute(2).weights, revealed=True).summary.startswith("Every weight is within 0.00")


def test_a_row_that_does_not_sum_to_one_is_said_before():
    assert "Your row sums to 0.50" in explore(guess=(0.1,) * 5).summary


def test_nothing_predicted():
    assert explore(revealed=True).summary.startswith("Nothing was predicted")


def test_the_row_is_filled_in_through_its_boxes():
    explorer = explore()
    boxes = explorer.view.controls["guess"].inputs
    boxes[3].value = 0.4
    assert explorer.parameters["guess"] == (0, 0, 0, 0.4, 0)
    explorer.set(guess=(0.1, 0.2, 0.3, 0.4, 0))
    assert [box.value for box in boxes] == [0.1, 0.2, 0.3, 0.4, 0]


def test_the_students_function_is_a_bar_of_its_own():
    explorer = explore(attention.scaled_dot_product_attention, revealed=True)
    assert "agrees with the course's" in explorer.summary
    assert "your function" in explorer.frame.panels[0].alt


def test_an_array_of_the_wrong_length_is_explained_and_the_boxes_keep_working():
    explorer = explore(guess=np.ones(3))
    assert explorer.problem == "guess has 3 weights: give 5 weights from 0 to 1."
    explorer.view.controls["query"].inputs[0].value = 4
    assert explorer.problem is None
    explorer.set(guess=np.ones(3))
    explorer.view.controls["guess"].inputs[0].value = 0.5
    assert explorer.parameters["guess"] == (0.5, 0, 0, 0, 0)


def test_what_comes_out_of_the_students_function_is_judged_too():
    def unmixed(q, k, v, mask=None):
        return v, attention.scaled_dot_product_attention(q, k, v)[1]

    assert "differs from the course's in out by" in explore(unmixed, revealed=True).summary


def test_each_name_stands_beside_the_middle_of_its_bars():
    for revealed in (False, True):
        (panel,) = explore(revealed=revealed).frame.panels
        names = [mark for mark in panel.marks if isinstance(mark, Text) and mark.anchor == "end"]
        frames = [mark for mark in panel.marks if isinstance(mark, Box) and mark.stroke]
        for name, box in zip(names, frames, strict=True):
            assert name.y - 4 == box.y + box.height / 2  # half of a capital letter above its foot
