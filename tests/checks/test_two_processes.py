"""An exam gives the same verdict when the student's code answers over the wire."""

import contextlib
import io

import pytest
import torch

from course.checks import wire
from course.checks.calls import independent
from course.checks.servant import handle
from course.grading.examiner import Student, run_test
from tests.judging.bank import read_bank
from tests.judging.lesson import lesson_names, read_lesson

TENSORS = {
    "contiguous": torch.arange(6.0).reshape(2, 3),
    "transposed": torch.arange(24.0).reshape(2, 3, 4).transpose(1, 2),
    "expanded": torch.eye(3).expand(2, 2, 3, 3),
    "every other": torch.arange(12.0)[::2],
    "transposed mask": torch.ones(2, 3, dtype=torch.bool).T,
    "without axes": torch.tensor(2.0, dtype=torch.float64),
    "asking for a gradient": torch.ones(2).requires_grad_(),
}
EXERCISES = [(lesson, name) for lesson in lesson_names() for name in read_lesson(lesson).exercises]


@pytest.mark.parametrize("kind", TENSORS)
def test_tensor_arrives_as_its_copy_would_be(kind):
    sent = TENSORS[kind]
    arrived, copy = wire.loads(wire.dumps(sent)), independent(sent)
    assert torch.equal(arrived, sent)
    assert (arrived.dtype, arrived.requires_grad) == (sent.dtype, sent.requires_grad)
    assert arrived.stride() == copy.stride()


def test_what_has_no_strides_arrives_as_something_else():
    assert not isinstance(wire.loads(wire.dumps(torch.eye(2).to_sparse())), torch.Tensor)


@pytest.mark.parametrize(("lesson_name", "name"), EXERCISES)
def test_solution_passes_over_the_wire(lesson_name, name):
    lesson = read_lesson(lesson_name)
    assert failures(lesson, lesson.exercises[name], lesson.exercises[name].solution) == {}


@pytest.mark.parametrize(("lesson_name", "name"), EXERCISES)
def test_answers_get_their_verdict_over_the_wire(lesson_name, name):
    """Of every ten answers of the bank, one: right and wrong ones."""
    lesson = read_lesson(lesson_name)
    for answer in read_bank(lesson_name, name)[::10]:
        found = failures(lesson, lesson.exercises[name], answer.code)
        assert set(found) == answer.fails, f"{answer}: {found}"
        assert answer.hint in "\n".join(found.values()), answer


def failures(lesson, exercise, answer):
    """Messages of the test cells that fail, by grade id, with the student's names in a namespace of their own."""
    names = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        exec(lesson.setup, names)
        for other in lesson.exercises.values():
            if other is not exercise:
                exec(other.solution, names)
        with contextlib.suppress(Exception):  # an answer may raise, as a cell may
            exec(answer, names)
        outcomes = {
            test_id: run_test(test, lesson.setup, Student(lambda request: handle(names, request)))
            for test_id, test in exercise.tests.items()
        }
    assert all(outcome.proved != bool(outcome.failure) for outcome in outcomes.values())
    return {test_id: str(outcome.failure) for test_id, outcome in outcomes.items() if outcome.failure}
