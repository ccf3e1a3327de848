"""The processes that grade: few submissions are read ahead, and one that ends takes no other submission with it."""

import contextlib
import os
import signal
import time
from concurrent.futures.process import BrokenProcessPool

import pytest

from course.grading.many.grader import Result
from course.grading.many.pool import AHEAD, Pool
from course.grading.many.submissions import Submission


class Grader:
    """Grades nothing; what it does is in the student's name."""

    def __init__(self, folder):
        self.folder = folder

    def grade(self, submission):
        begun = self.folder / f"{submission.student}.begun"
        if submission.student == "fatal" or (submission.student == "unlucky" and not begun.exists()):
            begun.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        begun.touch()
        if submission.student == "slow":
            time.sleep(10)
            (self.folder / "slow.done").touch()
        return Result(*submission.key, {})


@pytest.fixture
def pool(tmp_path):
    pool = Pool(Grader(tmp_path), 1)
    yield pool
    pool.stop()


def handed_in(*names):
    for name in names:
        yield Submission(name, "01_lesson", "", "digest")


def test_one_that_ends_its_process_each_time_fails_and_no_other_does(pool):
    names = ("fatal", "ada", "bob", "fatal", "cyd")
    results = [result for _, result in pool.results(handed_in(*names))]
    assert sorted(result.student for result in results) == sorted(names)
    assert {result.student for result in results if result.failure} == {"fatal"}
    assert all("ended twice" in result.failure for result in results if result.failure)


def test_one_that_ended_its_process_once_is_graded(pool):
    results = [result for _, result in pool.results(handed_in("ada", "unlucky", "bob"))]
    assert {result.student: result.failure for result in results} == {"ada": "", "unlucky": "", "bob": ""}


def test_none_is_lost_that_was_read_when_a_process_had_ended(pool):
    def read():
        yield from handed_in("unlucky")
        with contextlib.suppress(BrokenProcessPool):
            while True:
                pool.executor.submit(os.getpid).result()
        yield from handed_in("bob")

    assert {result.student for _, result in pool.results(read())} == {"unlucky", "bob"}


def test_few_are_read_ahead(pool):
    read = []

    def class_():
        for submission in handed_in(*map(str, range(100))):
            read.append(submission)
            yield submission

    next(pool.results(class_()))
    assert len(read) <= AHEAD


def test_stopping_does_not_wait_for_what_is_in_work(pool, tmp_path):
    def stopped():
        yield from handed_in("slow")
        while not (tmp_path / "slow.begun").exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(pool.results(stopped()))
    pool.stop()
    assert not (tmp_path / "slow.done").exists()
