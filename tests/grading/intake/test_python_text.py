"""What is read from a cell's text without running it."""

import pytest

from course.grading.intake.python_text import bound_names, builds_on, is_python, is_unanswered, without_magics

STUB = 'def double(x):\n    """Twice x."""\n    raise NotImplementedError  # replace this line by your answer'


@pytest.mark.parametrize(
    "text, names",
    [
        ("def f(x): return x", {"f"}),
        ("class A: pass\nasync def g(): pass", {"A", "g"}),
        ("a = b = 1\nc, (d, e) = 1, (2, 3)\nn: int = 4", {"a", "b", "c", "d", "e", "n"}),
        ("import numpy as np\nfrom math import pi", {"np", "pi"}),
        ("try:\n    x = 1\nexcept ValueError:\n    y = 2\nelse:\n    z = 3", {"x", "y", "z"}),
        ("%%time\n!ls\nh = 1", {"h"}),
        ("def broken(x)\n    y = 1\nlater = 2", {"broken", "later"}),
        ("def f():\n    inner = 1", {"f"}),
        ("print(f == 1)", set()),
        ("d['k'] = 1\na.b = 2", set()),
        ("if x:\n    y = 1\n" + "elif x:\n    z = 1\n" * 2500, {"y", "z"}),
    ],
)
def test_names_that_a_cell_binds(text, names):
    assert bound_names(text) == names


@pytest.mark.parametrize(
    "text, expected",
    [
        ("def f(x): return f(x - 1)", False),
        ("class f:\n    def again(self): return f()", False),
        ("f = 1\nprint(f)", False),
        ("f = cached(f)", True),
        ("class f(f): pass", True),
        ("@wrap(f)\ndef f(x): return x", True),
        ("def f(x, old=f): return old(x)", True),
        ("f['key'] = 1", True),
    ],
)
def test_a_cell_that_builds_on_an_earlier_one_is_seen(text, expected):
    assert builds_on(text, {"f"}) is expected


@pytest.mark.parametrize(
    "text",
    [
        STUB,
        STUB + "\n\n",
        "",
        "# later",
        'def double(x):\n    """Other words."""\n    raise NotImplementedError()',
        "def double(x):\n    pass",
        "def double(x): ...",
        "class Scaler:\n    def forward(self, x):\n        raise NotImplementedError",
    ],
)
def test_a_stub_is_no_answer(text):
    assert is_unanswered(text, STUB)


@pytest.mark.parametrize(
    "text",
    ["def double(x):\n    return 2 * x", "letter_question = 'B'", "def double(x)\n    pass", "double = None"],
)
def test_anything_else_is_an_answer(text):
    assert not is_unanswered(text, STUB)


@pytest.mark.parametrize(
    "text, left_out",
    [
        ("!pip install einops\nx = 1", ["!pip install einops"]),
        ("%pip install einops \\\n  torch\nx = 1", ["%pip install einops \\\n  torch"]),
        ("%%timeit\nx = 1", ["%%timeit"]),
        ("for i in range(2):\n    %timeit i\nx = 1", ["%timeit i"]),
        ("y = (3\n  % 2)\ntext = '''\n!ls\n%time\n'''\nx = 1", []),
        ("%time x = 1", []),
    ],
)
def test_commands_are_left_out_and_python_stays(text, left_out):
    cleaned, found = without_magics(text)
    assert found == left_out
    assert "x = 1" in cleaned
    if "%time " not in text:
        names = {}
        exec(cleaned, names)
        assert names["x"] == 1


@pytest.mark.parametrize(
    "text", ["(" * 9000, "-" * 40_000 + "1", "not " * 9000 + "1", "lambda:" * 7000, "f'{" * 5000, "\0"]
)
def test_text_made_to_break_a_parser_is_not_python_and_breaks_nothing(text):
    assert not is_python(text)
    assert bound_names(text) == frozenset()
    assert without_magics(text) == (text, [])


def test_a_cell_longer_than_any_answer_is_not_parsed():
    text = "def f(x):\n    return x\n" + "# pasted\n" * 6000
    assert not is_python(text) and is_python(text[:1000])
    assert bound_names(text) == {"f"}


def test_a_dedent_that_fits_nothing_is_left_to_the_kernel():
    text = "if 1:\n    x\n  y\n%time 1"
    assert without_magics(text) == (text, [])


@pytest.mark.parametrize("line", ["!ls", "!(", "%time x", '"""', "x = (", "    !ls"])
def test_a_cell_with_thousands_of_commands_is_read_in_one_go(line):
    cleaned, found = without_magics(f"!ls\n{line}\n" * 4000)
    assert len(found) >= 4000 or line in ('"""', "x = (")
    assert cleaned.count("\n") == 8000


@pytest.mark.parametrize(
    "text, left_out",
    [
        ('"""\n!a\n"""\n!b\nf(\n!c\n)', ["!b"]),
        ("if x:\n  if y:\n    !a\n  !b\n!c", ["!a", "!b", "!c"]),
        ("x = 1 + \\\n!a\n!b", ["!b"]),
        ("# note\n!a\n\n  \n%b", ["!a", "%b"]),
        ("x != y\nz = 5 \\\n % 3\n%a", ["%a"]),
    ],
)
def test_a_command_begins_a_statement(text, left_out):
    assert without_magics(text)[1] == left_out


def test_a_form_feed_ends_no_line():
    text = "x = 'a\x0cb\u2028c'\n!ls\ny = 1"
    assert without_magics(text) == (text.replace("!ls", "pass  # left out while grading: !ls"), ["!ls"])
