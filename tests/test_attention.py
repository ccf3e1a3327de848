"""The reference mathematics of attention, held against PyTorch's and against numbers worked out by hand."""

import math

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from course import attention
from course.attention import MultiHeadAttention, ablate_head, masked_softmax, scaled_dot_product_attention
from course.encoding import alibi_bias

B, H, T, S, D, D_V = 2, 3, 4, 5, 6, 7
LAYER = MultiHeadAttention(12, 3).eval()
X = torch.randn(2, 5, 12)


@pytest.fixture
def qkv():
    """Queries (B, H, T, D), keys (B, H, S, D) and values (B, H, S, D_V) that want gradients."""
    torch.manual_seed(0)
    shapes = (B, H, T, D), (B, H, S, D), (B, H, S, D_V)
    return tuple(torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes)


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


@pytest.mark.parametrize("mask", [torch.ones(T, S), torch.ones(T, S, dtype=torch.int64)])
def test_a_mask_of_numbers_is_refused(mask):
    with pytest.raises(TypeError, match=f"mask is {mask.dtype}: it must be boolean, True = may attend"):
        masked_softmax(torch.zeros(T, S), mask)


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
        (8.0, 2, TypeError, "float"),
    ],
)
def test_widths_that_do_not_split_are_refused(d_model, num_heads, error, message):
    for use in (attention.head_width, attention.parameter_count, MultiHeadAttention):
        with pytest.raises(error, match=message):
            use(d_model, num_heads)


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
    assert attention.padding_mask(torch.empty(2, device="meta"), 3).device.type == "meta"


def test_heads_stand_together_in_pytorch_s_mask_and_true_forbids():
    mask = attention.padding_mask([1, 2], 2)
    theirs = attention.to_multihead_mask(mask, batch=2, num_heads=3, queries=4, keys=2)
    assert theirs.shape == (6, 4, 2)
    assert theirs[:, 0].tolist() == [[False, True]] * 3 + [[False, False]] * 3


def test_the_scale_is_the_head_s_width_unless_another_is_given():
    q, k = torch.full((1, 1, 1, 4), 2.0), torch.ones(1, 1, 1, 4)
    assert attention.attention_scores(q, k).item() == pytest.approx(8 / math.sqrt(4))
    assert attention.attention_scores(q, k, scale=1.0).item() == 8


def test_contributions_of_the_heads_add_up_to_the_output():
    whole = LAYER(X)[0]
    contributions = sum(whole - ablate_head(LAYER, X, head) for head in range(3))
    assert torch.allclose(contributions, whole - LAYER.out_proj.bias, atol=1e-5)


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
