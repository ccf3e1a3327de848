"""A CSV as platforms export it and spreadsheets save it again: in any of their encodings and with any delimiter."""

import codecs
import csv
import io
import re
from pathlib import Path

from course.trouble import Trouble

WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # what .xlsx and .ods, and what .xls start with
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)  # Blackboard, and Excel's "Unicode text"
SEPARATOR = re.compile(r'"?sep=(.)"?\s*?[\r\n]+', re.IGNORECASE)  # a first line that Excel writes and hides
DELIMITERS = ",;\t"


def read_rows(path, what):
    """Rows of the CSV at path, without blank ones. Trouble, which calls the file ``what``, where it is none."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise Trouble(f"The {what} {path} cannot be read: {error.strerror}.") from error
    if data.startswith(WORKBOOKS):
        raise Trouble(f"The {what} {path} is a workbook of a spreadsheet; save it as CSV and give that.")
    text = _decoded(data).lstrip("\r\n")
    if named := SEPARATOR.match(text):
        text, delimiter = text[named.end() :], named[1]
    else:
        delimiter = max(DELIMITERS, key=re.split("[\r\n]", text, maxsplit=1)[0].count)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise Trouble(f"The {what} {path} is no CSV ({error}); export it again.") from error
    return [row for row in rows if any(map(str.strip, row))]


def _decoded(data):
    if data.startswith(UTF16):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")  # what older spreadsheets save
