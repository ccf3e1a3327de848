"""Comparisons understand NumPy and torch, name the cause, and never print what was expected."""

import numpy as np
import pytest
import torch

from course.checks import CheckFailed, check_close, check_shape
from course.checks.compare import (
    agrees,
    as_array,
    check_dtype,
    check_finite,
    check_int,
    check_numpy,
    check_pair,
    check_tensor,
)

VALUES = [[0.125, 3.0], [-2.0, 7.5]]


def message(check, *arguments, **keywords):
    with pytest.raises(CheckFailed) as raised:
        check(*arguments, **keywords)
    return str(raised.value)


@pytest.mark.parametrize(
    "value",
    [
        np.array(VALUES),
        np.array(VALUES, dtype="float32"),
        torch.tensor(VALUES),
        torch.tensor(VALUES, dtype=torch.bfloat16),
        torch.tensor(VALUES).T.contiguous().T,
        torch.nn.Parameter(torch.tensor(VALUES)),
        torch.complex(torch.zeros(2, 2, dtype=torch.float64), -torch.tensor(VALUES, dtype=torch.float64)).conj().imag,
    ],
)
def test_same_numbers_agree_in_any_container(value):
    check_close(value, np.array(VALUES), "")
    check_close(value, torch.tensor(VALUES), "")


def test_numbers_without_axes():
    check_close(0.5, 0.5, "")
    check_close(np.float64(0.5), 0.5, "")
    check_close(torch.tensor(0.5), 0.5, "")


@pytest.mark.parametrize(("dtype", "passes"), [("float32", True), ("float64", False)])
def test_tolerance_follows_the_precision(dtype, passes):
    value = np.zeros(3, dtype=dtype) + np.array(5e-6, dtype=dtype)
    if passes:
        check_close(value, np.zeros(3), "hint")
    else:
        assert "hint" in message(check_close, value, np.zeros(3), "hint")


def test_single_precision_on_the_way_is_recognised():
    value = (np.array(VALUES) / 3).astype("float32").astype("float64")
    assert "single precision" in message(check_close, value, np.array(VALUES) / 3, "hint")


def test_infinite_expectations_do_not_make_every_difference_small():
    expected = np.array([1.0, -np.inf])
    assert message(check_close, np.array([2.0, -np.inf]), expected, "hint").endswith("Hint: hint")


def test_message_says_where_and_by_how_much_and_keeps_the_expected_value():
    value = np.array(VALUES)
    value[1, 0] += 0.25
    text = message(check_close, value, np.array(VALUES), "Look there.")
    assert "off by 0.25 at [1, 0] (allowed 1e-08)" in text
    assert "-2.0" not in text and "-1.75" not in text


def test_first_suspect_that_agrees_gives_the_hint():
    suspects = [
        ("half", np.array(VALUES) / 2),
        ("twice", lambda: np.array(VALUES) * 2),
        ("also twice", np.array(VALUES) * 2),
    ]
    assert message(check_close, np.array(VALUES) * 2, np.array(VALUES), "none", suspects=suspects).endswith(
        "Hint: twice"
    )
    assert message(check_close, np.array(VALUES) * 3, np.array(VALUES), "none", suspects=suspects).endswith(
        "Hint: none"
    )


@pytest.mark.parametrize("check", [check_numpy, check_tensor, check_pair])
def test_none_has_its_own_sentence(check):
    assert "the result is None." in message(check, None)
    assert "return" in message(check, None)


def test_none_has_its_own_sentence_where_values_are_compared():
    assert "the result is None." in message(check_close, None, np.array(VALUES), "hint")
    assert "the result is None." in message(check_shape, None, (2, 2), "hint")
    assert "the result is None." in message(check_dtype, None, "float32", "hint")


@pytest.mark.parametrize(
    ("check", "value", "seen"),
    [
        (check_numpy, torch.ones(2), "a tensor of shape (2,), wanted a NumPy array"),
        (check_tensor, np.ones(2), "a NumPy array of shape (2,), wanted a tensor"),
        (check_tensor, (1, 2), "a tuple of 2, wanted a tensor"),
        (check_pair, torch.ones(2), "a tensor of shape (2,), wanted the pair (out, weights)"),
        (check_pair, (1, 2, 3), "a tuple of 3, wanted the pair"),
    ],
)
def test_wrong_container_is_named(check, value, seen):
    assert seen in message(check, value)


def test_numbers_in_a_list_have_no_dtype():
    assert "a list, wanted numbers of dtype float32" in message(check_dtype, [1.0], "float32", "hint")


@pytest.mark.parametrize("value", ["text", {}, object()])
def test_what_is_no_array_is_refused(value):
    assert "Return a tensor or a NumPy array" in message(as_array, value)


@pytest.mark.parametrize("value", [[1.0], (1.0, 2.0)])
def test_several_values_are_to_become_one(value):
    assert "make one of several" in message(as_array, value)


@pytest.mark.parametrize(("value", "expected"), [(np.inf, 0.0), (np.inf, -np.inf), (0.0, np.inf)])
def test_infinity_agrees_with_itself_alone(value, expected):
    assert agrees(np.array([expected, 1.0]), np.array([expected, 1.0]))
    assert not agrees(np.array([value, 1.0]), np.array([expected, 1.0]))


def test_nan_never_agrees():
    assert not agrees(np.array([np.nan]), np.array([np.nan]))
    assert "holds NaN or infinity" in message(check_finite, torch.tensor([1.0, torch.nan]), "hint")


def test_shapes_are_not_broadcast():
    assert not agrees(np.ones((2, 2)), np.ones(2))
    assert "has shape (2, 2), wanted (2,)" in message(check_close, np.ones((2, 2)), np.ones(2), "hint")


@pytest.mark.parametrize("value", [True, 2.0, "2", torch.tensor(2)])
def test_what_is_no_int_is_refused(value):
    assert "wanted an int" in message(check_int, value, "hint")


def test_numpy_integers_are_ints():
    check_int(np.int32(2), "hint")
