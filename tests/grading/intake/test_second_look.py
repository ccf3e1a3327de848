"""What an answer's text shows of ready-made attention, and what it does not."""

import pytest

from course.grading.intake.second_look import ready_made

SETUP = "import torch\nimport torch.nn as nn\nfrom course.attention import causal_mask"
CALLS = {
    "through the module's usual name": ("import torch.nn.functional as F\ndef f(q):\n    return F.{0}(q, q, q)", "{0}"),
    "imported under another name": (
        "from torch.nn.functional import {0} as g\ndef f(q):\n    return g(q, q, q)",
        "{0}",
    ),
    "imported inside the function": (
        "def f(q):\n    from torch.nn import functional\n    functional.{0}(q, q, q)",
        "{0}",
    ),
    "by its full name": ("def f(q):\n    return torch.nn.functional.{0}(q, q, q)", "{0}"),
    "in a function that it calls": (
        "def g(q):\n    return nn.MultiheadAttention(4, 2)\ndef f(q):\n    return g(q)",
        "Multihead",
    ),
    "in a class": (
        "class f(nn.Module):\n    def __init__(self):\n        self.a = nn.MultiheadAttention(4, 2)",
        "Multihead",
    ),
    "a part of the course": ("def f(q):\n    return causal_mask(4)", "course.attention.causal_mask"),
}
NONE = {
    "its own function of that name": "def {0}(q): return q\ndef f(q):\n    return {0}(q)",
    "a method of that name": "class f(nn.Module):\n    def forward(self, q):\n        return self.{0}(q)",
    "a comparison below the answer": "def f(q):\n    return q\nprint(nn.functional.{0}(f(1), 1, 1))",
    "a docstring": 'def f(q):\n    """Like F.{0}(q, q, q)."""\n    return q',
    "linear layers": "class f(nn.Module):\n    def __init__(self):\n        self.q_proj = nn.Linear(4, 4)",
    "not Python": "def f(q)\n    return F.{0}(q)",
}
NAME = "scaled_dot_product_attention"


@pytest.mark.parametrize("case", CALLS)
def test_a_call_in_so_many_words_is_found(case):
    text, found = (part.format(NAME) for part in CALLS[case])
    assert found in ready_made(text, SETUP, "f")


@pytest.mark.parametrize("case", NONE)
def test_nothing_else_is(case):
    assert ready_made(NONE[case].format(NAME), SETUP, "f") is None
