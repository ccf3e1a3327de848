"""Whatever an answer does, the exam says one thing about it in at most three lines, and says it every time."""

import contextlib
import logging
import random
import subprocess
import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from course.checks import CheckFailed, Exam, check, check_close
from course.checks.compare import check_dtype


@check("doubled")
def doubled(candidate, size):
    x = np.arange(size, dtype=float)
    check_close(candidate(x), x * 2, "Multiply by two.")


@check("dtype kept")
def keeps(candidate):
    check_dtype(candidate(torch.ones(2)), "float32", "Compute in the precision of the input.")


DOUBLED = (doubled(size=3),)

OUTCOMES = {
    "right": ("def answer(x): return x * 2", ""),
    "wrong value": ("def answer(x): return x * 3", "Multiply by two."),
    "wrong shape": ("def answer(x): return x[1:] * 2", "has shape (2,), wanted (3,)"),
    "list": ("def answer(x): return list(x * 2)", "the result is a list, wanted shape (3,)"),
    "text": ("def answer(x): return 'x'", "the result is a str"),
    "array of text": ("import numpy as np\ndef answer(x): return np.array(['a', 'b', 'c'])", "wanted numbers"),
    "array of objects": ("def answer(x): return (x * 2).astype(object)", "holds object, wanted numbers"),
    "nothing returned": ("def answer(x): x * 2", "the result is None."),
    "NaN": ("def answer(x): return x / x * 2 * x", "has NaN, first at [0]"),
    "infinity": ("def answer(x): return x * 2 + float('inf')", "off by inf"),
    "exception": ("def answer(x):\n    return x @ 'text'", "(line 2 of the cell: return x @ 'text')"),
    "unknown name": ("def answer(x): return y * 2", "NameError: name 'y' is not defined"),
    "wrong signature": ("def answer(): return 1", "differ in the number of arguments"),
    "missing name": ("other = 1", "answer is not defined"),
    "not a function": ("answer = [1, 2]", "answer is a list, not a function"),
    "None in its place": ("answer = None", "answer is None, not a function"),
    "stub": ("def answer(x): raise NotImplementedError", "delete the line that raises"),
    "stub left before the answer": (
        "def answer(x):\n    raise NotImplementedError\n    return x * 2",
        "delete the line that raises",
    ),
    "stub left after the answer": ("def answer(x):\n    return x * 2\n    raise NotImplementedError", ""),
    "exit": ("import sys\ndef answer(x): sys.exit(0)", "a function ends with return"),
    "exception outside Exception": (
        "class Stop(BaseException): pass\ndef answer(x): raise Stop('here')",
        "answer(array (3,)) raised Stop: here",
    ),
    "attribute misspelt": ("import numpy as np\ndef answer(x): return np.zero(3)", "perhaps zeros is meant"),
    "attribute of a plot": (
        "import matplotlib.pyplot as plt\ndef answer(x): plt.figure().add_subplot().xlabel('x')",
        "called set_xlabel(...)",
    ),
    "attribute never made": (
        "from torch import nn\nclass Layer(nn.Module):\n    def forward(self, x): return self.qkv(x)\n"
        "layer = Layer()\ndef answer(x): return layer(x)",
        "self.qkv is never made",
    ),
    "attribute that a given layer has not": (
        "from torch import nn\nlayer = nn.Linear(1, 1)\ndef answer(x): return layer.qkv(x)",
        "The layer has no qkv: print it",
    ),
    "package that is not there": ("def answer(x): import no_such_package", "That package is not here"),
    "unequal unpacking": ("def answer(x):\n    a, b = x", "differ in number"),
    "assert": ("def answer(x): assert x is None", "An assert refuses this"),
    "endless recursion": ("def answer(x): return answer(x)", "calls itself without end"),
    "exception of many lines": ("def answer(x): raise ValueError('a\\nb\\nc\\n' * 50)", "ValueError: a (line 1"),
    "exception with a long text": ("def answer(x): raise ValueError('long ' * 500)", "ValueError: long"),
    "generator": ("def answer(x): yield x * 2", "the result is a generator"),
    "comparison that raises": (
        "import numpy as np\n"
        "class Odd(np.ndarray):\n"
        "    def __array_finalize__(self, other): pass\n"
        "    @property\n"
        "    def shape(self): raise RuntimeError('no shape')\n"
        "def answer(x): return (x * 2).view(Odd)",
        "cannot be examined",
    ),
    "lambda": ("answer = lambda x: x + x", ""),
    "partial": ("import functools, operator\nanswer = functools.partial(operator.mul, 2)", ""),
    "object that can be called": (
        "class Double:\n    def __call__(self, x): return 2 * x\nanswer = Double()",
        "",
    ),
    "prints and warns": (
        "import sys, warnings\n"
        "def answer(x):\n"
        "    print('x', x, flush=True); print('x', file=sys.stderr); warnings.warn('careful')\n"
        "    return x * 2",
        "",
    ),
    "progress bar": (
        "from tqdm import tqdm\ndef answer(x):\n    for _ in tqdm(range(2)): pass\n    return x * 2",
        "",
    ),
    "warnings as errors": (
        "import warnings\nwarnings.simplefilter('error')\ndef answer(x): return x * 2 + 0 / (x + 1)",
        "",
    ),
    "floating point errors raised": (
        "import numpy as np\nnp.seterr(all='raise')\ndef answer(x):\n    x / 0\n    return x * 2",
        "",
    ),
    "patched comparison": (
        "import numpy as np, torch\nnp.allclose = torch.allclose = np.testing.assert_allclose = lambda *a, **k: True\n"
        "def answer(x): return x * 3",
        "Multiply by two.",
    ),
    "figure shown": (
        "import matplotlib.pyplot as plt\ndef answer(x):\n    plt.plot(x); plt.show()\n    return x * 2",
        "",
    ),
}


