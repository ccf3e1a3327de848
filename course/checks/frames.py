"""Texts through a socket, each behind its length: how the two processes of an exam talk."""

import struct

LARGEST = 8 * 2**20  # bytes of one text; an exam's own have a few kilobytes, and what is read takes up far more memory
_LENGTH = struct.Struct(">I")


def send(connection, text):
    """Send one text. ValueError when it is longer than the other side would take."""
    data = text.encode("ascii")
    if len(data) > LARGEST:
        raise ValueError(f"a text of {len(data)} bytes, wanted at most {LARGEST}")
    connection.sendall(_LENGTH.pack(len(data)) + data)


def receive(connection):
    """The next text. EOFError when the connection ends, ValueError for what ``send`` would not have sent."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > LARGEST:
        raise ValueError(f"a text of {length} bytes, wanted at most {LARGEST}")
    return _exactly(connection, length).decode("ascii")


def _exactly(connection, size):
    parts = []
    while size:
        part = connection.recv(min(size, 2**16))
        if not part:
            raise EOFError("the other side has gone")
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
