"""Whatever the bytes are, intake ends in a verdict, and the tests of the source are in what it hands on."""

import json
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.grading.intake import Verdict, settle

FILE = "02_how_it_works.ipynb"
OFTEN = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])

ids = st.sampled_from(["double", "half", "test_double", "test_half", "Scaler", "interpretation", "unknown"])
code = st.sampled_from(
    [
        "def double(x):\n    return 2 * x",
        "def double(x):\n    return 3 * x\n\ndef half(x):\n    return x / 2",
        "    return x",
        "class Scaler:",
        "!ls",
        "%%time\ndef half(x): return 1",
        "if 1:\n  x\n y\n%time",
        "assert double(1) == 2",
        "\ud800",
        "def test_double(): ...",
    ]
)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
claims = st.fixed_dictionaries(
    {},
    optional={
        "grade_id": ids | anything,
        "grade": anything,
        "points": anything,
        "solution": anything,
        "schema_version": anything,
    },
)
metadata = st.fixed_dictionaries(
    {}, optional={"nbgrader": claims | anything, "tags": anything, "course": anything, "jupyter": anything}
)
cells = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "raw", "heading", 3])},
    optional={
        "source": code | anything,
        "metadata": metadata | anything,
        "outputs": anything,
        "attachments": anything,
        "id": anything,
        "input": code,
    },
)
notebooks = st.fixed_dictionaries(
    {"cells": st.lists(cells | anything, max_size=9)},
    optional={"nbformat": anything, "nbformat_minor": anything, "metadata": anything, "worksheets": anything},
)


def _tests(notebook):
    return [(c.source, c.metadata) for c in notebook.cells if c.metadata.get("nbgrader", {}).get("locked")]


@OFTEN
@given(notebooks)
def test_any_notebook_ends_in_a_verdict_with_the_tests_in_place(assignment, content):
    intake = settle(assignment, {FILE: json.dumps(content).encode()})
    if intake.verdict is Verdict.NOT_GRADABLE:
        assert intake.reason and intake.ask
        return
    nbformat.validate(intake.notebook)
    assert _tests(intake.notebook) == _tests(assignment.graded)
    known = [c.metadata for c in assignment.graded.cells]
    assert all(c.metadata in known or c.metadata == {} for c in intake.notebook.cells)
    json.dumps(intake.as_dict()).encode()


@OFTEN
@given(st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_end_in_a_verdict(assignment, data):
    for name in (FILE, "homework.zip"):
        assert settle(assignment, {name: data}).verdict is Verdict.NOT_GRADABLE


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_file_that_breaks_off_is_never_graded(assignment, solved, share):
    data = nbformat.writes(solved).encode()
    assert settle(assignment, {FILE: data[: int(len(data) * share)]}).verdict is Verdict.NOT_GRADABLE


def test_links_in_an_archive_are_not_read(assignment):
    packed = BytesIO()
    with ZipFile(packed, "w") as archive:
        link = ZipInfo(FILE)
        link.external_attr = 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    intake = settle(assignment, {"homework.zip": packed.getvalue()})
    assert (intake.verdict, "zip archive" in intake.reason) == (Verdict.NOT_GRADABLE, True)


def test_an_archive_that_unpacks_to_more_than_is_read_is_refused(assignment):
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for number in range(4):
            archive.writestr(f"{number}.ipynb", bytes(100_000_000))
    intake = settle(assignment, {"homework.zip": packed.getvalue()})
    assert (intake.verdict, "zip archive" in intake.reason) == (Verdict.NOT_GRADABLE, True)


def test_a_name_that_is_not_unicode_is_told_in_ascii(assignment):
    intake = settle(assignment, {"\udcff.ipynb": b""})
    assert intake.reason.isascii() and "\\udcff" in intake.reason


def test_what_a_student_named_cannot_write_into_the_log(assignment, solved):
    for cell in solved.cells:
        cell.metadata["nbgrader"] = {"grade_id": "x\n\x1b[31mgraded", "grade": True, "points": "\n" * 1000}
    intake = settle(assignment, {"02\n\x1b[31m.ipynb": nbformat.writes(solved).encode()})
    told = [intake.reason, *(text for r in intake.remarks for text in (r.text, r.cell))]
    assert all(text.isprintable() and len(text) < 1000 for text in told)


def test_no_repair_is_long_or_writes_into_the_log(assignment, solved):
    content = json.loads(nbformat.writes(solved))
    content["nbformat_minor"] = ["\x1b[31m"] * 10_000
    commands = "!ls \x1b[31m \\\n more\n" * 500
    content["cells"].insert(1, {"cell_type": "code", "metadata": {}, "source": commands})
    intake = settle(assignment, {FILE: json.dumps(content).encode()})
    assert {"format", "magics"} <= {repair.kind for repair in intake.repairs}
    assert all(repair.text.isprintable() and len(repair.text) < 400 for repair in intake.repairs)
