"""The reference mathematics of attention, held against PyTorch's and against numbers worked out by hand."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from course import attention
from course.attention import MultiHeadAttention, ablate_head, masked_softmax, scaled_dot_product_attention
from course.encoding import alibi_bias
from course.models import RotaryAttention

B, H, T, S, D, D_V = 2, 3, 4, 5, 6, 7
LAYER = MultiHeadAttention(12, 3).eval()
X = torch.randn(2, 5, 12)


@pytest.fixture
def qkv():
    """Queries (B, H, T, D), keys (B, H, S, D) and values (B, H, S, D_V) that want gradients."""
    torch.manual_seed(0)
    shapes = (B, H, T, D), (B, H, S, D), (B, H, S, D_V)
    return tuple(torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)


@st.composite
def cases(draw):
    """q, k, v of any sizes, float32 or float64, contiguous or not, and a mask of any shape that broadcasts, or None."""
    b, h, t, s, d, d_v = (draw(st.integers(1, 4)) for _ in range(6))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32)))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    spread = draw(st.sampled_from([1.0, 1e3]))  # the second saturates every row

    def tensor(*shape):
        x = torch.randn(shape, generator=generator, dtype=dtype) * spread
        x = x.transpose(1, 2).contiguous().transpose(1, 2) if draw(st.booleans()) else x
        return x.requires_grad_()

    q, k, v = tensor(b, h, t, d), tensor(b, h, s, d), tensor(b, h, s, d_v)
    shape = [draw(st.sampled_from([1, size])) for size in (b, h, t, s)][draw(st.integers(0, 4)) :]
    mask = draw(st.none() | st.just(torch.rand(shape, generator=generator) < 0.7))
    return q, k, v, mask


@given(cases())
def test_it_agrees_with_pytorch_on_any_sizes_dtypes_and_masks(case):
    q, k, v, mask = case
    out, weights = scaled_dot_product_attention(q, k, v, mask)
    full = torch.ones_like(weights, dtype=torch.bool) if mask is None else mask.expand(weights.shape)
    some = full.any(-1)  # a query that may attend to nothing has a row of zeros here, whatever PyTorch's version gives
    wanted = F.scaled_dot_product_attention(q, k, v, attn_mask=full)
    tolerance = 1e-5 if q.dtype == torch.float32 else 1e-8
    torch.testing.assert_close(out[some], wanted[some], atol=tolerance * float(v.detach().abs().max()), rtol=0)
    torch.testing.assert_close(weights.sum(-1), some.to(q.dtype))
    assert not weights[~full].any() and not out[~some].any()
    assert out.dtype == weights.dtype == q.dtype
    out.sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


@given(cases())
def test_no_mask_is_a_mask_that_lets_everything_through(case):
    q, k, _, _ = case
    scores = attention.attention_scores(q, k).detach()
    scores[..., 0, :] = -math.inf  # one row in which there is nothing to attend to
    assert torch.equal(masked_softmax(scores), masked_softmax(scores, torch.tensor(True)))
    assert not masked_softmax(scores)[..., 0, :].any()


@given(st.integers(1, 4), st.integers(0, 5), st.integers(1, 6), st.integers(1, 5), st.sampled_from("fdeq"))
def test_merging_undoes_splitting_for_every_size_and_type(batch, time, num_heads, d_head, code):
    shape = batch, time, num_heads * d_head
    x = torch.from_numpy(np.arange(math.prod(shape)).astype(code)).reshape(shape)
    heads = attention.split_heads(x, num_heads)
    assert heads.shape == (batch, num_heads, time, d_head) and heads.dtype == x.dtype
    assert all(torch.equal(heads[:, h], x[..., h * d_head : (h + 1) * d_head]) for h in range(num_heads))
    assert torch.equal(attention.merge_heads(heads), x)


MASKS = [(S,), (1, S), (T, 1), (T, S), (H, 1, S), (B, 1, 1, S), (1, H, T, 1), (B, H, T, S)]


@pytest.mark.parametrize("shape", MASKS)
def test_it_agrees_with_pytorch_under_a_mask_of_any_shape_that_broadcasts(qkv, shape):
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.6
    mask[..., 0] = True
    out, weights = scaled_dot_product_attention(*qkv, mask)
    torch.testing.assert_close(out, F.scaled_dot_product_attention(*qkv, attn_mask=mask.expand(B, H, T, S)))
    assert weights.shape == (B, H, T, S)
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, H, T, dtype=torch.float64))
    assert not weights[~mask.expand(B, H, T, S)].any()


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_row_that_may_attend_to_nothing_is_zero_and_so_is_its_gradient(qkv, dtype):
    q, k, v = (x.detach().to(dtype).requires_grad_() for x in qkv)
    mask = torch.ones(T, S, dtype=torch.bool)
    mask[1] = False
    with torch.autograd.set_detect_anomaly(True):  # a NaN on the way back is an error, even if it is thrown away later
        out, weights = scaled_dot_product_attention(q, k, v, mask)
        out.square().sum().backward()
    assert out.dtype == weights.dtype == dtype
    assert not out[:, :, 1].any() and not weights[:, :, 1].any()
    assert not q.grad[:, :, 1].any() and q.grad[:, :, 0].any()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


def test_a_row_that_mask_and_bias_empty_together_is_zero_too():
    q = torch.randn(1, 2, 3, 4, requires_grad=True)
    left_padding = torch.tensor([False, True, True])
    out, weights = scaled_dot_product_attention(q, q, q, left_padding, bias=alibi_bias(2, 3))
    out.sum().backward()
    assert not weights[:, :, 0].any()
    torch.testing.assert_close(weights[:, :, 1:].sum(-1), torch.ones(1, 2, 2))
    assert q.grad.isfinite().all()


def test_a_bias_is_added_to_the_scaled_scores(qkv):
    bias = torch.randn(H, T, S, dtype=torch.float64)
    out, _ = scaled_dot_product_attention(*qkv, bias=bias)
    torch.testing.assert_close(out, F.scaled_dot_product_attention(*qkv, attn_mask=bias[None]))


@pytest.mark.parametrize(
    ("mask", "came"),
    [
        (torch.ones(T, S), "torch.float32"),
        (torch.ones(T, S, dtype=torch.int64), "torch.int64"),
        (np.ones((T, S), dtype=bool), "ndarray"),
        ([[True] * S] * T, "list"),
    ],
)
def test_a_mask_that_is_no_boolean_tensor_is_refused(mask, came):
    message = f"mask is {came}: it must be a boolean tensor, True = may attend"
    with pytest.raises(TypeError, match=message):
        masked_softmax(torch.zeros(T, S), mask)
    with pytest.raises(TypeError, match=message):
        attention.to_multihead_mask(mask, 1, 1, T, S)


@pytest.mark.parametrize(("batch", "time"), [(0, 3), (2, 0), (2, 1)])
def test_no_items_no_tokens_and_one_token_are_sequences_too(batch, time):
    out, weights = LAYER(torch.randn(batch, time, 12), attention.causal_mask(time))
    assert out.shape == (batch, time, 12) and weights.shape == (batch, 3, time, time)
    assert (weights == 1).all()  # one token can attend only to itself


def test_heads_are_cut_from_neighbouring_features_and_merged_again_even_from_a_view():
    x = torch.arange(24.0).reshape(6, 2, 2).transpose(0, 2)  # (2, 2, 6), not contiguous
    heads = attention.split_heads(x, 3)
    assert heads.shape == (2, 3, 2, 2)
    assert torch.equal(heads[1, 2, 0], x[1, 0, 4:6])
    assert torch.equal(attention.merge_heads(heads), x)


@pytest.mark.parametrize("number", [int, np.int64, torch.tensor])
def test_a_head_s_width_is_a_python_int(number):
    assert type(attention.head_width(number(12), number(3))) is int


@pytest.mark.parametrize(
    ("d_model", "num_heads", "error", "message"),
    [
        (10, 3, ValueError, "d_model 10 is not a multiple of num_heads 3"),
        (0, 1, ValueError, "d_model 0 and num_heads 1 must be 1 or more"),
        (8, -2, ValueError, "d_model 8 and num_heads -2 must be 1 or more"),
        (8.0, 2, TypeError, "d_model 8.0 is of type float: a whole number is wanted"),
        (8, True, TypeError, "num_heads True is of type bool: a whole number is wanted"),
        ("8", 2, TypeError, "d_model '8' is of type str: a whole number is wanted"),
    ],
)
def test_widths_that_do_not_split_are_refused(d_model, num_heads, error, message):
    for use in (attention.head_width, attention.parameter_count, MultiHeadAttention):
        with pytest.raises(error, match=message):
            use(d_model, num_heads)


@pytest.mark.parametrize(
    ("use", "wanted"),
    [
        (lambda x: attention.split_heads(x, 2), r"\(B, T, d_model\)"),
        (attention.merge_heads, r"\(B, H, T, d_head\)"),
        (LAYER, r"\(B, T, d_model\)"),
    ],
)
def test_a_tensor_with_an_axis_too_few_is_refused_with_its_shape(use, wanted):
    with pytest.raises(ValueError, match=rf"x has shape \(5, 12\): {wanted} is wanted"):
        use(torch.zeros(5, 12))


def test_parameters_are_counted_as_the_layer_has_them():
    assert attention.parameter_count(12, 3) == sum(p.numel() for p in LAYER.parameters())


def test_scores_take_the_bytes_that_a_tensor_of_them_takes():
    scores = torch.zeros(3, 5, 5, dtype=torch.float64)
    assert attention.score_memory(3, 5, bytes_per_score=8) == scores.nbytes


@pytest.mark.parametrize("masked", [False, True])
def test_a_layer_with_copied_weights_agrees_with_pytorch_s(masked):
    packed = nn.MultiheadAttention(12, 3, batch_first=True)
    nn.init.normal_(packed.in_proj_bias)
    nn.init.normal_(packed.out_proj.bias)
    mask = attention.causal_mask(5) & attention.padding_mask([5, 3], 5) if masked else None
    theirs = None if mask is None else attention.to_multihead_mask(mask, 2, 3, 5, 5)
    wanted = packed(X, X, X, attn_mask=theirs, average_attn_weights=False)
    given = attention.copy_weights(packed, MultiHeadAttention(12, 3))(X, mask)
    for mine, right in zip(given, wanted, strict=True):
        torch.testing.assert_close(mine, right, atol=1e-5, rtol=0)


def test_copying_from_a_layer_without_biases_leaves_none_behind():
    packed = nn.MultiheadAttention(12, 3, bias=False, batch_first=True)
    given, _ = attention.copy_weights(packed, MultiHeadAttention(12, 3))(X)
    torch.testing.assert_close(given, packed(X, X, X)[0], atol=1e-5, rtol=0)


@pytest.mark.parametrize("setting", [{"kdim": 8}, {"vdim": 8}, {"add_bias_kv": True}, {"add_zero_attn": True}])
def test_copying_from_a_layer_with_more_than_four_projections_is_refused(setting):
    with pytest.raises(ValueError, match="made with kdim, vdim, add_bias_kv or add_zero_attn: leave them out"):
        attention.copy_weights(nn.MultiheadAttention(12, 3, **setting), MultiHeadAttention(12, 3))


def test_a_bias_is_copied_wherever_the_layer_has_one():
    packed = nn.MultiheadAttention(12, 3)
    nn.init.normal_(packed.out_proj.bias)
    layer = MultiHeadAttention(12, 3)
    layer.q_proj = nn.Linear(12, 12, bias=False)
    attention.copy_weights(packed, layer)
    assert layer.q_proj.bias is None
    assert torch.equal(layer.out_proj.bias, packed.out_proj.bias)


def test_masks_by_hand():
    assert attention.causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    padding = attention.padding_mask(np.array([0, 2]), 3)
    assert padding.shape == (2, 1, 1, 3)
    assert padding.flatten(1).tolist() == [[False] * 3, [True, True, False]]


def test_padding_is_masked_where_the_lengths_are():
    assert attention.padding_mask(torch.empty(2, dtype=torch.long, device="meta"), 3).device.type == "meta"


@pytest.mark.parametrize(
    ("lengths", "came"),
    [
        ([[True, False]], r"torch.bool of shape \(1, 2\)"),  # a key_padding_mask of PyTorch's
        ([True, False], r"torch.bool of shape \(2,\)"),
        ([1.5], r"torch.float32 of shape \(1,\)"),
        (3, r"torch.int64 of shape \(\)"),
    ],
)
def test_lengths_that_are_none_are_refused(lengths, came):
    with pytest.raises(ValueError, match=rf"lengths are {came}: whole numbers \(B,\) are wanted"):
        attention.padding_mask(lengths, 3)


def test_heads_stand_together_in_pytorch_s_mask_and_true_forbids():
    mask = attention.padding_mask([1, 2], 2)
    theirs = attention.to_multihead_mask(mask, batch=2, num_heads=3, queries=4, keys=2)
    assert theirs.shape == (6, 4, 2)
    assert theirs[:, 0].tolist() == [[False, True]] * 3 + [[False, False]] * 3


def test_the_scale_is_the_head_s_width_unless_another_is_given():
    q, k = torch.full((1, 1, 1, 4), 2.0), torch.ones(1, 1, 1, 4)
    assert attention.attention_scores(q, k).item() == pytest.approx(8 / math.sqrt(4))
    assert attention.attention_scores(q, k, scale=1.0).item() == 8


@pytest.mark.parametrize("layer", [LAYER, RotaryAttention(12, 3)])
def test_contributions_of_the_heads_add_up_to_the_output(layer):
    whole = layer(X)[0]
    contributions = sum(whole - ablate_head(layer, X, head) for head in range(3))
    assert torch.allclose(contributions, whole - layer.out_proj.bias, atol=1e-5)


def test_the_only_head_leaves_the_bias():
    layer = MultiHeadAttention(6, 1)
    assert torch.allclose(ablate_head(layer, torch.randn(2, 4, 6), 0), layer.out_proj.bias.expand(2, 4, 6))


def test_layer_is_left_as_it_was():
    before = LAYER(X)[0]
    ablate_head(LAYER, X, 1)
    assert torch.equal(LAYER(X)[0], before)


@pytest.mark.parametrize("head", [-1, 3])
def test_a_head_that_is_not_there_is_refused(head):
    with pytest.raises(ValueError, match=f"head {head} is not one of the 3 heads, 0 to 2"):
        ablate_head(LAYER, X, head)


@pytest.mark.parametrize("head", [0.5, True, None])
def test_a_head_that_is_no_whole_number_is_refused(head):
    with pytest.raises(TypeError, match=f"head {head} is of type {type(head).__name__}: a whole number is wanted"):
        ablate_head(LAYER, X, head)
