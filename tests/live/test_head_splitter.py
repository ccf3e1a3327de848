import numpy as np
import pytest
import torch

from course import attention
from course.live import head_splitter
from course.live.head_splitter import compute, explore, queries_keys


def split_heads(x, num_heads):
    batch, time, width = x.shape
    if width % num_heads:
        raise ValueError("these heads do not fit")
    return x.view(batch, time, num_heads, width // num_heads).transpose(1, 2)


def test_weights_are_attention_over_slices_of_one_q_and_k():
    heads = compute(4, 6, 32)
    q, k = queries_keys(6, 32)
    for h in range(4):
        columns = slice(8 * h, 8 * h + 8)
        scores = q[0, :, columns] @ k[0, :, columns].T / 8**0.5
        assert np.allclose(heads.weights[h], torch.softmax(scores, -1).numpy(), atol=1e-6)


def test_moving_a_slider_never_draws_new_numbers():
    q, _ = queries_keys(20, 64)
    shorter, _ = queries_keys(7, 24)
    assert torch.equal(q[:, :7, :24], shorter)


def test_one_head_of_the_left_half_is_head_0_of_two():
    assert np.allclose(compute(2, 9, 32).weights[0], compute(1, 9, 16).weights[0], atol=1e-6)


def test_the_ledger_counts():
    rows = dict(explore(num_heads=8, seq_len=5, d_model=64).frame.ledger)
    assert rows["d_head = d_model / H"] == "64 / 8 = 8"
    assert rows["√d_head, the scale"] == "2.83"
    assert rows["weights  (B, H, T, S)"] == "(1, 8, 5, 5)"
    assert rows["parameters, the same for every H"] == "16,640"
    assert rows["scores H·T², float32"] == "8·5² = 200 (800 bytes)"


def test_parameters_do_not_change_with_the_heads():
    counts = {dict(explore(num_heads=h).frame.ledger)["parameters, the same for every H"] for h in (1, 2, 8)}
    assert len(counts) == 1


def test_there_is_a_map_for_each_head():
    for num_heads in (1, 4, 16):
        alts = [panel.alt for panel in explore(num_heads=num_heads).frame.panels]
        assert sum(alt.startswith("Attention of head") for alt in alts) == num_heads


def test_a_head_count_that_does_not_divide_shows_the_error_and_the_nearest_counts():
    explorer = explore(num_heads=3)
    assert explorer.problem == "ValueError: d_model 32 is not a multiple of num_heads 3."
    assert explorer.summary.startswith("3 heads of 10 columns leave 2 of the 32 columns over.")
    assert "Nearest head counts that work: 2 or 4." in explorer.summary
    assert explorer.parameters["num_heads"] == 3


@pytest.mark.parametrize(("num_heads", "d_model", "counts"), [(3, 32, [2, 4]), (16, 4, [4]), (5, 36, [4, 6])])
def test_nearest_counts_divide_and_are_within_reach(num_heads, d_model, counts):
    assert head_splitter.nearest_counts(num_heads, d_model) == counts


def test_more_heads_than_columns():
    explorer = explore(num_heads=16, d_model=4)
    assert "d_model 4 is not a multiple of num_heads 16" in explorer.problem
    assert explorer.summary == "4 columns cannot be cut into 16 heads. Nearest head counts that work: 4."
    assert explorer.frame.panels


def test_one_token_attends_to_itself():
    assert "One token can attend only to itself" in explore(seq_len=1).summary


def test_a_right_split_heads_agrees_and_its_maps_stand_beside_the_course_s():
    explorer = explore(split_heads)
    assert "Your split_heads agrees with the course's." in explorer.summary
    assert sum("your head" in panel.alt for panel in explorer.frame.panels) == 4


def test_the_students_own_error_is_shown():
    problem = explore(split_heads, num_heads=3).problem
    assert problem.startswith("Your split_heads raised ValueError: these heads do not fit (line ")


def test_silence_where_an_error_was_wanted_is_named():
    def split_heads(x, num_heads):
        return x

    assert "Your split_heads raised nothing." in explore(split_heads, num_heads=3).problem


def test_a_split_without_transpose_differs():
    def split_heads(x, num_heads):
        batch, time, width = x.shape
        return x.reshape(batch, num_heads, time, width // num_heads)

    assert "Your split_heads differs from the course's" in explore(split_heads).summary


def test_features_in_another_order_inside_a_head_differ_although_the_weights_do_not():
    explorer = explore(lambda x, num_heads: attention.split_heads(x, num_heads).flip(-1))
    assert "differs from the course's" in explorer.summary


def test_the_page_keeps_its_height_while_the_slider_passes_a_count_that_does_not_divide():
    frames = [explore(num_heads=heads, d_model=36).frame for heads in (4, 5, 6)]
    shapes = [[(panel.width, panel.height) for panel in frame.panels] for frame in frames]
    assert shapes[0] == shapes[1][:-1] and shapes[1] == shapes[2][:-1]
    assert len({tuple(name for name, _ in frame.ledger) for frame in frames}) == 1


def test_head_width_is_known_by_its_name():
    def head_width(d_model, num_heads):
        return d_model // num_heads

    explorer = explore(head_width)
    assert "Your head_width agrees with the course's." in explorer.summary
    assert "Your head_width raised nothing." in explorer.set(num_heads=3).problem
    explorer = explore(attention.head_width, num_heads=3)
    assert "raised ValueError: d_model 32 is not a multiple of num_heads 3" in explorer.problem
