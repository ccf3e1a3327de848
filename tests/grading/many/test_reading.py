"""Submissions are read one by one, when their turn comes: a class of any size fits into memory."""

import shutil

import pytest

from course.grading.many.run import Outcome
from course.trouble import Trouble
from tests.grading.many.conftest import CLASS, LESSON, open_class


@pytest.fixture
def class_(root, monkeypatch):
    monkeypatch.chdir(root)
    with open_class(root) as class_:
        yield class_


def test_none_is_read_before_its_turn(class_, root):
    todo = class_.changed(Outcome())
    assert todo == [(student, LESSON) for student in [*sorted(CLASS), "eve"]]
    turns = class_.submissions(todo)
    assert next(turns).student == "ada"
    text = (root / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb").read_bytes()
    (root / "submitted" / "bob" / LESSON / f"{LESSON}.ipynb").write_bytes(text)
    assert next(turns).files[f"{LESSON}.ipynb"] == text


def test_another_deadline_or_setting_makes_all_submissions_others(class_, root):
    def digests():
        with open_class(root) as now:
            return {submission.digest for submission in now.submissions([(student, LESSON) for student in CLASS])}

    before = digests()
    class_.gradebook.update_or_create_assignment(LESSON, duedate="2026-03-31 12:00:00 UTC")
    later = digests()
    with open(root / "nbgrader_config.py", "a") as config:
        config.write("\nc.Execute.timeout = 99\n")
    assert not before & later and not later & digests()


def test_one_that_has_gone_in_between_is_named(class_, root):
    turns = class_.submissions(class_.changed(Outcome()))
    assert next(turns).student == "ada"
    shutil.rmtree(root / "submitted" / "bob")
    with pytest.raises(Trouble, match=r"What bob handed in .* cannot be read .* next run continues"):
        next(turns)


@pytest.mark.parametrize("text", ["last Tuesday", "9999-99-99 00:00:00 UTC", "\ud83d"])
def test_a_time_that_is_none_makes_one_submission_not_gradable(class_, root, text):
    (root / "submitted" / "ada" / LESSON / "timestamp.txt").write_text(text, errors="surrogatepass")
    ada, bob, *_ = class_.submissions(class_.changed(Outcome()))
    assert "timestamp.txt" in ada.refusal[0] and "correct that file" in ada.refusal[1]
    assert ada.timestamp is None and bob.timestamp and not bob.refusal
