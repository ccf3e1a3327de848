import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course.live.parameters import Choice, Flag, Order, Row, Whole, mended, start

WHOLE = Whole("num_heads", "Heads", 4, 1, 16)
CHOICE = Choice("mask", "Mask", "none", ("none", "causal"))
FLAG = Flag("inverted", "Invert")
ROW = Row("guess", "Weight of", ("a", "b"))
ORDER = Order("order", "Order by hand")


@pytest.mark.parametrize(
    ("parameter", "given", "kept"),
    [
        (WHOLE, 1, 1),
        (WHOLE, np.int64(16), 16),
        (CHOICE, "causal", "causal"),
        (FLAG, True, True),
        (FLAG, np.True_, True),
        (ROW, None, None),
        (ROW, [0, 1], (0.0, 1.0)),
        (ROW, torch.tensor([0.0, 1.0], requires_grad=True), (0.0, 1.0)),
        (ORDER, None, None),
        (ORDER, "  ", None),
        (ORDER, "2, 0,1", (2, 0, 1)),
        (ORDER, [1, 0], (1, 0)),
        (ORDER, np.array([1, 0]), (1, 0)),
    ],
)
def test_good_values_come_back_in_their_own_type_and_without_a_warning(parameter, given, kept, recwarn):
    assert parameter.check(given) == kept
    assert not recwarn.list


@pytest.mark.parametrize(
    ("parameter", "given", "sentence"),
    [
        (WHOLE, 0, "num_heads 0 is below 1: choose 1 to 16."),
        (WHOLE, 512, "num_heads 512 is above 16: choose 1 to 16."),
        (WHOLE, 2.5, "num_heads 2.5 is not a whole number: choose 1 to 16."),
        (WHOLE, True, "num_heads True is not a whole number: choose 1 to 16."),
        (WHOLE, None, "num_heads None is not a whole number: choose 1 to 16."),
        (CHOICE, "causl", "mask 'causl' is not known: choose one of 'none', 'causal'."),
        (
            CHOICE,
            np.array(["none", "none"]),
            "mask array(['none', 'none'], dtype='<U4') is not known: choose one of 'none', 'causal'.",
        ),
        (CHOICE, torch.zeros(2), "mask tensor([0., 0.]) is not known: choose one of 'none', 'causal'."),
        pytest.param(WHOLE, 10**5000, "num_heads of type int is above 16: choose 1 to 16.", id="five thousand digits"),
        (WHOLE, "x" * 99, f"num_heads '{'x' * 57} … is not a whole number: choose 1 to 16."),
        (
            ROW,
            torch.ones(2, 2),
            "guess tensor([[1., 1.], [1., 1.]]) is not a row of numbers: give 2 weights from 0 to 1.",
        ),
        (FLAG, 1, "inverted 1 is not a yes or no: give True or False."),
        (ROW, [0.5], "guess has 1 weights: give 2 weights from 0 to 1."),
        (ROW, [0.5, 1.5], "guess has the weight 1.5: give 2 weights from 0 to 1."),
        (ROW, [0.5, float("nan")], "guess has the weight nan: give 2 weights from 0 to 1."),
        (ROW, "01", "guess '01' is not a row of numbers: give 2 weights from 0 to 1."),
        (ROW, 3, "guess 3 is not a row of numbers: give 2 weights from 0 to 1."),
        (
            ORDER,
            "0 0 1",
            "order 0 0 1 leaves out or repeats a position: write every position once, for instance 1 0 2.",
        ),
        (
            ORDER,
            [0.9, 1.9],
            "order [0.9, 1.9] is not a row of positions: write every position once, for instance 1 0 2.",
        ),
        (ORDER, "0 x", "order '0 x' is not a row of positions: write every position once, for instance 1 0 2."),
    ],
)
def test_a_bad_value_is_named_with_what_to_do(parameter, given, sentence):
    with pytest.raises(ValueError) as caught:
        parameter.check(given)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("parameter", [WHOLE, CHOICE, FLAG, ROW, ORDER])
def test_a_long_value_is_cut_and_stays_on_one_line(parameter):
    with pytest.raises(ValueError) as caught:
        parameter.check(np.full((30, 30), 0.5))
    assert len(str(caught.value)) < 200 and "\n" not in str(caught.value)


def test_an_option_comes_back_in_its_own_type():
    assert type(Choice("base", "Base", 10, (10, 100)).check(100.0)) is int


@pytest.mark.parametrize(
    ("parameter", "given", "shown"),
    [(WHOLE, 512, 16), (WHOLE, -3, 1), (WHOLE, "four", 4), (CHOICE, "causl", "none"), (ORDER, "0 x", "0 x")],
)
def test_a_control_shows_the_nearest_value(parameter, given, shown):
    assert parameter.nearest(given) == shown


def test_unknown_names_are_refused_with_those_that_exist():
    with pytest.raises(TypeError, match="no parameter heads: this explorer has num_heads, mask"):
        start((WHOLE, CHOICE), {"heads": 3})


def test_mending_leaves_good_values_alone():
    state = {"num_heads": 99, "mask": "causal", "order": "0 x"}
    assert mended((WHOLE, CHOICE, ORDER), state) == {"num_heads": 16, "mask": "causal", "order": None}


@st.composite
def anything(draw):
    """A value of a kind that somebody might pass, right or wrong, also as an array or a tensor."""
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.binary(max_size=3)
    value = draw(plain | st.lists(plain, max_size=4) | st.tuples(plain, plain) | st.dictionaries(st.text(), plain))
    numbers = st.lists(st.floats(width=16) | st.integers(-9, 9), max_size=4)
    array = draw(st.sampled_from([lambda: value, lambda: np.array(draw(numbers)), lambda: torch.tensor(draw(numbers))]))
    return array()


@given(st.sampled_from([WHOLE, CHOICE, FLAG, ROW, ORDER]), anything())
def test_any_value_is_taken_in_its_own_type_or_refused_in_one_sentence(parameter, value):
    try:
        taken = parameter.check(value)
    except ValueError as refused:
        sentence = str(refused)
        assert sentence.startswith(f"{parameter.name} ") and sentence.endswith(".")
        assert len(sentence) < 200 and "\n" not in sentence
    else:
        assert parameter.check(taken) == taken
