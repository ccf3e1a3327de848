"""Every attempt kept, and the chosen one put in nbgrader's place, so that a stop at any moment loses nothing.

Attempts lie in ``submitted/.attempts/<assignment>/<student>/<time>-<digest>/``; nbgrader passes over names that
start with a dot. A folder appears by one rename, whole or not at all.
"""

import contextlib
import datetime
import hashlib
import json
import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

from nbgrader.utils import parse_utc

ATTEMPTS = ".attempts"
RECORD = "attempt.json"
STAMP = "timestamp.txt"  # nbgrader reads the time of a submission from it
COPY_NUMBER = re.compile(r"(?:\((\d+)\)|-(\d+))$")  # "(1)" of browsers and Drive, "-1" of Canvas


class Attempt(NamedTuple):
    """One kept attempt: its notebook, when it was handed in (UTC, or None), and when it was last seen in an export.

    ``late`` is what the platform says, or None. ``layout`` and ``path`` are the export it came from and its name there,
    which some platforms want back on feedback.
    """

    notebook: Path
    when: datetime.datetime | None
    seen: datetime.datetime
    late: bool | None
    layout: str = ""
    path: str = ""

    def order(self):
        """Sorts by time or else the export's own; at one time by the copy's number, the plainest name last."""
        copy = COPY_NUMBER.search(self.notebook.stem.strip())
        return self.when or self.seen, int(copy[1] or copy[2]) if copy else 0, -len(self.notebook.stem)


class Store:
    """The attempts and the submitted folder of one course."""

    def __init__(self, submitted):
        self.submitted = Path(submitted)
        self._incoming = self.submitted / ATTEMPTS / ".incoming"

    def clear_leftovers(self):
        """Remove what a run that was killed left behind, once it is a day old and no other run can be using it."""
        day_ago = datetime.datetime.now().timestamp() - 86400
        for path in self._incoming.glob("*"):
            if path.stat().st_mtime < day_ago:
                shutil.rmtree(path, ignore_errors=True)

    @contextlib.contextmanager
    def scratch(self):
        """A new folder on the same disk, gone afterwards."""
        self._incoming.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self._incoming) as folder:
            yield Path(folder)

    def keep(self, student, assignment, file_name, notebook, *, when, seen, late, layout, path):
        """Keep a notebook (a path) as an attempt; False when the same one is there already."""
        digest = hashlib.sha256(notebook.read_bytes()).hexdigest()[:12]
        target = self._home(student, assignment) / f"{when:%Y%m%dT%H%M%SZ}-{digest}" if when else None
        target = target or self._home(student, assignment) / f"undated-{digest}"
        if target.is_dir():
            if _read_record(target).seen < seen:
                _write_record(target, file_name, when, seen, late, layout, path)
            return False
        with self._publish(target) as fresh:
            shutil.copyfile(notebook, fresh / file_name)
            _write_record(fresh, file_name, when, seen, late, layout, path)
        return True

    def attempts(self, student, assignment):
        """Attempts of one student, the oldest first."""
        records = self._home(student, assignment).glob(f"*/{RECORD}")
        return sorted((_read_record(path.parent) for path in records), key=Attempt.order)

    def students(self, assignment):
        """Students with an attempt at the assignment."""
        folder = self.submitted / ATTEMPTS / assignment
        return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []

    def is_placed(self, student, assignment):
        return any((self.submitted / student / assignment).glob("*.ipynb"))

    def place(self, student, assignment, attempt, file_name):
        """Make attempt what nbgrader grades, under file_name; False when it is in place already.

        What lay there before and is no kept attempt, from ``nbgrader collect`` or a hand, is kept first.
        """
        place = self.submitted / student / assignment
        content = attempt.notebook.read_bytes()
        if _is_same(place / file_name, content) and attempt.when == _read_stamp(place / STAMP):
            return False
        self._adopt(student, assignment)
        with self.scratch() as scratch:
            fresh = scratch / "fresh"
            fresh.mkdir()
            (fresh / file_name).write_bytes(content)
            if attempt.when:
                (fresh / STAMP).write_text(f"{attempt.when:%Y-%m-%d %H:%M:%S.%f} UTC", "utf-8")
            place.parent.mkdir(parents=True, exist_ok=True)
            if place.exists():
                os.rename(place, scratch / "replaced")
            os.rename(fresh, place)
        return True

    def placed(self, student, assignment):
        """The attempt that lies in the submitted folder, or None."""
        current = next((self.submitted / student / assignment).glob("*.ipynb"), None)
        if current is None:
            return None
        content = current.read_bytes()
        attempts = reversed(self.attempts(student, assignment))
        return next((attempt for attempt in attempts if attempt.notebook.read_bytes() == content), None)

    def _home(self, student, assignment):
        return self.submitted / ATTEMPTS / assignment / student

    def _adopt(self, student, assignment):
        """Keep the whole submitted folder as an attempt when it holds a file that no attempt has."""
        place = self.submitted / student / assignment
        files = [path for path in sorted(place.rglob("*")) if path.is_file() and path.name != STAMP]
        known = {attempt.notebook.read_bytes() for attempt in self.attempts(student, assignment)}
        if all(path.read_bytes() in known for path in files):
            return
        digest = hashlib.sha256(b"\0".join(path.read_bytes() for path in files)).hexdigest()[:12]
        target = self._home(student, assignment) / f"found-{digest}"
        if target.exists():
            return
        with self._publish(target) as fresh:
            shutil.copytree(place, fresh, symlinks=True, dirs_exist_ok=True)
            if notebooks := sorted(fresh.glob("*.ipynb")):
                seen = datetime.datetime.fromtimestamp(place.stat().st_mtime, datetime.UTC)
                _write_record(fresh, notebooks[0].name, _read_stamp(place / STAMP), seen, None)

    @contextlib.contextmanager
    def _publish(self, target):
        """A folder to fill, which becomes target in one step when it is full."""
        target.parent.mkdir(parents=True, exist_ok=True)
        with self.scratch() as scratch:
            fresh = scratch / "fresh"
            fresh.mkdir()
            yield fresh
            os.rename(fresh, target)


