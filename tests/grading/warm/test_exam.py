"""Exams in a fork: what they ask of it, and that nobody waits long, or believes much, of what it answers."""

import pytest

from course.checks import frames, wire
from course.grading.sandbox.exchange import Ended

# An answer that does something when it is asked for; {} is what.
ANSWER = """import os, stat, time
from course.grading.warm import channel
class Answer(dict):
    def items(self):
        {}
        return super().items()
answer = Answer()"""
FORGE = """for n in range(3, 20):
            try:
                if stat.S_ISSOCK(os.fstat(n).st_mode): os.write(n, {})
            except OSError: pass"""


def question(name):
    order = {"name": name, "from_scratch": False, "layer": None, "method": "value", "arguments": [], "keywords": {}}
    return wire.dumps(order)


def test_an_exam_asks_for_the_notebook_s_names(start):
    kernel = start()
    kernel.run("answer = 42", 9, 9999)
    exchange = kernel.exchange(9, 9999)
    assert wire.loads(exchange.ask(question("answer"))) == {"result": {"answer": 42}}
    assert wire.loads(exchange.ask(question("missing"))) == {"result": {}}
    assert exchange.finish().alive


@pytest.mark.parametrize("seconds", [0.3, 60], ids=["all its answers", "one answer"])
def test_the_time_of_an_exam_is_that_of(start, seconds):
    kernel = start()
    assert kernel.run(ANSWER.format(f"time.sleep({seconds})"), 9, 9999).succeeded
    exchange = kernel.exchange(1, 9999)
    with pytest.raises(Ended) as end:
        for _ in range(20):
            exchange.ask(question("answer"))
    assert end.value.ending == "time"
    run = exchange.finish()
    assert run.ending == "time" and not run.alive


@pytest.mark.parametrize(
    "answer, ending",
    [("", "silent"), (", 'answer': 42", "silent"), (f", 'answer': 'x' * {frames.LARGEST + 1}", "unreadable")],
    ids=["none", "no text", "too long"],
)
def test_a_forged_answer_ends_the_exam_and_the_fork(start, answer, ending):
    kernel = start()
    forged = f"channel.pack({{'request': 2, 'reply': {{'status': 'ok'{answer}}}}})"
    assert kernel.run(ANSWER.format(FORGE.format(forged)), 9, 9999).succeeded
    exchange = kernel.exchange(9, 9999)
    for _ in range(2):  # and none is asked for again
        with pytest.raises(Ended) as end:
            exchange.ask(question("answer"))
        assert end.value.ending == ending
    run = exchange.finish()
    assert run.ending == ending and not run.alive
