"""Tricks earn nothing and are told; honest submissions earn full marks and nothing is told of them."""

import pytest

from tests.grading.tricks import HONEST, SCRATCH_LESSON, TRICKS


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: trick.name)
def test_a_trick_earns_nothing_and_is_told(lessons, trick):
    lesson = lessons(trick.lesson)
    graded = lesson.grade(trick.apply(lesson.released()), cold="notebook" in trick.remarks)
    assert {name: score for name, score in graded.scores.items() if score} == {}
    assert trick.remarks <= {remark.kind for remark in graded.remarks}


@pytest.mark.parametrize("change", HONEST, ids=lambda change: change.__name__)
def test_an_honest_submission_earns_all_points_and_nothing_is_told(lessons, change):
    lesson = lessons("01_foundations")
    notebook = lesson.solved()
    change(notebook)
    graded = lesson.grade(notebook)
    assert graded.scores == graded.most
    assert graded.remarks == ()


def test_calling_ready_made_attention_is_refused_where_the_watch_was_taken_away(lessons):
    lesson = lessons(SCRATCH_LESSON)
    trick = next(trick for trick in TRICKS if trick.lesson == SCRATCH_LESSON)
    graded = lesson.grade(trick.apply(lesson.solved()))
    lost = {name for name, score in graded.scores.items() if score != graded.most[name]}
    assert lost == {f"test_scaled_dot_product_attention_{part}" for part in ("values", "mask", "robust")}
    assert "this answer calls torch.nn.functional.scaled_dot_product_attention" in graded_text(graded)


def graded_text(graded):
    return "\n".join(str(cell.get("outputs", "")) for cell in graded.notebook.cells)
