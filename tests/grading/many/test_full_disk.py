"""A disk that is full while ``course grade`` writes: a small file system in a mount namespace of its own."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.grading.many.conftest import LESSON, RIGHT, hand_in, lesson, use_database

# What to mount, grading on the small disk, growing it, grading again, and what there is in the end.
SCRIPT = """
mount -t tmpfs -o "size=$SIZE" tmpfs "$DISK" && cp -a "$DISK.files/." "$DISK" || exit 9
cd "$ROOT"
"$PYTHON" -m course grade --jobs 2 > first.out 2> first.err
echo $? > first.status
mount -o remount,size=64m tmpfs "$DISK"
"$PYTHON" -m course grade --jobs 2 > second.out 2> second.err
echo $? > second.status
"$PYTHON" -m tests.grading.many.test_full_disk > after.json
"""
NAMESPACE = ["unshare", "--mount"] if os.getuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]


def scores(root):
    """Points by student and grade id, and which graded notebooks can be read."""
    from tests.grading.many.conftest import gradebook

    points = {name: {key: row[0] for key, row in about["grades"].items()} for name, about in gradebook(root).items()}
    whole = [nbformat.read(path, as_version=4) for path in sorted(root.glob(f"autograded/[!.]*/{LESSON}/*.ipynb"))]
    return {"points": points, "notebooks": len(whole)}


@pytest.fixture
def large_class(root):
    """A class whose graded notebooks take some space: 40 kB each."""
    for number in range(8):
        hand_in(root, f"s{number}", nbformat.writes(lesson(RIGHT | {"essay": "Because. " * 5000})))
    return root


def grade_on(root, disk, size):
    """Grade where ``disk`` is a file system of this size: (status, stderr) of each of the two runs, and the scores."""
    disk.mkdir(exist_ok=True)
    shutil.move(disk, f"{disk}.files")
    disk.mkdir()
    variables = {"SIZE": size, "DISK": str(disk), "ROOT": str(root), "PYTHON": sys.executable}
    environment = os.environ | variables | {"PYTHONPATH": str(Path(__file__).parents[3]), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([*NAMESPACE, "bash", "-c", SCRIPT], env=environment, capture_output=True, text=True)
    if done.returncode == 9:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    runs = [
        (int((root / f"{run}.status").read_text()), (root / f"{run}.err").read_text()) for run in ("first", "second")
    ]
    return *runs, json.loads((root / "after.json").read_text())


EXPECTED = {"test_one": 2, "test_two": 2, "essay": None}


def test_a_disk_that_fills_with_graded_notebooks(large_class):
    first, second, after = grade_on(large_class, large_class / "autograded", "256k")
    assert first[0] == 2 and "Traceback" not in first[1]
    last = first[1].splitlines()[-1]
    assert last.startswith("Error: A graded notebook cannot be written ([Errno 28] No space left on device")
    assert "and the next run continues with the others" in last
    assert second[0] == 1
    assert len(after["points"]) == 13 and after["notebooks"] == 12
    assert all(after["points"][f"s{number}"] == EXPECTED for number in range(8))


def test_a_disk_that_fills_with_the_gradebook(large_class):
    source = large_class / "gradebook.db"
    (large_class / "books").mkdir()
    shutil.copy(source, large_class / "books" / "gradebook.db")
    use_database(large_class, f"sqlite:///{large_class}/books/gradebook.db")
    size = (large_class / "books" / "gradebook.db").stat().st_size // 1024 + 48
    first, second, after = grade_on(large_class, large_class / "books", f"{size}k")
    assert first[0] == 2 and "Traceback" not in first[1]
    last = first[1].splitlines()[-1]
    assert last.startswith("Error: The gradebook cannot be written (database or disk is full)")
    assert second[0] == 1
    assert len(after["points"]) == 13 and after["notebooks"] == 12
    assert all(after["points"][f"s{number}"] == EXPECTED for number in range(8))


if __name__ == "__main__":
    print(json.dumps(scores(Path.cwd())))
