"""Matplotlib's list of fonts, made once for this machine.

Every new home folder makes matplotlib look through all fonts at its first plot, which takes seconds
and may warn on stderr. A sandbox always has a new home, so it is given the list.
"""

import functools
import os
import subprocess
from importlib import metadata
from pathlib import Path

from course.grading.sandbox import view
from course.grading.sandbox.availability import bubblewrap

LOOK = """
import sys
sys.path += sys.argv[1:]
import matplotlib.font_manager
from pathlib import Path
[file] = Path(matplotlib.get_cachedir()).glob("fontlist*.json")
print(file.name)
print(file.read_text())
"""


def cache_file():
    """Where the list is kept: its first line is the name that matplotlib looks for."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "attention-course" / f"fonts-matplotlib-{metadata.version('matplotlib')}"


def make_list():
    """Let matplotlib look, inside a sandbox, through the fonts that are seen there."""
    mounts, python, imports = view.mounts(scratch_size=2**24)
    return subprocess.run(
        [bubblewrap(), *view.isolation(view.separate_user()), *mounts, "--", *python, "-c", LOOK, *imports],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        env={},
    ).stdout


@functools.cache
def font_list():
    """Name and content of matplotlib's list of fonts; None where it cannot be made, which costs only time."""
    try:
        file = cache_file()
        if not file.exists() or not file.stat().st_size:  # a machine that loses power may leave an empty one
            text = make_list()
            file.parent.mkdir(parents=True, exist_ok=True)
            unfinished = file.with_name(f"{file.name}-{os.getpid()}")
            unfinished.write_text(text)
            unfinished.replace(file)  # at once, for whoever reads it meanwhile
        name, _, content = file.read_text().partition("\n")
    except (OSError, RuntimeError, subprocess.CalledProcessError, metadata.PackageNotFoundError):
        return None
    return name, content
