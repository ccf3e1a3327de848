"""Reads what lies in a submission's folder: regular files only, nothing followed, nothing written."""

import os
import stat
from collections import Counter
from pathlib import Path

from course.grading.intake.choosing import LARGEST
from course.grading.intake.verdicts import NotGradable, Remark

MOST_FILES = 1_000  # in one folder; nbgrader, which copies them, takes the square of their number
DEEPEST = 20  # folders below the submission's own; an unpacked archive has two or three


def read_folder(folder):
    """(files, remarks): bytes by path relative to the folder. NotGradable where the folder holds a link."""
    folder = Path(folder)
    if found := irregular_files(folder):
        raise NotGradable(
            f"The submission holds a link or a special file ({found[0].name!r}), and those are refused.",
            "Ask for the notebook itself.",
        )
    if crowd := crowded(folder):
        raise NotGradable(
            f"The submission holds {crowd} files in one folder, more than the {MOST_FILES} that are taken.",
            "Ask for the notebook alone, without an environment or a data set beside it.",
        )
    files, remarks = {}, []
    paths = [path for path, _ in _entries(folder) if not _is_hidden(path.relative_to(folder))]
    notebooks = [path for path in paths if ".ipynb" in path.name.lower()]
    left = LARGEST
    for path in sorted(notebooks or paths, key=lambda path: path.stat().st_size):
        name, size = path.relative_to(folder).as_posix(), path.stat().st_size
        if size > left:
            remarks.append(Remark("too large", f"{name!r} has {size / 1e6:.0f} MB and was not read."))
        else:
            files[name] = _read(path)
            left -= size
    if remarks and not files:
        raise NotGradable(remarks[0].text, "Ask for the notebook with its outputs cleared.")
    return files, remarks


def _read(path):
    try:
        return path.read_bytes()
    except OSError as error:
        raise NotGradable(
            f"The file {path.name!r} cannot be opened: {error.strerror}.",
            "Ask for nothing yet: let the grader read the file, or copy it again.",
        ) from None


def irregular_files(folder):
    """Paths at or below the folder that are links, pipes, sockets or devices."""
    folder = Path(folder)
    return [folder] if folder.is_symlink() else [path for path, mode in _entries(folder) if not stat.S_ISREG(mode)]


def crowded(folder):
    """The number of files in the fullest folder, where it is more than are taken; else 0."""
    fullest = max(Counter(path.parent for path, _ in _entries(folder)).values(), default=0)
    return fullest if fullest > MOST_FILES else 0


def _entries(folder, depth=0):
    """(path, mode) of everything below folder that is not a folder; no link is followed."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        mode = entry.stat(follow_symlinks=False).st_mode
        if not stat.S_ISDIR(mode):
            yield Path(entry.path), mode
        elif depth < DEEPEST:
            yield from _entries(entry.path, depth + 1)


def _is_hidden(path):
    return any(part.startswith(".") for part in path.parts)
