"""Ctrl-C and SIGTERM: the first ends long work between two results, a second or an early one the process.

Either is safe where results are stored whole and what was half done is marked or made again. The processes that grade,
and those of the students, end with this one.
"""

import contextlib
import os
import signal
import sys
import threading

import click

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """What has been asked for, and whether it has to wait."""

    def __init__(self, sentence=""):
        self.sentence = sentence
        self.begun, self.asked, self.waits, self.told = False, False, False, False

    def handle(self, *_):
        if self.asked or not self.begun:
            if not self.told:
                os.write(sys.__stderr__.fileno(), f"\nError: {self.sentence}\n".encode())
            os._exit(2)
        self.asked = True
        if not self.waits:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def deferred(self):
        """Let the block come to its end first."""
        self.waits = True
        try:
            yield
        finally:
            self.waits = False
        if self.asked:
            raise KeyboardInterrupt


@contextlib.contextmanager
def stoppable(sentence):
    """A Stop that listens in the block; where it is asked for, the command ends with the sentence and status 2.

    Then it listens on: ending takes a moment, too.
    """
    stop = Stop(sentence)
    before = {}
    if threading.current_thread() is threading.main_thread():  # no signal arrives elsewhere
        before = {number: signal.signal(number, stop.handle) for number in SIGNALS}
    try:
        yield stop
    except KeyboardInterrupt:
        click.echo(f"Error: {sentence}", err=True)
        stop.told = True
        sys.exit(2)
    finally:
        if not stop.asked:
            for number, handler in before.items():
                signal.signal(number, handler)
