"""A head taken away: what is left, and what stays as it was."""

import pytest
import torch

from course.attention import MultiHeadAttention, ablate_head

LAYER = MultiHeadAttention(12, 3).eval()
X = torch.randn(2, 5, 12)


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
