"""What a run tells at its end, and what it answers to a question that does not exist."""

from types import SimpleNamespace

import pytest

from course.commands.grade import summary
from course.grading.many.question import question_ids
from course.grading.many.run import Outcome
from course.trouble import Trouble


def test_problems_stand_in_the_order_of_lesson_and_student():
    outcome = Outcome()
    outcome.problems += [("b", "02", "why"), ("c", "01", "why"), ("a", "02", "why")]
    assert [line.split(":")[0].strip() for line in summary(outcome)][-3:] == ["c, 01", "a, 02", "b, 02"]


def test_a_question_of_several_lessons_is_listed_once():
    source = SimpleNamespace(exercises=[[SimpleNamespace(grade_id="split_heads")]])
    with pytest.raises(Trouble, match=r"the questions are split_heads\.$"):
        question_ids({"02": {"02": source}, "04": {"04": source}}, "nosuch")
