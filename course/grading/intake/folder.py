"""Reads what lies in a submission's folder: regular files only, nothing followed, nothing written."""

import os
import stat
from pathlib import Path

from course.grading.intake.choosing import LARGEST
from course.grading.intake.verdicts import NotGradable, Remark

DEEPEST = 4  # folders below the submission's own; an unpacked archive in an archive has three
LARGEST_OTHER = 50_000_000  # bytes of a file that is not called a notebook


def read_folder(folder):
    """(files, remarks): bytes by path relative to the folder. NotGradable where the folder holds a link."""
    folder = Path(folder)
    files, remarks, paths = {}, [], list(_regular_files(folder))
    notebooks = [path for path in paths if ".ipynb" in path.name.lower()]
    for path in notebooks or paths:
        name = path.relative_to(folder).as_posix()
        if path.stat().st_size > (LARGEST if notebooks else LARGEST_OTHER):
            size = f"{path.stat().st_size / 1e6:.0f} MB"
            remarks.append(Remark("too large", f"{name!r} has {size} and was not read."))
        else:
            files[name] = path.read_bytes()
    if remarks and not files:
        raise NotGradable(remarks[0].text, "Ask for the notebook with its outputs cleared.")
    return files, remarks


def _regular_files(folder, depth=0):
    """Paths of the files below folder, hidden ones left out; NotGradable at the first link or special file."""
    if folder.is_symlink():
        raise _refused(folder)
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        mode = entry.stat(follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            if depth < DEEPEST and not entry.name.startswith("."):
                yield from _regular_files(Path(entry.path), depth + 1)
        elif not stat.S_ISREG(mode):
            raise _refused(entry)
        elif not entry.name.startswith("."):
            yield Path(entry.path)


def _refused(entry):
    return NotGradable(
        f"The submission holds a link or a special file ({entry.name!r}), and those are refused.",
        "Ask for the notebook itself.",
    )
