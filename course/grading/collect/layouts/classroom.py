"""Google Classroom's Drive folder, and any other: the name stands in the file or in the folder it lies in.

Classroom names the copy it makes for each student ``Name - lesson.ipynb``; Drive adds ``Copy of`` and ``(1)``.
Platforms that export one folder for each student are read the same way, by the folder closest to the file.
"""

import re
from pathlib import PurePosixPath

from course.grading.collect.archive import ARCHIVE_SUFFIXES, Refusal
from course.grading.collect.layouts.handed import Handed, Person, is_notebook

COPY_OF = re.compile(r"(?:copy of|kopie von|copie de|copia de|cópia de)\s+", re.IGNORECASE)
NAMED = re.compile(r"(?P<name>.+?)\s+[-–]\s+(?P<file>.+)")


def recognises(paths):
    return True


def handed_in(entries):
    found = []
    notebooks = [entry for entry in entries if is_notebook(entry.path)]
    roots = {PurePosixPath(entry.path).parts[0] for entry in notebooks}
    root = roots.pop() if len(notebooks) > 1 and len(roots) == 1 else None  # the assignment's folder, not a student's
    for entry in entries:
        path = PurePosixPath(entry.path)
        path = path.relative_to(root) if root and path.is_relative_to(root) else path
        stem = path.name
        while match := COPY_OF.match(stem):
            stem = stem[match.end() :]
        folders = [part for part in path.parts[:-1] if not part.lower().endswith(ARCHIVE_SUFFIXES)]
        archives = [part for part in path.parts[:-1] if part.lower().endswith(ARCHIVE_SUFFIXES)]
        if match := NAMED.fullmatch(stem):
            found.append(Handed(_person(match["name"]), entry.path, match["file"], entry.file))
        elif archives and (match := NAMED.fullmatch(archives[0])):
            found.append(Handed(_person(match["name"]), entry.path, stem, entry.file))
        elif folders:
            found.append(Handed(_person(folders[-1]), entry.path, stem, entry.file))
        elif is_notebook(entry.path):
            found.append(Refusal(entry.path, "names no student in its file name or folder"))
    return found


def _person(text):
    """A folder or file may name a student in words, by e-mail or by id; the roster decides which."""
    return Person(text, email=text if "@" in text else "", ids=(("student_id", text),))
