"""CSV that opens as text: a cell that a spreadsheet would run gets an apostrophe in front."""

import csv
import io
import os
import re
import tempfile
from pathlib import Path

# A spreadsheet takes a cell for a formula after these, full-width forms included
# (OWASP, "CSV Injection"); tabs and line breaks at the start hide one.
FORMULA = re.compile(r"[\s]*[=+\-@＝＋－＠]|[\t\r\n]")
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


def safe(value):
    """The text of a cell: numbers without needless zeros, formulas as text, None as nothing."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{round(value, 4) + 0.0:.4f}".rstrip("0").rstrip(".")  # + 0.0 turns -0.0 into 0.0
    text = str(value)
    if len(text.strip()) > 1 and FORMULA.match(text) and not NUMBER.fullmatch(text):
        return f"'{text}"
    return text


def csv_text(rows):
    """The rows as CSV (RFC 4180)."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows([safe(value) for value in row] for row in rows)
    return buffer.getvalue()


def write_whole(path, data):
    """Write bytes to path by one rename, so that no reader and no full disk leaves half a file."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(name, 0o600)  # grades are private
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
