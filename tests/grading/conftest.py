"""A small course folder made by code: two lessons, and students' notebooks of them."""

import io
import json
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

LESSONS = {"01_foundations": ("head_width", "weighted_average"), "02_how_it_works": ("split_heads", "merge_heads")}


def nbgrader_mark(grade_id, **values):
    """nbgrader's metadata of a cell."""
    mark = {
        "grade_id": grade_id,
        "schema_version": 3,
        "grade": False,
        "solution": False,
        "locked": False,
        "task": False,
    }
    return {"nbgrader": mark | values}


def lesson_notebook(functions, answer="pass"):
    """A lesson's notebook: a heading, a solution cell and a test cell for each function."""
    cells = []
    for name in functions:
        cells.append(new_markdown_cell(f"## The section on {name}"))
        source = f"def {name}(x):\n    {answer}"
        cells.append(new_code_cell(source, metadata=nbgrader_mark(name, solution=True)))
        test = nbgrader_mark(f"test_{name}", grade=True, locked=True, points=2)
        cells.append(new_code_cell(f"assert {name}(1)", metadata=test))
    notebook = new_notebook(cells=cells)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return nbformat.writes(notebook).encode()


@pytest.fixture
def course_dir(tmp_path):
    """A course folder with released lessons and no gradebook."""
    root = tmp_path / "course"
    for assignment, functions in LESSONS.items():
        for step in ("source", "release"):
            folder = root / step / assignment
            folder.mkdir(parents=True)
            (folder / f"{assignment}.ipynb").write_bytes(lesson_notebook(functions))
    return root


@pytest.fixture
def answered():
    """answered(assignment, answer) -> bytes of a student's notebook."""
    return lambda assignment, answer="return x": lesson_notebook(LESSONS[assignment], answer)


@pytest.fixture
def zipped(tmp_path):
    """zipped({path: bytes}, name) -> path of a zip archive."""

    def make(files, name="export.zip"):
        path = tmp_path / name
        path.write_bytes(zip_bytes(files))
        return path

    return make


def zip_bytes(files):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def source_of(path):
    """The first solution's source in a notebook at path."""
    return "".join(json.loads(path.read_text())["cells"][1]["source"])
