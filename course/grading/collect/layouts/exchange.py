"""nbgrader's own: an exchange's ``inbound`` with ``student+assignment+time+random`` or a ``submitted`` tree.

The time is that of ``timestamp.txt`` where there is one, otherwise the one in the folder's name; both are what
``nbgrader.utils.parse_utc`` reads.
"""

import datetime
import re
from pathlib import PurePosixPath

from nbgrader.utils import parse_utc

from course.grading.collect.archive import Refusal
from course.grading.collect.layouts.handed import Handed, Person, is_notebook, match_part, share

STAMP = "timestamp.txt"
INBOUND = r"(?P<student>.+)\+(?P<assignment>[^+]+)\+(?P<time>\d{4}-\d{2}-\d{2} \d{2}[:_]\d{2}[:_]\d{2}[^+]*)(?:\+.*)?"
SUBMITTED = re.compile(r"(?:^|.*/)submitted/(?P<student>[^/]+)/(?P<assignment>[^/]+)/[^/]+$")


def recognises(paths):
    return share(paths, lambda path: match_part(INBOUND, path)[0] or SUBMITTED.match(path)) > 0.5


def handed_in(entries):
    stamps = {
        str(PurePosixPath(entry.path).parent): entry.file.read_bytes()[:100].decode("utf-8", errors="replace")
        for entry in entries
        if PurePosixPath(entry.path).name == STAMP
    }
    found = []
    for entry in entries:
        path = PurePosixPath(entry.path)
        match = match_part(INBOUND, entry.path)[0] or SUBMITTED.match(entry.path)
        if match is None and is_notebook(entry.path):
            found.append(Refusal(entry.path, "lies in no student's folder of an nbgrader exchange"))
        if match is None or path.name == STAMP:
            continue
        when = _time(stamps.get(str(path.parent))) or _time(match.groupdict().get("time", "").replace("_", ":"))
        person = Person(ids=(("student_id", match["student"]),))
        found.append(Handed(person, entry.path, path.name, entry.file, when))
    return found


def _time(text):
    try:
        return parse_utc(text.strip()).replace(tzinfo=datetime.UTC) if text else None
    except (ValueError, OverflowError):
        return None