def choose(attempts, keep, due=None):
    """The attempt to grade: the ``last``, the ``first``, or ``on-time``, the last one that is not late.

    When every attempt is late, ``on-time`` is the first of them.
    """
    ordered = sorted(attempts, key=Attempt.order)
    if keep == "first":
        return ordered[0]
    if keep == "on-time":
        in_time = [attempt for attempt in ordered if not is_late(attempt, due)]
        return in_time[-1] if in_time else ordered[0]
    return ordered[-1]


def is_late(attempt, due):
    """Whether the due date (UTC), or else the platform, calls the attempt late."""
    if due is not None and attempt.when is not None:
        return attempt.when > due
    return bool(attempt.late)


def _is_same(path, content):
    return path.is_file() and not path.is_symlink() and path.read_bytes() == content


def _write_record(folder, file_name, when, seen, late, layout="", path=""):
    record = {"file_name": file_name, "when": when and when.isoformat(), "seen": seen.isoformat(), "late": late}
    record |= {"layout": layout, "path": path}
    fresh = folder / f"{RECORD}.new"
    fresh.write_text(json.dumps(record, ensure_ascii=False), "utf-8")
    os.replace(fresh, folder / RECORD)


def _read_record(folder):
    record = json.loads((folder / RECORD).read_text("utf-8"))
    when = record["when"] and datetime.datetime.fromisoformat(record["when"])
    seen = datetime.datetime.fromisoformat(record["seen"])
    return Attempt(folder / record["file_name"], when, seen, record["late"], record["layout"], record["path"])


def _read_stamp(path):
    """The time in nbgrader's timestamp file, in UTC, or None."""
    try:
        return parse_utc(path.read_text("utf-8").strip()).replace(tzinfo=datetime.UTC)
    except (OSError, ValueError):
        return None
