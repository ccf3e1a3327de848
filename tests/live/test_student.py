import asyncio
import contextlib
import threading

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course.live import student
from course.live.student import (
    Complaint,
    ask,
    attention,
    comparison,
    comparison_of_pair,
    computing,
    numbers,
    pair,
    pick,
)


def encode(seq_len):
    return np.zeros((seq_len, 2))


def complaint(call, *arguments, **named):
    with pytest.raises(Complaint) as caught:
        call(*arguments, **named)
    return str(caught.value)


def test_an_exception_becomes_a_sentence_with_its_line():
    def broken(x):
        return x[5]

    line = broken.__code__.co_firstlineno + 1
    assert complaint(ask, broken, [1]) == f"Your broken raised IndexError: list index out of range (line {line})."


@pytest.mark.parametrize("error", [SystemExit, GeneratorExit, asyncio.CancelledError])
def test_what_would_end_a_program_is_a_complaint_too(error):
    def leave():
        raise error

    assert error.__name__ in complaint(ask, leave)


def test_the_stop_button_is_no_complaint_and_shows_one_sentence():
    def endless():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        ask(endless)
    line = endless.__code__.co_firstlineno + 1
    sentence = f"Your endless was stopped (line {line}): look for a loop that does not end."
    assert caught.value._render_traceback_() == [sentence]


def test_a_call_that_no_stop_button_reaches_comes_to_an_end_by_itself(monkeypatch):
    def endless():
        while True:
            with contextlib.suppress(Exception):
                "".join("")

    def move_a_slider():
        said.append(complaint(ask, endless))
        said.append(ask(lambda: 3))

    said = []
    monkeypatch.setattr(student, "LONGEST_CALL", 0.05)
    thread = threading.Thread(target=move_a_slider, daemon=True)
    thread.start()
    thread.join(timeout=60)
    message, answer = said
    assert message.startswith("Your endless did not end within 0.05 s (line ")
    assert message.endswith("look for a loop that does not end.")
    assert answer == 3


