"""What of a notebook is read, kept and told, where it is more than anybody meant."""

import codecs
import json
from io import BytesIO
from zipfile import ZipFile

import pytest
from nbformat.v4 import new_code_cell, new_notebook, writes

from course.grading.intake import Assignment, Verdict, choosing, reading, settle
from course.grading.intake.exporter import with_remarks
from course.grading.intake.reading import read_notebook
from course.grading.intake.settling import MOST_REMARKS
from course.grading.intake.verdicts import Intake, NotGradable, Remark

NAME = "02_how_it_works"
FULL = 7  # points of the small assignment's tests


def cells_of(*cells):
    """The Cells that are read from a notebook of these, given as JSON."""
    return read_notebook(json.dumps({"cells": list(cells), "nbformat": 4, "nbformat_minor": 5}).encode()).cells


def test_characters_that_nobody_sees_are_left_out():
    [cell] = cells_of({"cell_type": "code", "source": ["\ufeffx =\0 1\r\n", "y = 2\r"]})
    assert cell.text == "x = 1\ny = 2\n"


@pytest.mark.parametrize(("level", "text"), [(3, "### Part"), (9, "# Part"), ("2", "# Part"), (None, "# Part")])
def test_a_heading_of_an_old_format_is_markdown(level, text):
    [cell] = cells_of({"cell_type": "heading", "level": level, "source": "Part"})
    assert (cell.kind, cell.text) == ("markdown", text)


@pytest.mark.parametrize("encoding, mark", [("utf-32-le", codecs.BOM_UTF32_LE), ("utf-32-be", codecs.BOM_UTF32_BE)])
def test_a_mark_of_utf_32_is_not_taken_for_one_of_utf_16(encoding, mark, judge):
    intake = judge(lambda nb: {f"{NAME}.ipynb": mark + nb.data().decode().encode(encoding)}, Verdict.GRADED, FULL)
    assert [repair.kind for repair in intake.repairs] == ["byte-order mark"]


def test_pasted_data_and_large_pictures_are_not_read(monkeypatch):
    monkeypatch.setattr(reading, "MOST_CODE", 100)
    monkeypatch.setattr(reading, "MOST_IMAGE_BYTES", 8)
    pictures = {"small.png": {"image/png": "AAAA"}, "large.png": {"image/png": "AAAA" * 3}}
    [cell] = cells_of({"cell_type": "markdown", "source": "x" * 101, "attachments": pictures})
    assert set(cell.images) == {"small.png"}
    with pytest.raises(NotGradable, match="characters of code"):
        cells_of(*[{"cell_type": "code", "source": "x" * 51}] * 2)


def test_of_an_archive_so_many_notebooks_are_read(assignment, solved, monkeypatch):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        for name, text in (("a", "{}"), ("b", "{}"), ("c", writes(solved))):
            archive.writestr(f"{name}.ipynb", text)
    files = {"work.zip": packed.getvalue()}
    assert settle(assignment, files).file == "work.zip/c.ipynb"
    monkeypatch.setattr(choosing, "MOST_MEMBERS", 2)
    assert settle(assignment, files).verdict is Verdict.NOT_GRADABLE


def test_an_archive_with_a_password_is_called_an_archive(assignment, solved):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        archive.writestr(f"{NAME}.ipynb", writes(solved))
    data = bytearray(packed.getvalue())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1  # the flag of an encrypted member
    intake = settle(assignment, {"work.zip": bytes(data)})
    assert intake.verdict is Verdict.NOT_GRADABLE and "a zip archive" in intake.reason


def test_so_many_remarks_are_told_and_the_others_counted(assignment, solved):
    for number in range(MOST_REMARKS + 7):
        mark = {"nbgrader": {"grade_id": f"bonus_{number}", "grade": True, "points": 9}}
        solved.cells.append(new_code_cell(f"bonus = {number}", metadata=mark))
    remarks = settle(assignment, {f"{NAME}.ipynb": writes(solved).encode()}).remarks
    assert len(remarks) == MOST_REMARKS + 1
    assert remarks[-1] == Remark("more", "7 more remarks.")


def test_a_remark_on_top_of_a_notebook_is_cut_where_it_is_long():
    intake = Intake(Verdict.REMARKS, new_notebook(), remarks=(Remark("tag", "word " * 1000),))
    assert len(with_remarks(intake).cells[0].source) < 500


def test_a_claim_is_repeated_only_in_part(judge):
    def claims(nb):
        nb.cell("test_half")["metadata"]["nbgrader"]["points"] = "9" * 1000
        return nb

    [remark] = judge(claims, Verdict.REMARKS, FULL).remarks
    assert remark.kind == "flags" and len(remark.text) < 150


def test_a_test_of_another_release_is_no_extra_one(judge):
    def renumbered(nb):
        for cell in nb["cells"]:
            if "nbgrader" in cell["metadata"]:
                cell["metadata"]["nbgrader"]["grade_id"] += "_v1"
        return nb

    assert [remark.kind for remark in judge(renumbered, Verdict.REMARKS, FULL).remarks] == ["metadata lost"]


def test_an_older_version_of_what_is_folded_is_not_run(source, solved):
    source.cells[1].metadata["jupyter"] = {"source_hidden": True}
    source.cells[1].source = "import math\nVERSION = '1.0'  # of the lesson that this notebook belongs to"
    solved.cells[1].source = source.cells[1].source.replace("1.0", "0.9")
    intake = settle(Assignment.from_source(NAME, source), {f"{NAME}.ipynb": writes(solved).encode()})
    assert [cell.source for cell in intake.notebook.cells if "VERSION" in cell.source] == [source.cells[1].source]


@pytest.mark.parametrize(
    "mine, kept", [("In the form of the real ones. My note.", True), ("In the form of real ones.", False)]
)
def test_words_added_to_the_lesson_s_own_are_kept_and_a_changed_word_is_not(mine, kept, judge):
    def noted(nb):
        nb["cells"][0]["source"] = f"# A small lesson\n\n{mine}"
        return nb

    cells = judge(noted, Verdict.GRADED, FULL).notebook.cells
    assert any(mine in cell.source for cell in cells) == kept
    assert cells[0].source == "# A small lesson\n\nIn the form of the real ones."
