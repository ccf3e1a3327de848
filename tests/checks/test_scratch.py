"""From scratch means from scratch, under whatever name; and everything else is allowed."""

import gc
import sys

import pytest
import torch

from course.checks import check
from course.checks.compare import check_true
from course.checks.encoding_slips import mistaken_sums

SETUP = "import functools\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"
BY_HAND = "    return (x @ x.transpose(-2, -1) / x.shape[-1] ** 0.5).softmax(-1) @ x"

REFUSED = {
    "the function": "def answer(x): return F.scaled_dot_product_attention(x, x, x)",
    "an alias": "attend = F.scaled_dot_product_attention\ndef answer(x): return attend(x, x, x)",
    "the name itself": "def answer(x): return again(x, x, x)\nagain = F.scaled_dot_product_attention",
    "an import inside": (
        "def answer(x):\n"
        "    from torch.nn.functional import scaled_dot_product_attention as softmax\n"
        "    return softmax(x, x, x)"
    ),
    "getattr": "def answer(x): return getattr(F, 'scaled_dot_' + 'product_attention')(x, x, x)",
    "partial": "answer = functools.partial(lambda f, x: f(x, x, x), F.scaled_dot_product_attention)",
    "torch.ops": "def answer(x): return torch.ops.aten.scaled_dot_product_attention.default(x, x, x)",
    "torch.ops, taken apart": "def answer(x): return torch.ops.aten._scaled_dot_product_attention_math(x, x, x)[0]",
    "torch.ops, one kernel": (
        "def answer(x): return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(*(x[None],) * 3)[0]"
    ),
    "a thread of its own": (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "def answer(x):\n"
        "    with ThreadPoolExecutor(1) as pool:\n"
        "        return pool.submit(F.scaled_dot_product_attention, x, x, x).result()"
    ),
    "a result swallowed by except": (
        f"def answer(x):\n    try:\n        return F.scaled_dot_product_attention(x, x, x)\n    except: pass\n{BY_HAND}"
    ),
    "another error after the refusal": (
        "def answer(x):\n"
        "    try:\n        return F.scaled_dot_product_attention(x, x, x)\n"
        "    except BaseException: raise RuntimeError('no')"
    ),
    "the layer": "def answer(x): return nn.MultiheadAttention(4, 1, batch_first=True)(x[0], x[0], x[0])[0]",
    "a layer made outside": (
        "layer = nn.MultiheadAttention(4, 1, batch_first=True)\ndef answer(x): return layer(x[0], x[0], x[0])[0]"
    ),
    "a layer of one's own from the layer": (
        "class Mine(nn.MultiheadAttention): pass\n"
        "def answer(x): return Mine(4, 1, batch_first=True)(x[0], x[0], x[0])[0]"
    ),
    "the layer's function": (
        "layer = nn.MultiheadAttention(4, 1)\n"
        "def answer(x):\n"
        "    return F.multi_head_attention_forward(x[0], x[0], x[0], 4, 1, layer.in_proj_weight, layer.in_proj_bias,\n"
        "        None, None, False, 0.0, layer.out_proj.weight, layer.out_proj.bias)[0]"
    ),
    "an encoder layer": "def answer(x): return nn.TransformerEncoderLayer(4, 1, batch_first=True)(x[0])",
    "an encoder layer on its fast path": (
        "layer = nn.TransformerEncoderLayer(4, 1, batch_first=True).eval()\n"
        "def answer(x):\n    with torch.no_grad(): return layer(x[0])"
    ),
    "the course": (
        "from course.attention import scaled_dot_product_attention as mine\ndef answer(x): return mine(x, x, x)[0]"
    ),
    "the course as the answer": (
        "from course.attention import split_heads\nanswer = functools.partial(split_heads, num_heads=2)"
    ),
    "a small part of the course": "from course.attention import head_width\ndef answer(x):\n    head_width(8, 2)\n"
    + BY_HAND,
    "a reference of the checks": "from course.checks import averages\ndef answer(x):\n    averages._case(2, 3, 4)\n"
    + BY_HAND,
    "the watch taken off": (
        "import sys\nfrom course.attention import head_width\n"
        f"def answer(x):\n    sys.setprofile(None)\n    head_width(8, 2)\n{BY_HAND}"
    ),
}

