"""Which of a student's attempts is graded, and what an earlier run left behind."""

import datetime
import os
from pathlib import Path

import pytest

from course.grading.collect.lessons import Lesson, find_lesson
from course.grading.collect.store import Attempt, Store, choose

NOON = datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.UTC)


def attempt(hours, late=None):
    """An attempt so many hours after noon."""
    moment = NOON + datetime.timedelta(hours=hours)
    return Attempt(Path(f"{hours}.ipynb"), moment, moment, late)


@pytest.mark.parametrize(("hours", "chosen"), [([1, -1, -2], -1), ([1, 0, -1], 0), ([3, 1, 2], 1)])
def test_on_time_is_the_last_that_is_not_late_or_else_the_first(hours, chosen):
    assert choose([attempt(hour) for hour in hours], "on-time", due=NOON) == attempt(chosen)


def test_a_due_date_says_what_is_late_and_without_one_the_platform_does():
    early, late = attempt(-1, late=False), attempt(1, late=True)
    assert choose([early, late], "on-time") == early
    assert choose([early, late], "on-time", due=NOON + datetime.timedelta(hours=2)) == late


def test_what_a_killed_run_left_behind_goes_after_a_day(tmp_path):
    incoming, store = tmp_path / ".attempts" / ".incoming", Store(tmp_path)
    now = datetime.datetime.now().timestamp()
    for name, hours in (("old", 25), ("young", 23)):
        (incoming / name / "inside").mkdir(parents=True)
        os.utime(incoming / name, (now - 3600 * hours,) * 2)
    store.clear_leftovers()
    assert [path.name for path in incoming.iterdir()] == ["young"]


def test_a_notebook_that_fits_two_lessons_alike_is_neither():
    lessons = [Lesson(name, f"{name}.ipynb", frozenset({"shared", name})) for name in ("one", "two")]
    shared, own = b'{"grade_id": "shared"}', b'{"grade_id": "shared", "more": {"grade_id": "two"}}'
    assert find_lesson("mine.ipynb", shared, lessons) is None
    assert find_lesson("mine.ipynb", own, lessons) == lessons[1]
