"""Texts through a socket, each behind its length: how the two processes of an exam talk."""

import struct

LARGEST = 8 * 2**20  # bytes of one text; an exam's own have a few kilobytes, and what is read takes up far more memory
_LENGTH = struct.Struct(">I")


def pack(text, largest=LARGEST):
    """A text of ASCII characters as bytes. ValueError when it is longer than the other side would take."""
    data = text.encode("ascii")
    if len(data) > largest:
        raise ValueError(f"a text of {len(data)} bytes, wanted at most {largest}")
    return _LENGTH.pack(len(data)) + data


def send(connection, text):
    """Send one text; ValueError as for ``pack``."""
    connection.sendall(pack(text))


def take(received, largest=LARGEST):
    """Take the first text out of a bytearray; None while it is not complete, ValueError where it is none."""
    if len(received) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack_from(received)
    if length > largest:
        raise ValueError(f"a text of {length} bytes, wanted at most {largest}")
    end = _LENGTH.size + length
    if len(received) < end:
        return None
    data = bytes(received[_LENGTH.size : end])
    del received[:end]
    return data.decode("ascii")


def receive(connection):
    """The next text. EOFError when the connection ends, ValueError for what ``send`` would not have sent."""
    received = bytearray()
    while (text := take(received)) is None:
        part = connection.recv(2**18)
        if not part:
            raise EOFError("the other side has gone")
        received += part
    if received:
        raise ValueError(f"{len(received)} bytes behind a text, wanted none before it is answered")
    return text
