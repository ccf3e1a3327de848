"""A signal in a block that can be stopped: what comes to its end first, and what is put back behind it."""

import signal

import pytest

from course.grading.stopping import SIGNALS, stoppable


@pytest.fixture(autouse=True)
def own_handlers():
    """A block that was stopped listens on, which no other test wants."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_what_must_not_be_cut_comes_to_its_end_and_nothing_after_it(capsys):
    done = []
    with pytest.raises(SystemExit) as end, stoppable("Stopped.") as stop:
        stop.begun = True
        with stop.deferred():
            signal.raise_signal(signal.SIGINT)
            done.append("storing")
        done.append("the next")
    assert (done, end.value.code, capsys.readouterr().err) == (["storing"], 2, "Error: Stopped.\n")


def test_a_step_that_failed_holds_back_no_later_signal():
    done = []
    with pytest.raises(SystemExit), stoppable("Stopped.") as stop:
        stop.begun = True
        with pytest.raises(OSError), stop.deferred():
            raise OSError("disk full")
        signal.raise_signal(signal.SIGINT)
        done.append("the next")
    assert done == []


def test_a_block_that_came_to_its_end_gives_the_signals_back():
    before = [signal.getsignal(number) for number in SIGNALS]
    with stoppable("Stopped."):
        assert [signal.getsignal(number) for number in SIGNALS] != before
    assert [signal.getsignal(number) for number in SIGNALS] == before
