"""Faults of a lesson's source that would surface only when a class is graded; each names its file and cell."""

from collections import Counter

import jupytext
import nbformat
from nbgrader.nbgraderformat import MetadataValidator

from tests.judging.lesson import read_lesson
from tests.judging.verdict import judge

HIDDEN = "### BEGIN HIDDEN TESTS"
MARK_SCHEME = "### BEGIN MARK SCHEME"


def folder_faults(folder):
    """Sentences about a source folder: its pair of files and every cell that nbgrader would stumble over."""
    text, notebook = folder / f"{folder.name}.py", folder / f"{folder.name}.ipynb"
    faults = [f"{path}: missing; run jupytext --sync on its pair" for path in (text, notebook) if not path.exists()]
    if faults:
        return faults
    return pair_faults(text, notebook) + cell_faults(text, jupytext.read(text))


def pair_faults(text, notebook):
    """Cells in which the text and its notebook differ."""
    written, built = jupytext.read(text).cells, nbformat.read(notebook, as_version=4).cells
    if len(written) != len(built):
        return [f"{notebook}: {len(built)} cells, its text has {len(written)}; run make sync"]
    return [
        f"{notebook}: cell {number} is not in step with {text.name}; run make sync"
        for number, (cell, twin) in enumerate(zip(written, built, strict=True), start=1)
        if (cell.cell_type, cell.source, cell.metadata) != (twin.cell_type, twin.source, twin.metadata)
    ]


def cell_faults(path, notebook):
    """Sentences about single cells: metadata, grade ids, hidden tests, mark schemes."""
    faults, ids = [], []
    for number, cell in enumerate(notebook.cells, start=1):
        meta = cell.metadata.get("nbgrader")
        where = f"{path}: cell {number} ({(meta or {}).get('grade_id', 'no grade id')})"
        if "\n# %%" in cell.source or cell.source.startswith("%%"):
            faults.append(f"{where}: a cell magic or a cell mark inside the cell would not survive the round trip")
        if meta is None:
            continue
        try:
            MetadataValidator().validate_cell(cell)
        except Exception as error:
            faults.append(f"{where}: nbgrader refuses its metadata: {str(error).splitlines()[0]}")
            continue
        ids.append(meta["grade_id"])
        if meta["grade"] and not meta["solution"] and HIDDEN not in cell.source:
            faults.append(f"{where}: a graded cell without hidden tests; put some between BEGIN and END HIDDEN TESTS")
        if meta["task"] and (MARK_SCHEME not in cell.source or not meta["locked"]):
            faults.append(f"{where}: a task cell needs a mark scheme region and locked: true")
    faults += [f"{path}: the grade id {name} stands {times} times" for name, times in Counter(ids).items() if times > 1]
    return faults


def stub_faults(lesson_name):
    """Sentences about stubs that pass a test, or that fail with anything but a CheckFailed."""
    lesson = read_lesson(lesson_name)
    faults = []
    for exercise in lesson.exercises.values():
        verdict = judge(lesson, exercise, exercise.stub)
        faults += [
            f"{lesson.path}: the stub of {exercise.name} passes {test_id}"
            for test_id in exercise.tests
            if test_id not in verdict.failures
        ]
        faults += [
            f"{lesson.path}: {test_id} raises {error!r} for the stub" for test_id, error in verdict.unexpected.items()
        ]
    return faults
