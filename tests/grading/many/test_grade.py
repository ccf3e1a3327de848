"""``course grade`` leaves what ``nbgrader autograde`` leaves, at once, again, and after every way of being stopped."""

import os
import shutil
import signal
import subprocess
import sys
import time

import nbformat
import pytest

from course.grading.many.grader import Graded, Result
from tests.grading.many.conftest import (
    CLASS,
    DATABASES,
    LESSON,
    RIGHT,
    formgrader,
    grade,
    gradebook,
    graded,
    hand_in,
    lesson,
    on_either,
    open_book,
    open_class,
)


@pytest.fixture(params=DATABASES)
def root(request, root):
    return on_either(request, root)


def test_gradebook_and_notebooks_are_those_that_nbgrader_leaves(once, root):
    for student in [*CLASS, "eve"]:
        formgrader(root).autograde(LESSON, student)
    assert gradebook(once[0]) == gradebook(root)
    assert set(graded(once[0])) == set(graded(root))
    for place, (content, mode) in graded(root).items():
        ours, our_mode = graded(once[0])[place]
        assert our_mode == mode
        assert isinstance(ours, str) or without_ids(ours) == without_ids(content)


def test_plain_nbgrader_can_start_warm_too(once, root):
    for student in CLASS:
        formgrader(root, "course.grading.warm.execute.WarmExaminedExecute").autograde(LESSON, student)
    book = gradebook(once[0])
    assert gradebook(root) == {student: book[student] for student in CLASS}


def without_ids(notebook):
    """The notebook as plain values, without the random names of cells that were made while grading."""
    for cell in notebook.cells:
        cell.pop("id")
    return notebook


def test_it_says_who_what_and_why(once):
    status, said, told = once[1]
    assert status == 1
    assert said.splitlines()[0] == "4 graded, 1 not gradable"
    [line] = [line for line in said.splitlines() if "eve" in line]
    assert "not gradable" in line and "Ask for" in line
    assert any("bob" in line and "one was stopped" in line for line in said.splitlines())
    assert line.strip() in told


def test_the_second_time_nothing_is_done(root):
    grade(root)
    before = gradebook(root), graded(root)
    status, said, _ = grade(root)
    assert status == 1 and said.startswith("0 graded, 5 unchanged") and "eve, 01_lesson: not gradable. " in said
    assert (gradebook(root), graded(root)) == before


def test_only_what_changed_is_graded_again(root):
    grade(root, "--student", "ada", "--student", "cyd")
    hand_in(root, "cyd", nbformat.writes(lesson(RIGHT)))
    assert gradebook(root)["cyd"]["submission"][0] == 2
    status, said, _ = grade(root, "--student", "ada", "--student", "cyd")
    assert status == 0 and said.startswith("1 graded, 1 unchanged")
    assert gradebook(root)["cyd"]["submission"][0] == 4


@pytest.mark.parametrize("lost", ["the grade", "the graded notebook", "the end of nbgrader's own run"])
def test_what_is_no_longer_whole_is_graded_again(root, lost):
    grade(root, "--student", "ada")
    with open_book(root) as book:
        if lost == "the grade":
            book.remove_submission(LESSON, "ada")
    if lost == "the graded notebook":
        shutil.rmtree(root / "autograded" / "ada" / LESSON)
    if lost == "the end of nbgrader's own run":
        (root / "autograded" / ".intake" / LESSON / "ada" / "unfinished").write_text("1")
    assert grade(root, "--student", "ada")[1].startswith("1 graded")
    assert gradebook(root)["ada"]["submission"][0] == 4
    assert f"autograded/ada/{LESSON}/{LESSON}.ipynb" in graded(root)


def test_a_mistake_of_the_grader_costs_nobody_else_a_grade(root, monkeypatch):
    from course.grading.many.grader import Grader

    original = Grader.grade_notebook

    def mistaken(self, submission, *arguments):
        if submission.student == "ada":
            raise ZeroDivisionError("none of ada's")
        return original(self, submission, *arguments)

    monkeypatch.setattr(Grader, "grade_notebook", mistaken)
    status, said, _ = grade(root, "--student", "ada", "--student", "cyd")
    assert status == 1 and said.startswith("1 graded, 1 failed")
    assert "ada, 01_lesson: grading failed (ZeroDivisionError: none of ada's)" in said
    assert set(gradebook(root)) == {"cyd"}


def test_a_test_that_fails_by_itself_is_told_as_the_course_s_mistake(root):
    path = root / "source" / LESSON / f"{LESSON}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    [faulty] = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == "test_one"]
    faulty.source = "raise ZeroDivisionError"
    nbformat.write(notebook, path)
    status, said, _ = grade(root, "--student", "ada")
    assert status == 1
    assert "ada, 01_lesson: by a mistake of the course these tests could not be run: test_one" in said


def test_late_work_loses_what_nbgrader_would_take(root, monkeypatch):
    with open(root / "nbgrader_config.py", "a") as config:
        config.write('\nc.LateSubmissionPlugin.penalty_method = "zero"\n')
    with open_book(root) as book:
        book.update_or_create_assignment(LESSON, duedate="2026-03-31 12:00:00 UTC")
    grade(root, "--student", "bob", "--student", "cyd")
    ours = gradebook(root)
    assert (ours["bob"]["late"], ours["cyd"]["late"]) == (2, None)
    formgrader(root).autograde(LESSON, "bob")
    assert gradebook(root)["bob"] == ours["bob"]