def test_a_deadline_says_nothing_after_a_call_that_kept_it(monkeypatch):
    def move_sliders():
        for _ in range(100):
            ask(lambda: None)
        done.append(True)

    done = []
    monkeypatch.setattr(student, "LONGEST_CALL", 30)
    thread = threading.Thread(target=move_sliders, daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert done and not [t for t in threading.enumerate() if isinstance(t, threading.Timer)]


def test_an_exception_that_cannot_say_what_it_is_is_told_by_its_name():
    class Mute(Exception):
        def __str__(self):
            raise Mute

    def broken():
        raise Mute

    assert complaint(ask, broken).startswith("Your broken raised Mute (line")


def test_a_wrong_call_is_a_complaint():
    assert "takes 1 positional argument but 2 were given" in complaint(ask, encode, 3, 4)


def test_a_stub_is_not_written_yet():
    def split_heads(x, num_heads):
        raise NotImplementedError

    assert complaint(ask, split_heads, 1, 2).startswith("Your split_heads is not written yet")


def test_arguments_survive_a_function_that_changes_them():
    x = torch.ones(3)
    ask(lambda y: y.zero_(), x)
    assert x.tolist() == [1, 1, 1]
    model = torch.nn.Linear(2, 2)
    ask(lambda layer: layer.double(), model)
    assert model.weight.dtype == torch.float32


@pytest.mark.parametrize(
    ("result", "part"),
    [
        (None, "returned None: does it end with return?"),
        (np.zeros((2, 3)), "returned shape (2, 3): an array of shape (3, 2) was wanted."),
        (np.array([[1, 2], [3, np.nan], [0, 0]]), "returned nan at [1, 1]"),
        (torch.full((3, 2), torch.inf), "returned inf at [0, 0]"),
        ("words", "returned str: an array of shape (3, 2) was wanted."),
        ([[1], [2, 3]], "returned rows of different lengths: an array"),
        (np.ones((3, 2), dtype=complex), "returned complex128 numbers: an array"),
        (torch.ones((3, 2), dtype=torch.complex64), "returned complex64 numbers: an array"),
        (torch.ones((3, 2), dtype=torch.complex64).conj(), "returned complex64 numbers: an array"),
        (torch.eye(3, 2).to_sparse(), "returned Tensor that cannot be read as an array: an array of shape (3, 2)"),
        ([torch.ones(2, requires_grad=True)] * 3, "returned list that cannot be read as an array: an array"),
        ((row for row in ()), "returned generator: an array"),
    ],
)
def test_what_is_no_array_of_the_right_kind_is_named(result, part):
    sentence = complaint(numbers, encode, result, (3, 2))
    assert sentence.startswith("Your encode ") and part in sentence


class Hostile:
    def __array__(self, *_, **__):
        raise RuntimeError("never")


PLAIN = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text(max_size=3)
KINDS = (
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int8,
    torch.bool,
    torch.complex64,
)
RESULTS = (
    st.lists(PLAIN | st.lists(PLAIN, max_size=3), max_size=3)
    | PLAIN
    | st.dictionaries(st.text(), PLAIN)
    | st.builds(lambda kind, shape: torch.ones(shape).to(kind), st.sampled_from(KINDS), st.lists(st.integers(0, 2)))
    | st.builds(
        lambda kind: np.ones(2, dtype=kind), st.sampled_from(["f2", "f8", "?", "u1", "c16", "O", "U1", "M8[s]"])
    )
    | st.sampled_from([Hostile(), encode, torch.nn.Linear(2, 2), torch.ones(2, device="meta"), np.ma.masked])
)


@given(RESULTS, st.sampled_from([(), (2,), (1, 2)]))
def test_any_result_is_an_array_or_one_sentence(result, shape):
    try:
        array = numbers(encode, result, shape)
    except Complaint as refused:
        assert str(refused).startswith("Your encode returned ") and "\n" not in str(refused)
    else:
        assert array.shape == shape and array.dtype == np.float64 and np.isfinite(array).all()


def test_rows_that_are_not_judged_may_be_nan():
    rows = np.array([[np.nan, 0], [1, 2]])
    assert numbers(encode, rows, (2, 2), finite=[1])[1, 1] == 2
    assert "at [0, 0]" in complaint(numbers, encode, rows, (2, 2), finite=[0, 1])


def test_tensors_with_a_gradient_are_numbers():
    assert numbers(encode, torch.ones(2, requires_grad=True), (2,)).tolist() == [1, 1]


def test_a_pair_is_a_pair():
    assert pair(encode, [1, 2]) == [1, 2]
    assert "returned Tensor: the pair (out, weights) was wanted" in complaint(pair, encode, torch.zeros(2))
    assert "returned tuple of Tensor, NoneType: the pair" in complaint(pair, encode, (torch.zeros(2), None))
    assert "returned tuple of nothing: the pair" in complaint(pair, encode, ())
    assert "returned None: does it end with return out, weights?" in complaint(pair, encode, None)


def test_comparison_names_the_largest_difference():
    assert comparison(encode, [1.0, 2.0], [1.0, 2.0]) == "Your encode agrees with the course's."
    assert "by up to 0.5, at [1]: 2.5 where 2 is right" in comparison(encode, [1.0, 2.0], [1.0, 2.5])


def test_comparison_of_two_numbers_names_no_place():
    assert comparison(encode, 2.0, 2.5) == "Your encode differs from the course's by 0.5: 2.5 where 2 is right."


@pytest.mark.parametrize(
    ("function", "came"), [(8, "8"), ("split_heads", "'split_heads'"), (torch.zeros(2), "tensor([0., 0.])")]
)
def test_what_is_no_function_is_told_how_to_be_one(function, came):
    assert complaint(ask, function, 1).startswith(
        f"explore was given {came} as your function: give the function's name"
    )


def test_a_part_of_what_came_back_is_named():
    assert "returned weights of shape (1,): an array of shape (2,)" in complaint(
        numbers, encode, [1.0], (2,), part="weights"
    )
    assert "returned nan in out at [1]: every entry" in complaint(numbers, encode, [1.0, np.nan], (2,), part="out")


def test_attention_is_asked_for_both_and_judged_where_a_query_may_attend():
    q, k = torch.zeros(1, 1, 2, 3), torch.ones(1, 1, 4, 3)
    mask = torch.tensor([[True] * 4, [False] * 4])[None, None]
    rows = torch.tensor([[[[0.25] * 4, [torch.nan] * 4]]])
    out, weights = attention(lambda q, k, v, mask: (rows @ v, rows), q, k, mask)
    assert out[0, 0, 0].tolist() == [1, 1, 1] and weights[0, 0, 0].tolist() == [0.25] * 4
    assert "returned nan in out at [0, 0, 1, 0]" in complaint(attention, lambda q, k, v: (rows @ v, rows), q, k)


def test_the_part_that_differs_is_named_weights_before_what_comes_out():
    right, wrong = np.zeros(2), np.ones(2)
    assert "agrees" in comparison_of_pair(encode, (right, right), (right, right))
    assert "differs from the course's in out by" in comparison_of_pair(encode, (right, right), (wrong, right))
    assert "differs from the course's in weights by" in comparison_of_pair(encode, (right, right), (wrong, wrong))


def test_an_exercise_is_known_by_its_name():
    assert pick(encode, "split", "encode") == "encode"
    assert pick(lambda: None, "split", "encode") == "split"


@pytest.mark.parametrize(
    ("change", "default", "restore"),
    [
        (torch.set_default_dtype, torch.float64, torch.float32),
        (torch.set_default_device, torch.device("meta"), None),
    ],
)
def test_computing_has_torch_s_own_defaults_and_puts_the_learner_s_back(change, default, restore):
    change(default)
    try:
        with computing():
            assert torch.ones(1).dtype == torch.float32 and torch.ones(1).device.type == "cpu"
        assert default in (torch.ones(1).dtype, torch.ones(1).device)
    finally:
        change(restore)


def test_computing_makes_no_graph_on_any_thread_and_puts_the_thread_count_back():
    before = torch.get_num_threads()
    seen = []

    def work():
        with computing():
            seen.append((torch.is_grad_enabled(), torch.get_num_threads()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [(False, 1)] * 4
    assert torch.get_num_threads() == before
