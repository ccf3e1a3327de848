"""What checks hand to student code, and what they see of it afterwards, in this process and across the wire."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from course.attention import MultiHeadAttention
from course.checks import CheckFailed, encodings, figures, wire
from course.checks.candidate import Candidate
from course.checks.probes import HeadsProbe, OrderProbe
from course.encoding import sinusoidal_encoding


def crossed(value):
    return wire.loads(wire.dumps(value))


def test_probe_crosses_with_its_weights_its_mode_and_what_was_done_to_it():
    probe = OrderProbe(3, place=0.5, past=0.25).double().eval()
    there = crossed(probe)
    assert torch.equal(there.weight, probe.weight)
    assert not there.training
    there(torch.ones(1, 2, 3, dtype=torch.float64)).sum().backward()
    there.train()(torch.ones(1, 2, 3, dtype=torch.float64))
    back = crossed(there)
    assert back.training
    assert back.calls.tolist() == [1, 1]
    assert back.get_extra_state().tolist() == [1, 0]


def test_layer_crosses_with_its_weights_its_heads_and_what_was_done_to_it():
    there = crossed(HeadsProbe(12, 3).double().eval())
    assert not there.training
    x = torch.rand(1, 4, 12, dtype=torch.float64)
    assert torch.equal(there(x)[0], HeadsProbe(12, 3).double()(x)[0])
    assert there.record().tolist() == [0, 0, 0, 3]
    there.k_proj.requires_grad_(False)
    there.out_proj.register_forward_hook(lambda *_: None)
    there(x)[0].sum().backward()
    there.num_heads = 5  # does not divide the width
    back = crossed(there)
    assert back.record().tolist() == [6, 2, 1, 5]


def test_layer_has_the_state_of_any_such_layer():
    MultiHeadAttention(12, 3).load_state_dict(HeadsProbe(12, 3).state_dict())


def test_probe_sees_order_only_as_far_as_it_is_told():
    x, permutation = torch.rand(2, 4, 3), torch.tensor([2, 0, 1, 3])
    for settings, blind in (({}, True), ({"place": 1.0}, False), ({"past": 1.0}, False)):
        probe = OrderProbe(3, **settings)
        assert torch.allclose(probe(x[:, permutation]), probe(x)[:, permutation], atol=1e-6) == blind


def test_overwriting_a_result_shows_what_it_shares():
    kept = np.zeros(3)
    second, _ = Candidate("cached", {"cached": lambda: kept}).after_overwriting()
    assert second[0] == 77
    _, (argument,) = Candidate("same", {"same": lambda x: x}).after_overwriting(torch.zeros(2))
    assert argument[0] == 77
    second, (argument,) = Candidate("fresh", {"fresh": lambda x: x + 1}).after_overwriting(torch.zeros(2))
    assert second.tolist() == [1, 1]
    assert argument.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("function", "mixes"),
    [
        (lambda x: x + torch.ones(2), True),
        (lambda x: x + torch.ones(2, device=x.device), False),
        (lambda x: torch.ones(2), True),
        (lambda x: x + x.sum().item(), False),  # fails there for want of numbers, which says nothing
    ],
)
def test_devices_that_meet(function, mixes):
    assert Candidate("f", {"f": function}).mixes_devices(torch.zeros(3, 2)) == mixes


def test_a_mistake_in_an_earlier_exercise_costs_nothing_in_a_later_one():
    own = np.zeros

    def add_positional_encoding(x):
        return x + torch.from_numpy(names["positional_encoding"]((x.shape[1], x.shape[2]))).to(x)

    def add_by_both(x):
        return x + torch.from_numpy(names["positional_encoding"](x.shape[1], x.shape[2])).to(x)

    names = {"positional_encoding": own, "add_positional_encoding": add_by_both}
    item = encodings.on_own_or_lent("positional_encoding", encodings.sum_values(sizes=[(2, 3, 4)]))
    item.run(Candidate("add_positional_encoding", names))
    assert names["positional_encoding"] is own
    names["add_positional_encoding"] = add_positional_encoding
    with pytest.raises(CheckFailed, match="encoding was computed and not added"):
        item.run(Candidate("add_positional_encoding", names))
    assert names["positional_encoding"] is own


def test_drawing_leaves_the_figures_that_were_open_and_no_other():
    mine = plt.figure()

    def plot_positional_encoding(pe):
        figure, axes = plt.subplots()
        figure.colorbar(axes.imshow(pe))
        plt.show()
        return axes

    seen = Candidate("plot", {"plot": plot_positional_encoding}).seen_as(figures.describe, sinusoidal_encoding(4, 3))
    assert plt.get_fignums() == [mine.number]
    assert (seen["new"], seen["open"], seen["returned"], seen["shows"]) == (True, True, True, 1)
    assert np.allclose(seen["arrays"][0], sinusoidal_encoding(4, 3))
    plt.close(mine)
