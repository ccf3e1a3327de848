"""What every layout answers in: who handed in which file, and when."""

import datetime
import re
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from course.grading.collect.archive import Refusal


class Person(NamedTuple):
    """What an archive says of a student; any of it may be missing.

    ``ids`` are identifiers by kind ("student_id", "lms_id"), in the platform's spelling; ``joined`` is a name whose
    spaces the platform has removed.
    """

    name: str = ""
    email: str = ""
    ids: tuple = ()
    joined: str = ""

    def label(self):
        """The student as a sentence calls them."""
        return self.name or self.email or self.joined or next((value for _, value in self.ids), "")

    def numbered(self):
        """Whether the platform tells this person from others of the name."""
        return any(value != self.name for _, value in self.ids)


class Handed(NamedTuple):
    """One file of one student; only a notebook is read, and of another kind ``file`` may be None.

    ``late`` is None where the platform does not say; ``when`` is in UTC. ``numbering`` is the folder within which the
    person's number means the same one throughout, where an archive may hold several.
    """

    person: Person
    path: str
    file_name: str
    file: Path | None
    when: datetime.datetime | None = None
    late: bool | None = None
    numbering: tuple = ()


def is_notebook(path):
    return path.lower().endswith(".ipynb")


def share(paths, fits):
    """Share of the notebooks among paths for which fits(path) is true; 0 without any."""
    notebooks = [path for path in paths if is_notebook(path)]
    return sum(bool(fits(path)) for path in notebooks) / len(notebooks) if notebooks else 0.0


def local_time(text, pattern):
    """UTC time of a platform's local time, read in the zone of this machine; None when it does not fit."""
    try:
        return datetime.datetime.strptime(text, pattern).astimezone().astimezone(datetime.UTC)
    except ValueError:
        return None


def match_part(pattern, path):
    """The first part of path that pattern matches from its start to its end, with the parts below it."""
    parts = PurePosixPath(path).parts
    for depth, part in enumerate(parts):
        if found := re.fullmatch(pattern, part):
            return found, parts[depth + 1 :]
    return None, ()


def recognised(paths, pattern):
    """Whether most paths have a part that fits pattern."""
    return share(paths, lambda path: match_part(pattern, path)[0]) > 0.5


def named(entries, pattern, lacking, refused):
    """(entry, match, parts below) of every file whose path fits pattern; ``refused`` takes the other notebooks."""
    for entry in entries:
        match, below = match_part(pattern, entry.path)
        if match:
            yield entry, match, below
        elif is_notebook(entry.path):
            refused.append(Refusal(entry.path, f"has no {lacking} in its name"))
