"""The sentences for Monday, each from a class that calls for it and none from a class that does not."""

import numpy as np
import pytest

from course.grading.report.gather import Classroom, Exercise
from course.grading.report.headlines import MOST_SENTENCES, headlines
from course.grading.report.statistics import distribution
from course.grading.report.summary import summarise

STUDENTS = 20
HALF = np.arange(STUDENTS) < STUDENTS // 2


def class_of(scores, messages=None, blank=None, **of_exercise):
    """A Classroom with one row of points (of 2) for each exercise, {name: (N,)}; the rest by exercise's name."""
    count = len(next(iter(scores.values())))
    exercises = [Exercise(name, 2, (f"Part {name}",), **of_exercise.get(name, {})) for name in scores]

    def columns(values, default):
        return [[(values or {}).get(name, [default] * count)[n] for name in scores] for n in range(count)]

    return Classroom(
        "lesson",
        [f"s{n:02d}" for n in range(count)],
        0,
        0,
        exercises,
        {},
        np.array(list(scores.values()), float).T,
        columns(None, None),
        np.array(columns(blank, False)),
        columns(messages, None),
        np.full(count, np.nan),
    )


def told(classroom):
    return headlines(summarise(classroom))


def of_half(text, other=None):
    return [text if weak else other for weak in HALF]


def test_a_weak_section_is_named_with_its_hint_and_the_hint_not_again():
    scores = {"weak": np.where(HALF, 0, 2), "strong": np.full(STUDENTS, 2)}
    sentences = told(class_of(scores, {"weak": of_half("Divide by the root.")}))
    assert sentences[1] == (
        "Teach again: Part weak. The class left 50% of its points, and 10 students at least half of them. "
        "10 students met “Divide by the root.” in weak."
    )
    assert sum("Divide by the root." in sentence for sentence in sentences) == 1


def test_a_hint_that_many_met_where_little_was_lost_is_told():
    scores = {"one": np.where(HALF, 1.8, 2), "other": np.full(STUDENTS, 2)}
    sentences = told(class_of(scores, {"one": of_half("Take the last axis.")}))
    assert "10 students met “Take the last axis.” in one." in sentences
    assert not [sentence for sentence in sentences if sentence.startswith("Teach again")]
    assert "No section cost enough of the class" in sentences[1]


def test_what_a_test_said_of_a_blank_answer_is_no_hint():
    blank = {"one": list(HALF)}
    sentences = told(class_of({"one": np.where(HALF, 0, 2)}, {"one": of_half("raises NotImplementedError.")}, blank))
    assert not any("NotImplementedError" in sentence for sentence in sentences)
    assert "Left blank by many: one (50%). Ask whether time ran out or the task was unclear." in sentences


@pytest.mark.parametrize(("blanks", "is_told"), [(3, True), (2, False)])
def test_two_blanks_make_no_pattern_however_small_the_class(blanks, is_told):
    blank = np.arange(10) < blanks
    sentences = told(class_of({"one": np.where(blank, 0, 2), "two": np.full(10, 2)}, blank={"one": list(blank)}))
    assert any(sentence.startswith("Left blank") for sentence in sentences) == is_told


def test_an_exercise_that_the_stronger_fail_is_doubted():
    ability = np.arange(STUDENTS) / STUDENTS * 2
    scores = {"a": ability, "b": ability, "c": ability, "upside_down": 2 - ability}
    found = [sentence for sentence in told(class_of(scores)) if sentence.startswith("Look at ")]
    assert found == ["Look at upside_down itself: who did well elsewhere did worse here (discrimination −1.00)."]


def test_what_waits_for_a_person_changes_no_other_exercise_s_discrimination():
    rng = np.random.default_rng(0)
    scores = {name: rng.uniform(0, 2, STUDENTS) for name in "abcd"}
    waiting = rng.uniform(0, 2, STUDENTS)
    waiting[0] = np.nan
    without = summarise(class_of(scores))
    beside = summarise(class_of(scores | {"essay": waiting}, essay={"by_hand": True}))
    assert beside.left_out == ["essay"] and beside.maximum == without.maximum
    assert [e.discrimination for e in beside.exercises[:4]] == [e.discrimination for e in without.exercises]
    assert "Totals are without essay: manual grades are missing." in headlines(beside)


def test_so_many_sentences_are_read_in_two_minutes():
    weak, strong = (
        {f"weak{n}": np.where(HALF, 0, 2) for n in range(3)},
        {f"hint{n}": np.full(STUDENTS, 2) for n in range(3)},
    )
    messages = {name: of_half(f"Hint of {name}.") for name in strong}
    blank = {name: list(HALF) for name in weak}
    scores = weak | strong | {"essay": np.where(HALF, np.nan, 2)}
    sentences = told(class_of(scores, messages, blank, essay={"by_hand": True}))
    assert len(sentences) == MOST_SENTENCES and sentences[-1].startswith(
        "Left blank"
    )  # and not the ninth, on the essay


def test_more_points_than_there_are_count_as_all():
    counts, edges = distribution(np.array([0.0, 10.0, 12.0]), 10)
    assert (sum(counts), counts[-1], edges[-1]) == (3, 2, 10)


def test_one_or_two_students_have_no_middle_half():
    classroom = class_of({"one": np.array([2, 1.5])})
    assert told(classroom)[0] == "2 students handed in: 1.5 and 2 of 2 points."
    assert "With 1 student every" in summarise(class_of({"one": np.array([2])})).caveat


def test_nobody_graded_is_not_nobody_handed_in():
    classroom = class_of({"one": np.zeros(0)})
    assert told(classroom) == ["Nobody has handed in this lesson yet."]
    classroom.ungraded = 2
    assert told(classroom) == ["2 students handed in what could not be graded; ask for the file again."]


def test_quartiles_have_one_decimal():
    scores = {"one": np.arange(STUDENTS) / STUDENTS, "other": np.ones(STUDENTS)}
    assert told(class_of(scores))[0] == "The middle half of the class has 1.2 to 1.7 of 4 points, the median is 1.5."
