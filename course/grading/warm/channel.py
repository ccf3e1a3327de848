"""Messages over a stream socket: JSON behind its length. Nothing is pickled, so reading runs no code of the sender."""

import json
import struct

HEADER = struct.Struct("!I")
LARGEST = 64 * 1024**2  # bytes of one message
CHUNK = 2**18


class BadMessage(Exception):
    """Bytes that are no message; nothing after them can be trusted to start at a message's start."""


def pack(message, default=None):
    """A message as bytes; ``default`` makes what JSON does not know into something that it does."""
    content = json.dumps(message, default=default).encode()
    return HEADER.pack(len(content)) + content


class Unpacker:
    """Cuts a stream of bytes into messages."""

    def __init__(self):
        self.waiting = bytearray()

    def feed(self, data):
        """Yield (message, size in bytes) for each message that ``data`` completes. BadMessage for anything else."""
        self.waiting += data
        while len(self.waiting) >= HEADER.size:
            [size] = HEADER.unpack_from(self.waiting)
            if size > LARGEST:
                raise BadMessage(f"a message of {size} bytes, at most {LARGEST} are read")
            if len(self.waiting) < HEADER.size + size:
                return
            content = bytes(self.waiting[HEADER.size : HEADER.size + size])
            del self.waiting[: HEADER.size + size]
            try:
                message = json.loads(content)
            except (ValueError, RecursionError) as error:
                raise BadMessage(f"a message that is not JSON ({type(error).__name__})") from error
            if not isinstance(message, dict):
                raise BadMessage("a message that is not a dictionary")
            yield message, size


def receive(socket):
    """The next message on a blocking socket on which nothing follows it yet."""
    unpacker = Unpacker()
    while data := socket.recv(CHUNK):
        for message, _ in unpacker.feed(data):
            return message
    raise BadMessage("the other side has gone")
