"""Every mutant of a reference solution is killed, or listed in the bank with the reason why it is equivalent."""

import pytest

from tests.judging.lesson import lesson_names, read_lesson
from tests.judging.mutants import equivalents, mutants, survives

CODE = [
    (lesson, name)
    for lesson in lesson_names()
    for name, exercise in read_lesson(lesson).exercises.items()
    if not exercise.is_question
]


@pytest.mark.parametrize(("lesson_name", "name"), CODE)
def test_mutants_are_killed(lesson_name, name):
    lesson = read_lesson(lesson_name)
    exercise = lesson.exercises[name]
    made = mutants(exercise.solution)
    listed = equivalents(lesson_name, name)
    survivors = [mutant for mutant in made if survives(lesson, exercise, mutant)]
    assert [str(mutant) for mutant in survivors if mutant.after not in listed] == []
    assert set(listed) <= {mutant.after for mutant in survivors}, "a listed equivalent is killed, or no longer made"
