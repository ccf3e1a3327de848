"""The student's side of an exam answers whatever an answer is or does, and says what is the matter with it."""

import pytest

from course.checks import wire
from course.checks.servant import handle

CANNOT_TELL = """
class Mute(Exception):
    def __str__(self): raise Mute()
"""
RAISES_WHEN_SEEN = """
class Odd(dict):
    def items(self): raise SystemExit
"""
SEEN = {
    "a text of 100 MB": ("asked = 'B' * 10**8", "asked is too large: it takes 95 MiB, and at most 8 can be looked at."),
    "a list that holds itself": ("asked = []\nasked.append(asked)", "asked cannot be examined (RecursionError"),
    "a value that ends the process when seen": (RAISES_WHEN_SEEN + "asked = Odd()", "asked cannot be examined (System"),
    "an exception that cannot say what it is": (
        CANNOT_TELL + "class Odd(dict):\n    def items(self): raise Mute()\nasked = Odd()",
        "asked cannot be examined (Mute).",
    ),
}
RETURNED = {
    "too much": ("return 'B' * 10**8", "what asked returned is too large: it takes 95 MiB"),
    "an interrupt": ("raise KeyboardInterrupt", "asked raised KeyboardInterrupt."),
    "a mute exception": (
        "raise Mute()",
        "asked raised Mute (line 7",
    ),
    "an odd result": ("return Odd()", "what asked returned cannot be examined (SystemExit)."),
}


def ask(code, method, *arguments):
    names = {}
    exec(code, names)
    order = {"name": "asked", "from_scratch": False, "layer": None, "method": method, "arguments": list(arguments)}
    return wire.loads(handle(names, wire.dumps(order | {"keywords": {}})))


@pytest.mark.parametrize("case", SEEN)
def test_a_value_that_cannot_be_looked_at_is_said_to_be_one(case):
    code, seen = SEEN[case]
    assert ask(code, "value")["failure"][0].startswith(seen)


@pytest.mark.parametrize("case", RETURNED)
def test_a_call_that_comes_to_nothing_that_can_be_looked_at_is_told(case):
    body, seen = RETURNED[case]
    code = f"{CANNOT_TELL}{RAISES_WHEN_SEEN}def asked(): {body}"
    assert ask(code, "__call__")["failure"][0].startswith(seen)


def test_a_name_without_a_value_is_none_of_these():
    assert ask("other = 1", "value") == {"result": {}}


def test_libraries_that_a_student_replaced_are_not_used(monkeypatch):
    monkeypatch.setattr("json.dumps", lambda *arguments, **options: "{}")
    monkeypatch.setattr("json.loads", lambda *arguments, **options: {})
    assert ask("asked = 4", "value") == {"result": {"asked": 4}}


@pytest.mark.parametrize(("body", "general"), [("raise KeyError('a')", True), ("return 'B' * 10**8", False)])
def test_whether_a_cause_is_still_to_be_looked_for_is_told(body, general):
    assert ask(f"def asked(): {body}", "__call__")["failure"][2] is general
