"""Make the environments that lessons are tested in, once for each list of versions."""

import hashlib
import importlib.metadata
import os
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).parent
LISTS = sorted(path.stem for path in HERE.glob("*.txt"))


def environment(name):
    """Python of the environment for <name>.txt, made at the first call and found again at the next.

    torch is linked in rather than installed: it is the largest package by far, and the lists leave its
    version open.
    """
    wanted = (HERE / f"{name}.txt").read_text(encoding="utf-8")
    digest = hashlib.sha256((wanted + sys.version).encode()).hexdigest()[:12]
    folder = Path(sys.prefix) / "environments" / f"{name}-{digest}"
    python = folder / "bin" / "python"
    if not (folder / "complete").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", HERE / f"{name}.txt"], check=True)
        link_torch(folder)
        (folder / "complete").touch()
    return python


def link_torch(folder):
    """Link torch, and what it imports, from the running environment into another of the same Python."""
    site = next(folder.glob("lib/python*/site-packages"))
    for package in (
        "torch",
        "sympy",
        "mpmath",
        "networkx",
        "jinja2",
        "markupsafe",
        "filelock",
        "fsspec",
        "typing_extensions",
    ):
        distribution = importlib.metadata.distribution(package)
        for top in {Path(file).parts[0] for file in distribution.files or () if ".." not in Path(file).parts}:
            target = site / top
            if not target.exists() and top != "__pycache__":
                os.symlink(distribution.locate_file(top), target)
