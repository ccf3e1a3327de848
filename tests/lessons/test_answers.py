"""The tests are tested: every answer of the bank gets the verdict and the message that it deserves."""

import pytest

from tests.judging.bank import ANSWERS, all_answers, read_bank
from tests.judging.lesson import lesson_names, read_lesson
from tests.judging.verdict import judge

ANSWER_LIST = all_answers()
EXERCISES = [(lesson, name) for lesson in lesson_names() for name in read_lesson(lesson).exercises]
GRADED_CODE = [(lesson, name) for lesson, name in EXERCISES if not read_lesson(lesson).exercises[name].is_question]


@pytest.mark.parametrize("answer", ANSWER_LIST, ids=str)
def test_answer_gets_its_verdict(answer):
    lesson = read_lesson(answer.lesson)
    verdict = judge(lesson, lesson.exercises[answer.exercise], answer.code)
    assert set(verdict.failures) == answer.fails, "\n\n".join(verdict.failures.values())
    assert set(verdict.unexpected) <= {"answer"}, "a test cell failed with something other than CheckFailed"
    assert verdict.stderr == "" or "answer" in verdict.unexpected
    for message in verdict.failures.values():
        assert len(message.splitlines()) <= 3
        assert max(map(len, message.splitlines())) <= 240
    assert answer.hint in "\n".join(verdict.failures.values())


@pytest.mark.parametrize(("lesson_name", "name"), EXERCISES)
def test_solution_gets_full_marks(lesson_name, name):
    lesson = read_lesson(lesson_name)
    verdict = judge(lesson, lesson.exercises[name], lesson.exercises[name].solution)
    assert verdict.failures == {}
    assert verdict.stderr == ""
    assert set(verdict.printed) == set(lesson.exercises[name].tests)
    assert all(verdict.printed.values()), "a test that passes says so"


@pytest.mark.parametrize(("lesson_name", "name"), EXERCISES)
def test_stub_gets_nothing(lesson_name, name):
    lesson = read_lesson(lesson_name)
    exercise = lesson.exercises[name]
    verdict = judge(lesson, exercise, exercise.stub)
    assert set(verdict.failures) == set(exercise.tests)
    assert verdict.unexpected == {}


@pytest.mark.parametrize(("lesson_name", "name"), EXERCISES)
def test_missing_name_gets_its_own_sentence(lesson_name, name):
    lesson = read_lesson(lesson_name)
    verdict = judge(lesson, lesson.exercises[name], "")
    assert all(f"{name} is not defined" in message for message in verdict.failures.values())
    assert set(verdict.failures) == set(lesson.exercises[name].tests)


@pytest.mark.parametrize(("lesson_name", "name"), GRADED_CODE)
def test_bank_is_large_enough(lesson_name, name):
    answers = read_bank(lesson_name, name)
    wrong = [answer for answer in answers if not answer.is_right]
    least = 8 if read_lesson(lesson_name).exercises[name].is_one_line else 15
    assert len(wrong) >= least
    assert len(answers) - len(wrong) >= 8
    assert all(answer.hint for answer in wrong), "each wrong answer says which hint it gets"
    assert len({answer.name for answer in answers}) == len(answers)


def test_every_bank_belongs_to_an_exercise():
    banks = {(path.parent.name, path.stem) for path in ANSWERS.glob("*/*.toml")}
    assert banks <= set(EXERCISES)