ALLOWED = {
    "by hand": f"def answer(x):\n{BY_HAND}",
    "einsum, printed": (
        "def answer(x):\n    print(x)\n    return torch.einsum('bts,bsd->btd', F.softmax(x @ x.mT, dim=-1), x)"
    ),
    "own function of the same name": (
        f"def scaled_dot_product_attention(x):\n{BY_HAND}\ndef answer(x): return scaled_dot_product_attention(x)"
    ),
    "own class of the same name": (
        "class MultiheadAttention(nn.Module):\n"
        f"    def forward(self, x):\n    {BY_HAND}\n"
        "def answer(x): return MultiheadAttention()(x)"
    ),
    "NumPy inside": "def answer(x):\n    y = x.numpy()\n    return torch.from_numpy(y * 2)",
    "vmap": "def answer(x): return torch.vmap(lambda a: (a @ a.T).softmax(-1) @ a)(x)",
    "a layer that was only imported": (
        "from torch.nn import MultiheadAttention\ndef answer(x): return nn.Linear(4, 4)(x)"
    ),
}


@check("runs")
def runs(candidate):
    result = candidate(torch.arange(24.0).reshape(2, 3, 4) / 24)
    check_true(isinstance(result, torch.Tensor), "no tensor.", "")


def scripted():
    """A scripted function that calls torch's attention: the dispatch mode alone sees what it runs."""

    def attend(x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.scaled_dot_product_attention(x, x, x)

    return torch.jit.script(attend)


@pytest.mark.parametrize("case", REFUSED)
def test_ready_made_attention_is_refused(examine, case):
    before = sys.getprofile()
    message = examine(SETUP + REFUSED[case], runs(), from_scratch=True)
    assert "Seen: this answer calls" in message
    assert "from scratch" in message
    assert sys.getprofile() is before


@pytest.mark.parametrize("case", [case for case in REFUSED if "swallowed" not in case and "another" not in case])
def test_everywhere_else_it_is_allowed(examine, case):
    assert examine(SETUP + REFUSED[case], runs()) == ""


@pytest.mark.parametrize("case", ALLOWED)
def test_own_work_is_allowed(examine, case):
    assert examine(SETUP + ALLOWED[case], runs(), from_scratch=True) == ""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_scripted_function_is_refused(examine):
    cell = SETUP + "def answer(x): return scripted(x)"
    function = scripted()

    @check("scripted")
    def with_scripted(candidate):
        candidate.object.__globals__["scripted"] = function
        runs().run(candidate)

    assert "torch's scaled_dot_product_attention" in examine(cell, with_scripted(), from_scratch=True)


def test_rule_holds_where_an_error_is_expected(examine):
    @check("raises")
    def raises(candidate):
        check_true(isinstance(candidate.raised_by(8, 3), ValueError), "no error.", "")

    cell = (
        "from course.attention import head_width\ndef answer(d_model, num_heads): return head_width(d_model, num_heads)"
    )
    assert examine(cell, raises()) == ""
    assert "head_width of course.attention" in examine(cell, raises(), from_scratch=True)


def test_what_the_examiner_throws_away_is_not_the_students_call(examine):
    """A suspended generator in a cycle is closed whenever the collector runs, here inside the answer."""

    @check("after a thrown away generator")
    def with_litter(candidate):
        litter = [mistaken_sums(torch.ones(2, 3, 4))]
        next(litter[0])
        litter.append(litter)
        del litter
        runs().run(candidate)

    cell = f"{SETUP}import gc\ndef answer(x):\n    gc.collect()\n{BY_HAND}"
    gc.disable()
    try:
        assert examine(cell, with_litter(), from_scratch=True) == ""
    finally:
        gc.enable()
