"""The source of every lesson is sound, and each kind of fault is named with its file and cell."""

import json

import jupytext
import pytest

from tests.judging.faults import cell_faults, folder_faults, stub_faults
from tests.judging.lesson import SOURCE, lesson_names

FOLDERS = sorted(path for path in SOURCE.iterdir() if path.is_dir())

META = {"grade": True, "grade_id": "test_one", "locked": True, "points": 1}
META |= {"schema_version": 3, "solution": False, "task": False}
SOUND = f"""# %% nbgrader={json.dumps(META)}
### BEGIN HIDDEN TESTS
assert True
### END HIDDEN TESTS
"""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_lesson_folder_is_sound(folder):
    assert folder_faults(folder) == []


@pytest.mark.parametrize("name", lesson_names())
def test_no_stub_passes(name):
    assert stub_faults(name) == []


def test_sound_cell_has_no_fault(tmp_path):
    assert cell_faults("lesson.py", jupytext.reads(SOUND, "py:percent")) == []


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("### BEGIN HIDDEN TESTS\n", "", "lesson.py: cell 1 (test_one): a graded cell without hidden tests"),
        ('"points": 1, ', "", "lesson.py: cell 1 (test_one): nbgrader refuses its metadata"),
        ('"schema_version": 3', '"schema_version": 99', "lesson.py: cell 1 (test_one): nbgrader refuses its metadata"),
        (
            "assert True",
            "assert True\n### END HIDDEN TESTS\n\n" + SOUND,
            "lesson.py: the grade id test_one stands 2 times",
        ),
        ('"task": false', '"task": true', "nbgrader refuses its metadata"),
    ],
)
def test_fault_is_named(old, new, sentence):
    faults = cell_faults("lesson.py", jupytext.reads(SOUND.replace(old, new), "py:percent"))
    assert any(sentence in fault for fault in faults), faults


def test_folder_without_a_notebook_is_named(tmp_path):
    folder = tmp_path / "07_new"
    folder.mkdir()
    assert [fault.split(":")[0] for fault in folder_faults(folder)] == [
        str(folder / "07_new.py"),
        str(folder / "07_new.ipynb"),
    ]
