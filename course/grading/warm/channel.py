"""Messages over a stream socket: JSON behind its length. Nothing is pickled, so reading runs no code of the sender."""

import json

from course.checks import frames

LARGEST = 24 * 1024**2  # bytes of one message, an answer or an output; read, they can take twenty times as much
CHUNK = 2**18
_to_json, _from_json = json.dumps, json.loads  # bound here: a student's code may put others in their place


class BadMessage(Exception):
    """Bytes that are no message; nothing after them can be trusted to start at a message's start."""


def pack(message, default=None):
    """A message as bytes; ``default`` makes what JSON does not know into something that it does.

    ValueError when it is longer than the other side would take.
    """
    return frames.pack(_to_json(message, default=default), LARGEST)


class Unpacker:
    """Cuts a stream of bytes into messages."""

    def __init__(self):
        self.waiting = bytearray()

    def feed(self, data):
        """Yield (message, size in bytes) for each message that ``data`` completes. BadMessage for anything else."""
        self.waiting += data
        try:
            while (text := frames.take(self.waiting, LARGEST)) is not None:
                message = _from_json(text)
                if not isinstance(message, dict):
                    raise BadMessage("a message that is not a dictionary")
                yield message, len(text)
        except (ValueError, RecursionError) as error:
            raise BadMessage(f"a message that cannot be read ({error})") from error


def receive(socket):
    """The next message on a blocking socket on which nothing follows it yet."""
    unpacker = Unpacker()
    while data := socket.recv(CHUNK):
        for message, _ in unpacker.feed(data):
            return message
    raise BadMessage("the other side has gone")
