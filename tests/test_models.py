import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from course.models import ENCODINGS, TinyEncoder

SETTINGS = [{"encoding": encoding, "causal": causal} for encoding in ENCODINGS for causal in (False, True)]


def build(**settings):
    torch.manual_seed(0)
    return TinyEncoder(7, 5, d_model=16, num_heads=4, num_layers=2, **settings).eval()


def tokens(seq_len=6):
    return torch.randint(7, (3, seq_len), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("settings", SETTINGS)
def test_predictions_per_position_and_maps_per_layer_and_head(settings):
    logits, maps = build(**settings)(tokens())
    assert logits.shape == (3, 6, 5)
    assert maps.shape == (2, 3, 4, 6, 6)
    torch.testing.assert_close(maps.sum(-1), torch.ones(2, 3, 4, 6))


@given(
    encoding=st.sampled_from(ENCODINGS),
    causal=st.booleans(),
    num_heads=st.sampled_from([1, 2, 4]),
    pairs=st.integers(1, 3),
    num_layers=st.integers(1, 2),
    batch=st.integers(1, 3),
    seq_len=st.integers(1, 5),
)
def test_every_model_has_its_shapes_and_gradients_that_are_finite(
    encoding, causal, num_heads, pairs, num_layers, batch, seq_len
):
    model = TinyEncoder(7, 5, 2 * pairs * num_heads, num_heads, num_layers, encoding, causal)
    logits, maps = model(tokens()[:batch, :seq_len])
    assert logits.shape == (batch, seq_len, 5) and maps.shape == (num_layers, batch, num_heads, seq_len, seq_len)
    torch.testing.assert_close(maps.sum(-1), torch.ones(maps.shape[:-1]))
    logits.square().sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_causal_model_ignores_the_future_and_the_others_use_it(settings):
    model = build(**settings)
    changed = tokens().clone()
    changed[:, -1] = (changed[:, -1] + 1) % 7
    difference = (model(tokens())[0] - model(changed)[0])[:, :-1].abs().max().item()
    assert difference < 1e-6 if settings["causal"] else difference > 1e-3


@pytest.mark.parametrize("settings", SETTINGS)
def test_only_the_model_without_mask_and_encoding_is_blind_to_order(settings):
    model = build(**settings)
    order = torch.tensor([2, 0, 5, 1, 4, 3])
    gap = (model(tokens()[:, order])[0] - model(tokens())[0][:, order]).abs().max().item()
    blind = settings == {"encoding": "none", "causal": False}
    assert gap < 1e-5 if blind else gap > 1e-3


def test_alibi_without_a_mask_cannot_tell_left_from_right():
    model = build(encoding="alibi")
    mirrored = model(tokens().flip(1))[0].flip(1)
    torch.testing.assert_close(mirrored, model(tokens())[0], atol=1e-5, rtol=0)


def test_rotary_scores_depend_on_distances_only():
    model = build(encoding="rotary")
    same = torch.full((1, 8), 3)
    first_layer = model(same)[1][0, 0].log()  # log of the weights: scores up to a constant per query
    steps = first_layer.diff(dim=-1)
    torch.testing.assert_close(steps[:, 1:, 1:], steps[:, :-1, :-1], atol=1e-4, rtol=0)


def test_rotary_turns_queries_and_keys_and_never_values():
    layer = build(encoding="rotary").layers[0].attention
    out, _ = layer(torch.ones(1, 5, 16))  # the mean of equal values, however the weights fall
    torch.testing.assert_close(out, out[:, :1].expand(1, 5, 16))


def test_attention_and_feed_forward_see_normalised_tokens():
    layer, x = build(encoding="none").layers[0], torch.randn(2, 5, 16, dtype=torch.float64)
    seen = {}
    for name in ("attention", "feed_forward"):
        part = getattr(layer, name)
        part.register_forward_pre_hook(lambda part, inputs, name=name: seen.update({name: inputs[0]}))
    layer.double()(100 * x + 5)
    for inputs in seen.values():
        torch.testing.assert_close(inputs.mean(-1), torch.zeros(2, 5).double(), atol=1e-6, rtol=0)
        torch.testing.assert_close(inputs.var(-1, correction=0), torch.ones(2, 5).double(), atol=1e-3, rtol=0)
    assert set(seen) == {"attention", "feed_forward"}


def test_an_encoding_of_your_own_takes_the_place_of_a_name():
    class Shift(nn.Module):
        def forward(self, x):
            return x + torch.arange(x.shape[1])[:, None]

    torch.manual_seed(0)
    plain = TinyEncoder(7, 5, encoding="none")
    torch.manual_seed(0)
    shifted = TinyEncoder(7, 5, encoding=Shift())
    assert not torch.allclose(plain(tokens())[0], shifted(tokens())[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"encoding": "sinus"}, "'sinus' is unknown: take one of none, sinusoidal"),
        ({"d_model": 12, "num_heads": 4, "encoding": "rotary"}, "even head width, not 3"),
        ({"d_model": 12, "num_heads": 3, "encoding": "alibi"}, "not a power of two"),
        ({"d_model": 10, "num_heads": 4}, "not a multiple"),
        ({"num_layers": 0}, "num_layers 0 must be 1 or more"),
    ],
)
def test_impossible_settings_are_refused_when_the_model_is_made(settings, message):
    with pytest.raises(ValueError, match=message):
        TinyEncoder(7, 5, **settings)


def test_a_learned_table_says_that_it_is_too_short():
    with pytest.raises(ValueError, match="longer than max_len 4"):
        build(encoding="learned", max_len=4)(tokens())