@pytest.fixture(autouse=True)
def put_back():
    patched = [(np, "allclose"), (torch, "allclose"), (np.testing, "assert_allclose")]
    originals = [getattr(module, name) for module, name in patched]
    with np.errstate(), warnings.catch_warnings():
        yield
    for (module, name), original in zip(patched, originals, strict=True):
        setattr(module, name, original)
    plt.close("all")


@pytest.mark.parametrize("case", OUTCOMES)
def test_each_outcome_has_its_own_sentence(examine, case, capfd):
    cell, expected = OUTCOMES[case]
    message = examine(cell, *DOUBLED)
    assert (expected in message) if expected else message == ""
    assert capfd.readouterr() == ("" if message else "answer: doubled ✓\n", "")


def test_lines_stay_short(examine):
    assert all(len(line) <= 240 for line in examine(OUTCOMES["exception with a long text"][0], *DOUBLED).splitlines())


def test_same_message_every_time(examine):
    cell = "import numpy as np, torch\ndef answer(x):\n    np.random.seed(1); torch.manual_seed(2)\n    return x * 3"
    first = examine(cell, *DOUBLED)
    for repeat in range(20):
        torch.set_num_threads(1 + repeat % 2)
        with warnings.catch_warnings():
            warnings.simplefilter("error" if repeat % 3 else "ignore")
            assert examine(cell, *DOUBLED) == first


def test_list_shows_how_far_the_answer_got(examine):
    message = examine("def answer(x): return x[:3] * 2", doubled(size=3), doubled(size=4), doubled(size=5))
    assert message.splitlines()[0] == "answer: doubled ✓, doubled (2) ✗, doubled (3) ·"


def test_passing_exam_prints_its_list(capsys):
    def answer(x):
        return x * 2

    namespace = {"Exam": Exam, "answer": answer}
    exec("exam = Exam('answer')", namespace)
    namespace["exam"].add(doubled(size=3), doubled(size=7))
    namespace["exam"].run()
    assert capsys.readouterr().out == "answer: doubled ✓, doubled (2) ✓\n"


@contextlib.contextmanager
def double_precision_by_default():
    torch.set_default_dtype(torch.float64)
    try:
        yield
        assert torch.get_default_dtype() == torch.float64, "the notebook keeps what it chose"
    finally:
        torch.set_default_dtype(torch.float32)


CHANGED_DEFAULTS = [double_precision_by_default, torch.no_grad, torch.inference_mode, lambda: torch.device("meta")]


@pytest.mark.parametrize("changed", CHANGED_DEFAULTS)
def test_defaults_changed_in_the_notebook_do_not_count(examine, changed):
    cell = "import torch\ndef answer(x): return x * torch.full((1,), 2.0)"
    with changed():
        assert examine(cell, keeps(), gradient_arrives()) == ""


@check("gradient")
def gradient_arrives(candidate):
    (gradient,) = candidate.gradients(torch.ones(3), torch.ones(3).requires_grad_())
    check_close(gradient, torch.full((3,), 2.0), "Let the gradient flow.")


def test_random_generators_are_left_alone(examine):
    cell = (
        "import numpy as np, random, torch\n"
        "def answer(x):\n    torch.rand(3); np.random.rand(3); random.random()\n    return x * 2"
    )
    states = torch.get_rng_state(), np.random.get_state()[2], random.getstate()
    assert examine(cell, *DOUBLED) == ""
    assert torch.equal(states[0], torch.get_rng_state())
    assert states[1:] == (np.random.get_state()[2], random.getstate())


def test_log_records_do_not_reach_the_output(examine, capfd):
    handler = logging.StreamHandler(sys.__stderr__)
    logging.getLogger().addHandler(handler)
    try:
        cell = "import logging\ndef answer(x):\n    logging.error('noise')\n    return x * 2"
        assert examine(cell, *DOUBLED) == ""
        assert capfd.readouterr().err == ""
        assert logging.root.manager.disable == logging.NOTSET
    finally:
        logging.getLogger().removeHandler(handler)


def test_a_long_line_of_code_is_seen_to_be_cut(examine):
    short, long = f"missing({'x' * 10})", f"missing({'x' * 90})"
    assert f": return {short})." in examine(f"def answer(x):\n    return {short}", *DOUBLED)
    assert "xxx…)." in examine(f"def answer(x):\n    return {long}", *DOUBLED)


def test_interrupt_goes_through_and_shows_one_sentence(examine):
    with pytest.raises(KeyboardInterrupt) as caught:
        examine("def answer(x):\n    raise KeyboardInterrupt", *DOUBLED)
    sentence = "answer was stopped (line 2 of the cell: raise KeyboardInterrupt): look for a loop that does not end."
    assert caught.value._render_traceback_() == [sentence]


def test_message_in_ipython_is_three_lines_without_traceback():
    failure = CheckFailed("something.", "Look there.", "answer: doubled ✗")
    assert failure._render_traceback_() == ["answer: doubled ✗", "Seen: something.", "Hint: Look there."]


def test_title_uses_the_case():
    @check("size {size}")
    def sized(candidate, size):
        pass

    assert sized(size=3).title == "size 3"


def test_checks_import_with_warnings_as_errors():
    command = [sys.executable, "-W", "error", "-c", "from course.checks import Exam, averages, heads"]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""
