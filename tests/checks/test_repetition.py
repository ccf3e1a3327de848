"""What an answer keeps from call to call, or draws at random, is named as the cause; a steady wrong answer is not."""

import numpy as np
import pytest
import torch

from course.checks import check, check_close
from course.checks.compare import same
from course.checks.failure import CheckFailed
from course.checks.repetition import EARLIER, UNSTEADY, Repeatable


@check("doubled")
def doubled(candidate, sizes):
    for size in sizes:
        x = np.arange(size, dtype=float) + size
        check_close(candidate(x), x * 2, "Multiply by two.")


@check("doubled by a layer")
def layer_doubles(candidate):
    layer = candidate.build()
    layer.load({"weight": torch.tensor(2.0)})
    for number in (1.0, 3.0):
        x = torch.tensor([number, 5.0])
        check_close(layer(x), x * 2, "Multiply by two.")


SIZES = (3, 2, 3)
CAUSES = {
    "kept in a global": (
        "kept = None\ndef answer(x):\n    global kept\n    kept = x * 2 if kept is None else kept\n    return kept",
        EARLIER,
    ),
    "the first result for every call": (
        "import numpy as np\ndef answer(x): return np.array([6.0, 8.0, 10.0])",
        EARLIER,
    ),
    "a default argument that grows": (
        "import numpy as np\ndef answer(x, kept=[]):\n    kept.extend(x * 2)\n    return np.array(kept)",
        UNSTEADY,
    ),
    "a memory that is written into": (
        "import numpy as np\nkept = {}\ndef answer(x):\n    out = kept.setdefault(len(x), np.zeros(len(x)))\n"
        "    out += x * 2\n    return out",
        UNSTEADY,
    ),
    "raises from the second call on": (
        "calls = []\ndef answer(x):\n    calls.append(x)\n    return x * 2 if len(calls) == 1 else sum(calls)[0:9, 0]",
        UNSTEADY,
    ),
    "random": ("import numpy as np\ndef answer(x): return x * 2 + np.random.rand(len(x))", UNSTEADY),
    "random in Python": ("import random\ndef answer(x): return x * 2 + random.random()", UNSTEADY),
    "random in torch": ("import torch\ndef answer(x): return x * 2 + torch.rand(len(x)).numpy()", UNSTEADY),
    "steady and wrong": ("def answer(x): return x * 3", "Multiply by two."),
    "NaN each time": ("def answer(x): return (x - x) / (x - x)", "has NaN"),
    "zero each time": ("def answer(x): return x * 0", "Multiply by two."),
    "the example's shape": (
        "import numpy as np\ndef answer(x): return np.append(x, [0] * 9)[:3] * 2",
        "Multiply by two.",
    ),
}
LAYER = """from torch import nn
import torch
class answer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(()))
    def forward(self, x):
        {}
"""
LAYERS = {
    "right": ("return x * self.weight", ""),
    "kept in self": (
        "self.kept = getattr(self, 'kept', 0) + x.detach(); return self.kept * self.weight",
        UNSTEADY,
    ),
    "a layer made anew": ("return nn.Linear(2, 2)(x)", UNSTEADY),
    "steady and wrong": ("return x", "Multiply by two."),
}


@pytest.mark.parametrize("case", CAUSES)
def test_cause_is_named(examine, case):
    cell, expected = CAUSES[case]
    assert expected in examine(cell, doubled(sizes=SIZES))


@pytest.mark.parametrize("case", LAYERS)
def test_cause_is_named_for_layers(examine, case):
    body, expected = LAYERS[case]
    message = examine(LAYER.format(body), layer_doubles())
    assert (expected in message) if expected else message == ""


def test_what_a_check_writes_into_its_own_arguments_is_no_fault_of_the_answer():
    class Subject:
        def __call__(self, x):
            return x * 2

        def once_more(self, x):
            return x * 2

    subject, x = Repeatable(Subject()), torch.ones(2)
    subject(x)
    x.fill_(9.0)
    assert subject.complaint() is None


def test_the_same_call_made_twice_rightly_has_the_same_result():
    class Subject:
        def __call__(self, x):
            return x * 2

        once_more = __call__

    subject = Repeatable(Subject())
    for _ in range(2):
        subject(torch.tensor([1.0, 2.0]))
    assert subject.complaint() is None


@pytest.mark.parametrize("change", ["load", "train", "eval", "to"])
def test_a_layer_that_a_check_has_changed_may_give_another_result(change):
    class Subject:
        factor = 1

        def __call__(self, x):
            return x * self.factor

        once_more = __call__

        def load(self, values=None):
            self.factor = 3

        train = eval = to = load

    layer = Repeatable(Subject())
    layer(torch.ones(2))
    getattr(layer, change)(*([] if change == "eval" else [None]))
    layer(torch.ones(2))
    assert layer.complaint() is None


def test_no_answer_at_all_is_not_called_unsteady():
    class Subject:
        def __call__(self, x):
            return x

        def once_more(self, x):
            raise CheckFailed("f gave no result: it took longer than 30 seconds.")

    subject = Repeatable(Subject())
    subject(torch.ones(2))
    assert subject.complaint() is None


@pytest.mark.parametrize(
    ("value", "other", "alike"),
    [
        (torch.ones(2), torch.ones(2, dtype=torch.float64), True),
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0, np.inf]), np.array([1.0, np.inf]), True),
        (np.array([1.0, 2.0]), np.array([1.0, 2.1]), False),
        (np.ones(2), np.ones((1, 2)), False),
        ((np.ones(2), None), (np.ones(2), None), True),
        ((np.ones(2), np.ones(3)), (np.ones(2),), False),
        (torch.tensor([True]), torch.tensor([False]), False),
        ("text", object(), True),
    ],
)
def test_same(value, other, alike):
    assert same(value, other) == alike
