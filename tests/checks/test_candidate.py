"""The candidate hands copies to the student's code, and says in one sentence what went wrong inside."""

import numpy as np
import pytest
import torch
from torch import nn

from course.checks import CheckFailed, check
from course.checks.calls import independent
from course.checks.candidate import Candidate


def candidate(answer, **settings):
    return Candidate("answer", {"answer": answer}, **settings)


def message(call):
    with pytest.raises(CheckFailed) as raised:
        call()
    return str(raised.value)


def test_arguments_are_copied():
    x = np.ones(3)

    def answer(array):
        array += 1
        return array

    result, after = candidate(answer).observe(x)
    assert x.tolist() == [1, 1, 1]
    assert after[0].tolist() == result.tolist() == [2, 2, 2]


def test_copies_keep_the_order_of_axes_and_the_wish_for_a_gradient():
    x = torch.ones(2, 3).requires_grad_()
    copy = independent((x.transpose(0, 1), x))
    assert not copy[0].is_contiguous()
    assert copy[1].is_leaf and copy[1].requires_grad and copy[1] is not x


def test_gradients_of_the_arguments_that_ask_for_one():
    x, y = torch.tensor([1.0, 2.0]).requires_grad_(), torch.tensor([3.0, 4.0])
    found = candidate(lambda a, b: (a * b, b)).gradients(torch.tensor([1.0, 10.0]), x, y)
    assert [gradient.tolist() for gradient in found] == [[3.0, 40.0]]


def test_gradient_of_an_argument_returned_as_it_is():
    x = torch.ones(2).requires_grad_()
    assert candidate(lambda a: a).gradients(torch.tensor([2.0, 3.0]), x)[0].tolist() == [2.0, 3.0]


@pytest.mark.parametrize("cut", [lambda a: a.detach() * 2, lambda a: a.detach().numpy(), lambda a: None])
def test_gradient_that_is_cut_is_none(cut):
    assert candidate(cut).gradients(torch.ones(2), torch.ones(2).requires_grad_()) == [None]


def test_value_overwritten_before_the_gradient():
    def answer(x):
        y = x.exp()
        y *= 2
        y.exp_().mul_(2)
        return y

    text = message(lambda: candidate(answer).gradients(torch.ones(2), torch.ones(2).requires_grad_()))
    assert "x = x * 2" in text


def test_not_implemented_in_torch_is_not_the_stub():
    text = message(lambda: candidate(lambda x: x.softmax(-1))(torch.arange(3)))
    assert "not implemented for" in text and "delete the line" not in text


def test_the_line_that_raised_is_found_inside_a_decorated_answer():
    namespace = {"torch": torch}
    exec("@torch.no_grad()\ndef answer(x):\n    y = x\n    return y.nothing", namespace)
    assert "(line 4 of the cell" in message(lambda: Candidate("answer", namespace)(torch.ones(2)))


def test_raised_by_gives_the_exception():
    def answer(x):
        raise ValueError("no")

    assert isinstance(candidate(answer).raised_by(1), ValueError)
    assert candidate(lambda x: x).raised_by(1) is None


def test_raised_by_does_not_take_the_stub_for_an_answer():
    def answer(x):
        raise NotImplementedError

    assert "delete the line that raises" in message(lambda: candidate(answer).raised_by(1))


def test_raised_by_wants_a_function():
    assert "answer is an int, not a function" in message(lambda: candidate(3).raised_by(1))


@check("called")
def called(candidate):
    candidate(1)


def test_an_error_that_the_answer_raises_on_purpose_is_told_from_others(examine):
    words = "This input is allowed, and your own error refuses it"
    assert words in examine("def answer(x):\n    raise ValueError('no')", called())
    assert words not in examine("def answer(x):\n    return int('x')", called())


class Doubling(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.project = nn.Linear(width, width)
        self.register_buffer("twos", torch.full((width,), 2.0))

    def forward(self, x):
        return self.project(x) * self.twos, x


def test_layer_shows_parameters_buffers_and_parts():
    layer = candidate(Doubling).build(3)
    assert layer.trainable() == ["project.weight", "project.bias"]
    assert set(layer.buffers()) == {"twos"}
    assert layer.find("Linear") == ["project"]


def test_layer_runs_with_the_weights_it_is_given():
    layer = candidate(Doubling).build(2)
    layer.load({"project.weight": torch.eye(2), "project.bias": torch.zeros(2)})
    x = torch.tensor([[1.0, 2.0]])
    assert layer.eval()(x)[0].tolist() == [[2.0, 4.0]]
    gradients = layer.gradients(torch.ones(1, 2), x)
    assert gradients["x"].tolist() == [[2.0, 2.0]]
    assert gradients["project.bias"].tolist() == [2.0, 2.0]


@pytest.mark.parametrize("values", [{"q_proj.weight": torch.eye(2)}, {"project.weight": torch.eye(3)}])
def test_weights_that_do_not_fit_are_named(values):
    layer = candidate(Doubling).build(2)
    assert f"parameter {next(iter(values))} of answer is" in message(lambda: layer.load(values))


def test_layer_says_which_error_a_call_raises():
    class Refusing(nn.Module):
        def forward(self, x):
            if len(x) > 2:
                raise ValueError("too long")
            return x

    layer = candidate(Refusing).build()
    assert isinstance(layer.raised_by(torch.ones(3)), ValueError)
    assert layer.raised_by(torch.ones(2)) is None


@pytest.mark.parametrize("answer", [lambda width: Doubling(width), int, Doubling(2)])
def test_build_wants_a_class_made_from_module(answer):
    assert "is not a class made from nn.Module" in message(lambda: candidate(answer).build(2))


def test_forgotten_super_is_said():
    class Forgetful(nn.Module):
        def __init__(self, width):
            self.project = nn.Linear(width, width)

    assert "before Module.__init__() call" in message(lambda: candidate(Forgetful).build(2))


def test_forgotten_forward_is_said():
    class Formless(nn.Module):
        pass

    assert 'missing the required "forward" function' in message(lambda: candidate(Formless).build()(torch.ones(1)))
