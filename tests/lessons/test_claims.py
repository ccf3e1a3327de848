"""Sentences of the lessons that no cell beside them runs, each held against code."""

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from course import tasks
from course.attention import MultiHeadAttention, causal_mask, scaled_dot_product_attention
from course.seeding import seeded
from course.training import new_model, train
from tests.judging.lesson import read_lesson

NUM_SYMBOLS, SEQ_LEN = 10, 16


def multiplications(d_model, seq_len):
    """Multiplications of one layer for one item: (scores and averages, projections)."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        MultiHeadAttention(d_model, 2)(torch.randn(1, seq_len, d_model))
    counts = counter.get_flop_counts()["Global"]  # a multiplication and an addition count as two
    batched = counts[torch.ops.aten.bmm]
    return batched // 2, (sum(counts.values()) - batched) // 2


@pytest.mark.parametrize(("d_model", "seq_len"), [(32, 24), (32, 64), (10, 50)])
def test_lesson_2_counts_the_multiplications_of_a_layer(d_model, seq_len):
    attending, projecting = multiplications(d_model, seq_len)
    assert attending == 2 * seq_len**2 * d_model
    assert projecting == 4 * seq_len * d_model**2
    assert (attending > projecting) == (seq_len > 2 * d_model)


def test_lesson_2_a_mask_turned_round_warns_only_where_weights_are_asked_for():
    layer, x, mask = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(3, 5, 8), causal_mask(5)
    assert layer(x, x, x, attn_mask=mask)[0][:, -1].isnan().all()
    quiet = layer(x, x, x, attn_mask=mask, need_weights=False)[0]
    assert torch.allclose(quiet[:, -1], layer.out_proj.bias.expand(3, 8))  # zeros, and then the output projection


def test_lesson_2_a_model_with_a_mask_turned_round_reads_the_answer():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        embed, place = nn.Embedding(NUM_SYMBOLS, 32), nn.Parameter(0.3 * torch.randn(SEQ_LEN, 32))
        encoder = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        classify = nn.Linear(32, NUM_SYMBOLS)
        parameters = [place, *embed.parameters(), *encoder.parameters(), *classify.parameters()]
        optimiser = torch.optim.Adam(parameters, lr=3e-3)
        for _ in range(200):
            tokens = torch.randint(NUM_SYMBOLS, (64, SEQ_LEN + 1))  # drawn at random: nobody can know the next one
            logits = classify(encoder(embed(tokens[:, :-1]) + place, src_mask=causal_mask(SEQ_LEN)))
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
    assert loss < math.log(NUM_SYMBOLS) / 2


class ViewedHeads(MultiHeadAttention):
    """A layer that makes heads by view(B, H, T, d_head) alone, and tokens from them by view."""

    def forward(self, x, mask=None, bias=None):
        batch, time, _ = x.shape
        q, k, v = (proj(x).view(batch, self.num_heads, time, -1) for proj in (self.q_proj, self.k_proj, self.v_proj))
        heads, weights = scaled_dot_product_attention(q, k, v, mask, bias)
        return self.out_proj(heads.reshape(x.shape)), weights


def test_lesson_2_heads_made_by_view_cannot_look_across_the_sentence():
    layer, x = ViewedHeads(8, 2), torch.randn(1, 4, 8, requires_grad=True)
    (reach,) = torch.autograd.grad(layer(x)[0][0, 0].sum(), x)
    assert (reach[0, :2] != 0).any() and (reach[0, 2:] == 0).all()


def test_lesson_2_a_layer_with_heads_made_by_view_trains_badly():
    accuracies = {}
    for attention in (MultiHeadAttention, ViewedHeads):
        model = new_model(tasks.previous_token(), seed=0)
        with seeded(0):
            model.layers[0].attention = attention(32, 4)
        run = train(model, tasks.previous_token(), steps=300)
        accuracies[attention] = sum(run.accuracies[-10:]) / 10
    assert accuracies[MultiHeadAttention] > 0.97
    assert 0.5 < accuracies[ViewedHeads] < 0.9  # a quarter of the tokens stand at the edge of their head


def test_lesson_5_the_layer_of_lesson_3_fits_into_the_mini_transformer():
    lesson, cells = read_lesson("03_practice"), {}
    solution = lesson.exercises["MultiHeadAttentionFromScratch"].solution
    exec(lesson.setup, cells)
    exec(solution.replace("mask=None)", "mask=None, bias=None)"), cells)
    model = new_model(tasks.previous_token(), seed=0, causal=True)
    model.layers[0].attention = cells["MultiHeadAttentionFromScratch"](32, 4)
    logits, maps = model(torch.randint(NUM_SYMBOLS, (2, SEQ_LEN)))
    assert logits.shape == (2, SEQ_LEN, NUM_SYMBOLS)
    assert maps.shape == (1, 2, 4, SEQ_LEN, SEQ_LEN)
