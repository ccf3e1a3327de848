"""Positional encodings, held against their formulas and against what makes each of them useful."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course import encoding
from course.encoding import rotate, rotation_matrix, sinusoidal_encoding

DTYPES = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


@pytest.mark.parametrize(("seq_len", "d_model"), [(9, 6), (9, 7), (3, 1), (1, 2), (0, 4)])
def test_every_entry_follows_the_formula_also_for_odd_widths(seq_len, d_model):
    wanted = [
        [(math.cos if j % 2 else math.sin)(p / 10_000 ** (2 * (j // 2) / d_model)) for j in range(d_model)]
        for p in range(seq_len)
    ]
    np.testing.assert_allclose(
        sinusoidal_encoding(seq_len, d_model), np.reshape(wanted, (seq_len, d_model)), atol=1e-12
    )


@given(st.integers(0, 40), st.integers(1, 40), st.sampled_from([10, 100.0, 10_000]))
def test_rows_are_on_circles_and_do_not_depend_on_how_many_there_are(seq_len, d_model, base):
    table = sinusoidal_encoding(seq_len, d_model, base)
    assert table.shape == (seq_len, d_model) and table.dtype == np.float64
    pairs = d_model // 2
    np.testing.assert_allclose(table[:, : 2 * pairs : 2] ** 2 + table[:, 1::2] ** 2, 1)
    np.testing.assert_array_equal(table, sinusoidal_encoding(seq_len + 3, d_model, base)[:seq_len])


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 12))
def test_rotations_compose_and_turn_back(one, other, pairs):
    both = rotation_matrix(one, 2 * pairs) @ rotation_matrix(other, 2 * pairs)
    np.testing.assert_allclose(both, rotation_matrix(one + other, 2 * pairs), atol=1e-12)
    np.testing.assert_allclose(rotation_matrix(one, 2 * pairs).T, rotation_matrix(-one, 2 * pairs), atol=1e-12)


@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 6), st.integers(1, 5), st.integers(0, 2**32))
def test_rotating_is_the_transposed_rotation_of_each_position(batch, num_heads, time, pairs, seed):
    """R_p turns (sin, cos) pairs, in which the sine comes first; rotary turns (x, y) the other way round."""
    x = torch.randn(
        batch, num_heads, time, 2 * pairs, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    given_ = rotate(x)
    assert given_.shape == x.shape
    for position in range(time):
        turn = torch.from_numpy(rotation_matrix(position, 2 * pairs))
        torch.testing.assert_close(given_[:, :, position], x[:, :, position] @ turn, atol=1e-10, rtol=0)


@pytest.mark.parametrize("d_model", [1, 2, 7, 8, 512])
def test_after_one_wavelength_a_pair_is_where_it_was(d_model):
    waves = encoding.wavelengths(d_model)
    assert waves.shape == encoding.frequencies(d_model).shape == (-(-d_model // 2),)
    assert waves[0] == pytest.approx(2 * math.pi)
    np.testing.assert_allclose(waves * encoding.frequencies(d_model), 2 * math.pi)


def test_the_longest_wave_stops_one_pair_short_of_the_base():
    assert encoding.wavelengths(8)[-1] == pytest.approx(2 * math.pi * 1000)  # 10000 ** (6/8)
    assert encoding.wavelengths(4, base=100)[-1] == pytest.approx(2 * math.pi * 10)


@pytest.mark.parametrize("offset", [-3, 0, 1, 40])
@pytest.mark.parametrize("base", [10, 10_000])
def test_a_step_is_one_rotation_for_every_position(offset, base):
    table, rotation = sinusoidal_encoding(60, 6, base), rotation_matrix(offset, 6, base)
    for position in range(5, 15):
        np.testing.assert_allclose(rotation @ table[position], table[position + offset], atol=1e-12)
    np.testing.assert_allclose(rotation @ rotation.T, np.eye(6), atol=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_sum_keeps_dtype_and_argument_and_is_that_of_each_position_in_every_item(dtype):
    x = torch.rand(5, 3, 2, dtype=dtype).transpose(0, 2)  # (2, 3, 5), not contiguous
    before = x.clone()
    given = encoding.add_sinusoidal_encoding(x)
    assert given.dtype == dtype and torch.equal(x, before)
    table = torch.as_tensor(sinusoidal_encoding(3, 5))
    torch.testing.assert_close((given - x).double(), table.expand(2, 3, 5), atol=4 * torch.finfo(dtype).eps, rtol=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_rotating_keeps_dtype_shape_and_length(dtype):
    x = torch.randn(2, 4, 3, 6, dtype=dtype).transpose(1, 2)  # (2, 3, 4, 6), not contiguous
    given = rotate(x)
    assert given.dtype == dtype and given.shape == x.shape
    torch.testing.assert_close(given.norm(dim=-1), x.norm(dim=-1), atol=8 * torch.finfo(dtype).eps, rtol=0.02)
    assert torch.equal(given[:, :, 0], x[:, :, 0])


@pytest.mark.parametrize("base", [100, 10_000])
def test_a_pair_of_neighbours_turns_by_its_position(base):
    turned = rotate(torch.tensor([1.0, 0.0, 0.0, 2.0], dtype=torch.float64).expand(1, 1, 3, 4), base)
    slow = 2 / base ** (2 / 4)  # the angle of pair 1 at position 2
    wanted = [math.cos(2), math.sin(2), -2 * math.sin(slow), 2 * math.cos(slow)]
    assert turned[0, 0, 2].tolist() == pytest.approx(wanted)


def test_rotated_scores_depend_on_the_distance_alone():
    q, k = (torch.randn(1, 1, 1, 8, dtype=torch.float64).expand(1, 1, 9, 8) for _ in range(2))
    scores = (rotate(q) @ rotate(k).transpose(-2, -1))[0, 0]
    torch.testing.assert_close(scores[1:, 1:], scores[:-1, :-1])
    assert not torch.allclose(scores[0, 1:], scores[0, :-1])


@pytest.mark.parametrize("encode", [encoding.add_sinusoidal_encoding, lambda x: rotate(x[None])])
def test_it_stays_on_the_device_of_its_input_and_refuses_token_ids(encode):
    assert encode(torch.empty(2, 3, 4, device="meta")).device.type == "meta"
    with pytest.raises(TypeError, match=r"x is torch.int64: .* embeddings, which are floating-point"):
        encode(torch.ones(2, 3, 4, dtype=torch.long))


def test_gradients_pass_through():
    x = torch.randn(1, 2, 3, 4, requires_grad=True)
    rotate(x).sum().backward()
    assert x.grad.abs().sum() > 0
    table = encoding.LearnedPositionalEncoding(5, 4)
    table(encoding.add_sinusoidal_encoding(x[0])).sum().backward()
    assert table.table.grad[:3].eq(2).all() and not table.table.grad[3:].any()  # two items, three positions


def test_a_learned_table_is_added_row_by_row_and_has_an_end():
    table = encoding.LearnedPositionalEncoding(3, 4)
    assert [parameter.shape for parameter in table.parameters()] == [(3, 4)]
    assert torch.equal(table(torch.zeros(2, 2, 4)), table.table[:2].expand(2, 2, 4))
    with pytest.raises(ValueError, match="sequence length 4 is longer than max_len 3"):
        table(torch.zeros(1, 4, 4))


@pytest.mark.parametrize("width", [1, 5])
def test_a_learned_table_refuses_embeddings_of_another_width(width):
    with pytest.raises(ValueError, match=f"x is {width} wide, but the table is made for d_model 4"):
        encoding.LearnedPositionalEncoding(3, 4)(torch.zeros(2, 3, width))


@pytest.mark.parametrize("encode", [encoding.add_sinusoidal_encoding, encoding.LearnedPositionalEncoding(4, 4)])
def test_a_tensor_without_a_batch_is_refused_with_its_shape(encode):
    with pytest.raises(ValueError, match=r"x has shape \(4, 4\): \(B, T, .*\) is wanted"):
        encode(torch.zeros(4, 4))


def test_linear_biases_by_hand():
    assert encoding.alibi_slopes(2).tolist() == [1 / 16, 1 / 256]
    assert encoding.alibi_slopes(8).tolist() == [2**-h for h in range(1, 9)]
    bias = encoding.alibi_bias(2, 3)
    assert bias[0].tolist() == [[0, -math.inf, -math.inf], [-1 / 16, 0, -math.inf], [-2 / 16, -1 / 16, 0]]
    assert torch.equal(bias[1].tril(), bias[0].tril() / 16)
    assert encoding.alibi_bias(4, 0).shape == (4, 0, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rotation_matrix(1, 5), "d_model 5 is odd"),
        (lambda: rotate(torch.zeros(1, 1, 2, 3)), "d_head 3 is odd"),
        (lambda: encoding.alibi_slopes(6), "num_heads 6 is not a power of two"),
        (lambda: encoding.alibi_bias(0, 4), "num_heads 0 is not a power of two"),
        (lambda: encoding.frequencies(4, base=0), "base 0 must be a positive number"),
        (lambda: sinusoidal_encoding(2, 4, base=math.nan), "base nan must be a positive number"),
        (lambda: encoding.wavelengths(4, base=math.inf), "base inf must be a positive number"),
    ],
)
def test_sizes_that_cannot_be_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_number_of_heads_that_is_not_whole_is_refused():
    with pytest.raises(TypeError, match=r"num_heads 4.0 is of type float: a whole number is wanted"):
        encoding.alibi_slopes(4.0)
