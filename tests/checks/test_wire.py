"""What crosses between the two processes of an exam, how it is framed, and what cannot be asked for."""

import socket
import threading

import numpy as np
import pytest

from course.checks import frames, servant, wire
from course.checks.candidate import Candidate
from course.checks.probes import OrderProbe


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_keeps_its_order_in_memory(order):
    sent = np.asarray(np.arange(6.0).reshape(2, 3), order=order)
    arrived = wire.loads(wire.dumps(sent))
    np.testing.assert_array_equal(arrived, sent)
    assert (arrived.flags.c_contiguous, arrived.flags.f_contiguous) == (order == "C", order == "F")


def test_what_is_too_large_to_look_at_is_not_sent(monkeypatch):
    monkeypatch.setattr(wire, "MOST_BYTES", 64)
    assert len(wire.loads(wire.dumps(np.zeros(8)))) == 8
    with pytest.raises(ValueError, match="an array of 72 bytes, at most 64 can be looked at"):
        wire.dumps(np.zeros(9))


def test_a_model_wider_than_an_exam_s_own_is_not_made_anew(monkeypatch):
    monkeypatch.setattr(wire, "WIDEST_PROBE", 6)
    assert wire.loads(wire.dumps(OrderProbe(6))).weight.shape == (6, 6)
    with pytest.raises(wire.WireError):
        wire.loads(wire.dumps(OrderProbe(7)))


@pytest.fixture
def connected():
    """Two ends of a connection."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def test_texts_arrive_one_by_one_however_long(connected):
    ours, theirs = connected
    texts = ["", "short", "x" * 10**6]
    for text in texts:  # from a thread, because a connection holds less than the longest
        sender = threading.Thread(target=frames.send, args=(ours, text))
        sender.start()
        assert frames.receive(theirs) == text
        sender.join()


def test_more_than_one_text_at_a_time_is_refused_and_so_is_half_of_one(connected):
    ours, theirs = connected
    ours.sendall(frames.pack("one") + frames.pack("two"))
    with pytest.raises(ValueError, match="7 bytes behind a text"):
        frames.receive(theirs)
    ours.sendall(frames.pack("three")[:-1])
    ours.close()
    with pytest.raises(EOFError, match="the other side has gone"):
        frames.receive(theirs)


def test_only_what_an_exam_asks_can_be_asked():
    def ask(method, *arguments):
        order = {"name": "f", "from_scratch": False, "layer": None, "method": method}
        order |= {"arguments": list(arguments), "keywords": {}}
        return wire.loads(servant.handle({"f": lambda x: x + 1}, wire.dumps(order)))

    assert ask("__call__", 2) == {"result": 3}
    for method in ("place", "guard", "__class__"):
        assert "cannot be asked for" in ask(method)["failure"][0]


@pytest.mark.parametrize("own", [{}, {"positional_encoding": "the student's"}])
def test_what_is_lent_is_given_back(own):
    names = {"f": len} | own
    candidate = Candidate("f", names)
    candidate.lend("positional_encoding")
    assert callable(names["positional_encoding"])
    candidate.give_back("positional_encoding")
    assert {name: value for name, value in names.items() if not name.startswith("__")} == {"f": len} | own
