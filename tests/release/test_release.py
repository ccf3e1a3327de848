"""release/ is what source/ gives, byte for byte, and holds nothing that a student should not see."""

import re

import nbformat
import pytest

from course.grading.demo import copy_course
from tests.judging.lesson import ROOT, lesson_names
from tests.release.building import release_lessons

RELEASED = sorted((ROOT / "release").glob("*/*.ipynb"))

REGION = r"### BEGIN \w+(?: \w+)?\n(.*?)### END"


def build(folder):
    """Release every lesson in a course folder of its own; bytes of each notebook by lesson."""
    copy_course(ROOT, folder)
    release_lessons(folder)
    return {path.stem: path.read_bytes() for path in (folder / "release").glob("*/*.ipynb")}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("course"))


def test_release_is_in_step_with_source(built):
    """That the bytes of an earlier build come out again says, too, that any two builds are identical."""
    committed = {path.stem: path.read_bytes() for path in RELEASED}
    assert sorted(built) == sorted(committed) == lesson_names()
    assert [name for name in built if built[name] != committed[name]] == [], "run make release"


def test_release_holds_notebooks_alone():
    assert {path.suffix for path in (ROOT / "release").rglob("*") if path.is_file()} == {".ipynb"}


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_nothing_leaks(path):
    notebook = nbformat.read(path, as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert not re.search(r"BEGIN (SOLUTION|HIDDEN|MARK)|END (SOLUTION|HIDDEN|MARK)|exam\.add\(|question\.key\(", text)
    assert all(
        cell.outputs == [] and cell.execution_count is None for cell in notebook.cells if cell.cell_type == "code"
    )
    source = nbformat.read(ROOT / "source" / path.parent.name / path.name, as_version=4)
    # Lines that the lesson itself shows are no secret: its examples, and functions to mend beside their repair.
    shown = "\n".join(re.sub(REGION, "", cell.source, flags=re.DOTALL) for cell in source.cells)
    for cell in source.cells:
        for region in re.findall(REGION, cell.source, re.DOTALL):
            secret = [line for line in region.splitlines() if len(line.strip()) > 25 and line not in shown]
            assert not any(line in text for line in secret), cell.metadata.nbgrader.grade_id


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_cells_have_ids_and_stay_small(path):
    notebook = nbformat.read(path, as_version=4)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    assert path.stat().st_size < 500_000
