"""Blackboard, "Assignment file download": ``Assignment_user_attempt_2026-03-01-12-30-59_name.ipynb``.

Beside each attempt lies ``Assignment_user_attempt_2026-03-01-12-30-59.txt`` with ``Name: Full Name (user)``,
which settles where a user name with underscores starts. The time is the institution's local time.
"""

import re
from pathlib import PurePosixPath

from course.grading.collect.layouts.handed import Handed, Person, local_time, named, recognised

NAME = r"(?P<before>.+)_attempt_(?P<time>\d{4}(?:-\d{2}){5})(?:_(?P<file>.+))?"
RECEIPT_NAME = re.compile(r"^Name:\s*(?P<name>.*?)\s*\((?P<user>[^()\n]+)\)\s*$", re.MULTILINE)
RECEIPT_SIZE = 20_000  # the lines that matter come first; a student's own text follows


def recognises(paths):
    return recognised(paths, NAME)


def handed_in(entries):
    receipts = dict(filter(None, map(_receipt, entries)))
    found = []
    for entry, match, below in named(entries, NAME, "Blackboard attempt", found):
        key = f"{match['before']}_attempt_{match['time']}"
        name, user = receipts.get(key, ("", match["before"].rpartition("_")[2]))
        when = local_time(match["time"], "%Y-%m-%d-%H-%M-%S")
        file_name = below[-1] if below else match["file"] or PurePosixPath(entry.path).name
        found.append(Handed(Person(name, ids=(("student_id", user),)), entry.path, file_name, entry.file, when))
    return found


def _receipt(entry):
    """(attempt, (full name, user name)) of the text file that Blackboard writes for an attempt, else None."""
    path = PurePosixPath(entry.path)
    if path.suffix.lower() != ".txt" or not re.fullmatch(NAME, path.stem):
        return None
    text = entry.file.read_bytes()[:RECEIPT_SIZE].decode("utf-8", errors="replace").replace("\r\n", "\n")
    found = RECEIPT_NAME.search(text)
    if found and path.stem.partition("_attempt_")[0].endswith(f"_{found['user']}"):
        return path.stem, (found["name"], found["user"])
    return None
