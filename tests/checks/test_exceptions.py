"""Hints for exceptions that no answer of the bank raises the same way everywhere."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from ipykernel.kernelbase import StdinNotImplementedError

from course.checks.exceptions import LAST, hint_for, message_in, sentence


@pytest.mark.parametrize("error", [EOFError("EOF when reading a line"), StdinNotImplementedError("no input here")])
def test_a_question_to_the_student_is_taken_out(error):
    assert "Take out input()" in hint_for(error)


def test_a_name_without_self_is_told_from_a_name_that_nobody_made():
    class Layer:
        def __init__(self):
            self.scale = 2.0

        def known(self):
            return scale  # noqa: F821

        def unknown(self):
            return factor  # noqa: F821

    with pytest.raises(NameError) as known:
        Layer().known()
    with pytest.raises(NameError) as unknown:
        Layer().unknown()
    assert "Write self.scale" in hint_for(known.value)
    assert "self." not in hint_for(unknown.value)


def test_an_attribute_of_a_given_layer_is_told_from_one_that_init_forgot():
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.q_proj, self.out_proj = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.scale * x

    with pytest.raises(AttributeError) as forgotten:
        Layer()(torch.zeros(1))
    with pytest.raises(AttributeError) as given:
        Layer().query.weight  # noqa: B018
    assert "self.scale is never made" in hint_for(forgotten.value)
    assert "its parts are q_proj, out_proj" in hint_for(given.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: torch.zeros(2, 2).diagonal(0, 2, 3), "There is no such axis"),
        (
            lambda: torch.zeros(2, dtype=torch.long).masked_fill(torch.tensor([True, False]), -math.inf),
            "start from floats",
        ),
        (lambda: np.arange(3) ** -2, "start from floats"),
        (lambda: 1 / 0, "A divisor is 0"),
    ],
)
def test_numbers_and_axes_that_do_not_exist_are_named(call, words):
    with pytest.raises(Exception) as raised:
        call()
    assert words in hint_for(raised.value)


def _branch(ready):
    if ready:
        value = 1
    return value


RAISING = {
    "a method without self": (lambda: type("A", (), {"go": lambda: 1})().go(), "self comes first in a method"),
    "an argument too few": (lambda: (lambda x, mask: x)(1), "leaves out an argument"),
    "a branch that did not run": (lambda: _branch(False), "a branch or a loop that did not run"),
    "a text raised": (lambda: exec("raise 'ValueError'"), "raise wants an exception"),
    "reshaped to other sizes": (lambda: np.zeros(6).reshape(4, 2), "must multiply to the number of entries"),
    "more indices than axes": (lambda: torch.ones(2, 3)[:, :, 0], "than the value has axes"),
    "rows of different lengths": (lambda: np.array([[1.0], [1.0, 2.0]]), "differ in length"),
    "math of an array": (lambda: math.sin(np.ones(3)), "math.sin does not"),
    "item of many": (lambda: torch.ones(2).item(), "reduce it first"),
    "numbers stacked": (lambda: torch.stack([1.0]), "leave out item()"),
    "nothing stacked": (lambda: torch.stack([]), "is empty here"),
    "math of a tensor": (lambda: math.log2(torch.ones(2)), "math.cos and math.log2 take numbers"),
    "a loop over a number": (lambda: list(3), "range(n) counts from 0"),
    "a layer's attribute of a tensor": (lambda: torch.ones(2).num_heads, "are two arguments swapped"),
    "a tensor's method of a number": (lambda total=0: total.mean, "no mean in an int"),
    "a number as a text": (lambda: torch.ones(2).masked_fill(torch.ones(2) > 0, "-inf"), "without quotes"),
    "two precisions": (lambda: torch.bmm(torch.ones(1, 1, 1), torch.ones(1, 1, 1).double()), "two precisions"),
    "axes in place of entries": (lambda: torch.ones(2, 3).permute([1, 2, 0]), "to reorder the entries of one axis"),
    "NumPy's transpose": (lambda: torch.ones(1, 2, 3, 4).transpose(0, 2, 1, 3), "permute(0, 2, 1, 3)"),
    "a tensor for a list": (lambda: torch.cat(torch.ones(2, 3)), "take a list of tensors"),
    "None for a mask": (lambda mask=None: torch.ones(2).masked_fill(mask == 0, 0.0), "is mask None here"),
    "several rows of weights": (lambda: np.average(np.ones((2, 3)), axis=0, weights=np.ones((1, 2))), "one row"),
    "a softmax of no axis": (lambda: torch.ones(2).softmax(), "its axis"),
    "entry by entry": (lambda: np.ones((1, 2)) * np.ones((2, 3)), "@ rather than *"),
    "a gradient through //": (lambda: (torch.ones(1).requires_grad_() // 2).sum().backward(), "divide with /"),
    "not for a mask": (lambda: not torch.ones(2), "not with not"),
    "a pair taken for axes": (lambda: plt.subplots().imshow([[1]]), "a tuple of results"),
    "a colour bar of the axes": (lambda: plt.figure().gca().colorbar(), "A colour bar is the figure's"),
    "a number with brackets": (lambda number=3: number[0], "has no items"),
    "None with brackets": (lambda nothing=None: nothing[0], "Something is None here"),
}


@pytest.mark.parametrize("case", RAISING)
def test_what_libraries_raise_gets_a_hint_of_its_own(case):
    act, hint = RAISING[case]
    with pytest.raises(Exception) as raised:
        act()
    plt.close("all")
    assert hint in hint_for(raised.value) != LAST


def test_only_a_slip_of_the_pen_is_taken_for_another_name_of_a_layer():
    layer = torch.nn.Module()
    layer.out_proj = torch.nn.Linear(1, 1)
    for name, hint in (
        ("q_proj", "The layer has no q_proj: its parts are out_proj"),
        ("out_porj", "perhaps out_proj is meant"),
    ):
        with pytest.raises(AttributeError) as raised:
            getattr(layer, name)
        assert hint in hint_for(raised.value)


def test_no_private_name_is_recommended():
    class Drawing:
        _colorbars = ()

    with pytest.raises(AttributeError) as raised:
        Drawing().colorbars  # noqa: B018
    assert "_colorbars" not in hint_for(raised.value)


def test_a_long_text_ends_in_an_ellipsis_and_a_short_one_stands_whole():
    assert sentence(ValueError("long " * 99)).endswith("…")
    assert sentence(ValueError("short")) == "ValueError: short"


def test_shapes_of_a_product_are_told_without_numpys_notation():
    with pytest.raises(ValueError) as raised:
        np.ones((2, 3)) @ np.ones((2, 3))
    assert "(size 2 is different from 3)" in sentence(raised.value)


def test_names_in_a_line_of_code_are_no_part_of_the_message():
    seen = "f raised ValueError: too many values to unpack (line 2 of the cell: T, E = x.shape)."
    assert message_in(seen) == "f raised ValueError: too many values to unpack"
