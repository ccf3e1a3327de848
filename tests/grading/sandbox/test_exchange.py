"""An exam with a kernel: what is answered, and that a kernel which does not keep to the order is not asked again."""

import pytest

from course.checks import frames, wire
from course.grading.sandbox.exchange import Ended

VALUE = {"name": "letter", "from_scratch": False, "layer": None, "method": "value", "arguments": [], "keywords": {}}
SERVE = "import os, time\nfrom course.checks import frames, servant\ndef serve(descriptor): {}\nservant.serve = serve"
TWO = frames.pack("null") * 2


def ask(kernel, time_limit=20):
    """(answer or how it ended, whether the kernel lives on) of an exam with one question."""
    exchange = kernel.exchange(time_limit, 64 * 1024)
    try:
        answer = wire.loads(exchange.ask(wire.dumps(VALUE)))
    except Ended as end:
        answer = end.ending
    return answer, exchange.finish().alive


def test_one_exam_follows_another(own_kernel):
    own_kernel.run("letter = 'A'", 20, 10**6)
    assert ask(own_kernel) == ({"result": {"letter": "A"}}, True)
    own_kernel.run("letter = 'B'", 20, 10**6)
    assert ask(own_kernel) == ({"result": {"letter": "B"}}, True)


@pytest.mark.parametrize(
    ("serve", "answer"),
    [
        ("pass", "silent"),
        ("os.write(descriptor, bytes([255]) * 8)", "unreadable"),
        (f"os.write(descriptor, {TWO!r})", None),
        ("os._exit(0)", "died"),
    ],
    ids=["goes away", "junk", "more than was asked", "dies"],
)
def test_a_kernel_that_does_not_keep_to_the_order_is_ended(own_kernel, serve, answer):
    own_kernel.run(SERVE.format(serve), 20, 10**6)
    assert ask(own_kernel) == (answer, False)


def test_an_answer_that_comes_too_late_is_not_taken_for_that_of_the_next_exam(own_kernel):
    own_kernel.run("class Slow(dict):\n    def items(self):\n        while True: pass\nletter = Slow()", 20, 10**6)
    assert ask(own_kernel, time_limit=1) == ("time", False)