def test_force_grades_again_and_keeps_what_a_person_gave(root):
    grade(root, "--student", "ada")
    with open_book(root) as book:
        book.find_grade("essay", LESSON, LESSON, "ada").manual_score = 3
        book.db.commit()
    assert grade(root, "--student", "ada", "--force")[1].startswith("1 graded")
    assert gradebook(root)["ada"]["grades"]["essay"][:3] == (None, 3, True)
    assert gradebook(root)["ada"]["submission"][0] == 7


def test_jobs_do_not_change_scores(once, root):
    assert grade(root, "--jobs", "3")[0] == 1
    assert gradebook(root) == gradebook(once[0])


def test_a_submission_that_can_no_longer_be_graded_loses_its_grade(root):
    grade(root, "--student", "ada")
    hand_in(root, "ada", "nonsense")
    assert grade(root, "--student", "ada")[0] == 1
    assert gradebook(root)["ada"]["submission"][0] == 0
    assert not (root / "autograded" / "ada" / LESSON).exists()


def test_after_a_kill_the_next_run_continues(root):
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "course", "grade", "--jobs", "1", "--course-dir", str(root)]
    run = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while run.poll() is None and not list(root.glob("autograded/.intake/*/*/graded.json")):
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.wait()
    records = root.glob("autograded/.intake/*/*/graded.json")
    stored = sum(not record.with_name("unfinished").exists() for record in records)
    status, said, _ = grade(root)
    assert status == 1 and (f"{stored} unchanged" in said or stored == 0)
    assert gradebook(root)["ada"]["submission"][0] == 4 and len(gradebook(root)) == 5


@pytest.mark.parametrize("moment", ["store", "folders"])
def test_what_was_half_stored_is_graded_again(root, monkeypatch, moment):
    from course.grading.many import folders, store

    def stop(*_):
        raise KeyboardInterrupt

    target = (store.Store, "put") if moment == "store" else (folders.Folders, "write")
    with monkeypatch.context() as patch:
        patch.setattr(*target, stop)
        status, _, told = grade(root, "--student", "ada")
        assert status == 2 and "the next run continues" in told
    assert grade(root, "--student", "ada")[1].startswith("1 graded")
    assert gradebook(root)["ada"]["submission"][0] == 4


@pytest.mark.parametrize(
    "options, sentence",
    [
        (["02_other"], "There is no assignment '02_other' in this course"),
        (["--student", "zoe"], "There is no submission of 'zoe'"),
    ],
)
def test_unknown_names_end_in_one_sentence(root, options, sentence):
    status, _, told = grade(root, *options)
    assert status == 2
    assert told.startswith(f"Error: {sentence}") and len(told.splitlines()) == 1


def test_no_submissions_end_in_one_sentence(root):
    shutil.rmtree(root / "submitted")
    status, _, told = grade(root)
    assert status == 2 and told.startswith("Error: There are no submissions") and len(told.splitlines()) == 1


def test_without_a_sandbox_one_sentence_says_so_and_nothing_is_graded(root, tmp_path):
    (tmp_path / "bin").mkdir()
    command = [sys.executable, "-m", "course", "grade", "--course-dir", str(root)]
    done = subprocess.run(command, env=os.environ | {"PATH": str(tmp_path / "bin")}, capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("Error: Grading stops: bubblewrap is needed") and not gradebook(root)


def test_one_question_is_graded_and_the_others_keep_their_points(root):
    grade(root, "--student", "cyd")
    hand_in(root, "cyd", nbformat.writes(lesson({"one": 'one = "B"', "two": 'two = "B"'})))
    status, said, _ = grade(root, "--student", "cyd", "--question", "two")
    assert status == 0 and said.startswith("1 graded")
    grades = gradebook(root)["cyd"]["grades"]
    assert (grades["test_one"][0], grades["test_two"][0]) == (2, 2)
    [(notebook, _)] = graded(root).values()
    sources = [cell.source for cell in notebook.cells]
    assert RIGHT["one"] in sources and RIGHT["two"] in sources  # what stands beside the points that stand
    assert grade(root, "--student", "cyd")[1].startswith("1 graded")  # the rest is still out of date
    assert gradebook(root)["cyd"]["grades"]["test_one"][0] == 0
    assert "There is no question 'three'" in grade(root, "--question", "three")[2]


def test_a_question_of_another_assignment_changes_nothing_here(root):
    grade(root, "--student", "ada")
    [text] = [nbformat.writes(notebook) for notebook, _ in graded(root).values()]
    anew = Graded({}, text, {"test_one": 0, "test_two": 1})
    with open_class(root) as class_:  # two assignments may have notebooks, and those questions, of the same name
        class_.only = {("02_other", LESSON): frozenset({"one", "test_one"}), (LESSON, LESSON): frozenset({"test_two"})}
        result = class_.limited(Result("ada", LESSON, "digest", None, {LESSON: anew}))
    assert result.notebooks[LESSON].scores == {"test_two": 1}


def test_a_source_that_was_not_released_is_refused(root):
    path = root / "source" / LESSON / f"{LESSON}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[2].metadata.nbgrader.grade_id = "uno"
    nbformat.write(notebook, path)
    status, _, told = grade(root)
    assert status == 2 and "is not what the gradebook holds" in told
