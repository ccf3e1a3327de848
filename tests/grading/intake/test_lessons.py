"""The same repairs on every real lesson: whatever was done to the file, the notebook that is graded is the same."""

import copy
import json
import random
from pathlib import Path

import nbformat
import pytest
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config.loader import PyFileConfigLoader

from course.grading.intake import Assignment, Verdict, settle
from course.grading.intake.assignment import Owner

ROOT = Path(__file__).parents[3]
LESSONS = sorted(path for path in ROOT.glob("source/*/*.ipynb") if path.stem == path.parent.name)


@pytest.fixture(scope="module", params=LESSONS, ids=lambda path: path.stem)
def lesson(request):
    """(assignment, JSON of the released notebook with the solutions in it)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
        release = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
        source = nbformat.read(request.param, as_version=4)
        assignment = Assignment.from_source(request.param.stem, source, release.preprocessors, parent=release)
    texts = {cell.metadata.nbgrader.grade_id: cell.source for cell in source.cells if "nbgrader" in cell.metadata}
    solved = copy.deepcopy(assignment.graded)
    for slot, cell in zip(assignment.slots, solved.cells, strict=True):
        cell.source = slot.released
        if slot.owner is Owner.SOLUTION:
            cell.source = "\n".join(line for line in texts[slot.grade_id].splitlines() if " SOLUTION" not in line)
        if slot.owner is Owner.ANSWER:
            cell.source = "What I saw, in my own words."
    return assignment, json.loads(nbformat.writes(solved))


def _settled(assignment, content, name=None):
    return settle(assignment, {name or f"{assignment.name}.ipynb": json.dumps(content).encode()})


def _texts(notebook):
    return [cell["source"].rstrip() for cell in notebook["cells"]]


def _expected(assignment, content):
    intake = _settled(assignment, content)
    assert intake.verdict is Verdict.GRADED, intake.remarks
    return _texts(intake.notebook)


def test_a_right_submission_raises_no_remark_and_keeps_its_answers(lesson):
    assignment, content = lesson
    intake = _settled(assignment, content)
    assert (intake.verdict, intake.remarks, intake.repairs) == (Verdict.GRADED, (), ())
    handed = {cell["id"]: "".join(cell["source"]) for cell in content["cells"]}
    for slot, cell in zip(assignment.slots, intake.notebook.cells, strict=True):
        mine = slot in assignment.student_slots
        assert cell.source == (handed[cell.id] if mine else assignment.graded.cells[slot.index].source)


def test_an_untouched_release_raises_no_remark(lesson):
    assignment, content = lesson
    blank = copy.deepcopy(content)
    for slot, cell in zip(assignment.slots, blank["cells"], strict=True):
        cell["source"] = slot.released
    intake = _settled(assignment, blank)
    assert (intake.verdict, intake.remarks) == (Verdict.GRADED, ())
    assert _texts(intake.notebook) == _texts(assignment.graded)


def _without_metadata(content, rng):
    for cell in content["cells"]:
        cell["metadata"] = {}


def _without_the_metadata_of_some(content, rng):
    for cell in rng.sample(content["cells"], len(content["cells"]) // 3):
        cell["metadata"] = {}


def _as_format_3(content, rng):
    for cell in content["cells"]:
        cell.pop("id")
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
    content["worksheets"] = [{"cells": content.pop("cells")}]
    content["nbformat"], content["nbformat_minor"] = 3, 0


def _shuffled(content, rng):
    rng.shuffle(content["cells"])


def _upside_down(content, rng):
    content["cells"].reverse()


def _without_locked_cells(content, rng):
    content["cells"] = [cell for cell in content["cells"] if not cell["metadata"].get("nbgrader", {}).get("locked")]


def _with_changed_tests(content, rng):
    for cell in content["cells"]:
        if cell["metadata"].get("nbgrader", {}).get("grade"):
            cell["source"] = "print('well done')"


def _all_markdown(content, rng):
    for cell in content["cells"]:
        cell["cell_type"] = "markdown"


def _everything_twice(content, rng):
    content["cells"] = [cell for one in content["cells"] for cell in (one, copy.deepcopy(one))]


def _from_an_older_release(content, rng):
    """Another version in the set-up cell, shorter prose, other tests, one exercise's stub with other words."""
    for cell in content["cells"]:
        text, meta = "".join(cell["source"]), cell["metadata"]
        if cell["cell_type"] == "markdown" and not {"course", "nbgrader"} & meta.keys():
            cell["source"] = text.removesuffix(text[-min(12, len(text) // 9) :])
        elif meta.get("nbgrader", {}).get("grade"):
            cell["source"] = text.replace("(", "(  ")
        elif "VERSION, REQUIREMENT" in text:
            cell["source"] = text.replace("VERSION, REQUIREMENT = ", 'VERSION, REQUIREMENT = "0.1", "" #')


def _without_prose(content, rng):
    keep = ("nbgrader", "course")
    content["cells"] = [
        cell for cell in content["cells"] if cell["cell_type"] == "code" or any(key in cell["metadata"] for key in keep)
    ]


def _split_in_two(content, rng):
    """Each answer that is one definition becomes two cells, as an editor splits it: one of them keeps the metadata."""
    cells = []
    for cell in content["cells"]:
        lines = "".join(cell["source"]).splitlines()
        definitions = [line for line in lines if line.startswith(("def ", "class "))]
        if cell["metadata"].get("nbgrader", {}).get("solution") and definitions == lines[:1] and lines[1:]:
            parts = [copy.deepcopy(cell), copy.deepcopy(cell)]
            at = rng.randrange(1, len(lines))
            parts[0]["source"], parts[1]["source"] = "\n".join(lines[:at]), "\n".join(lines[at:])
            rng.choice(parts)["metadata"] = {}
            cells += parts
        else:
            cells.append(cell)
    content["cells"] = cells


HARM = [
    _without_metadata,
    _without_the_metadata_of_some,
    _as_format_3,
    _shuffled,
    _upside_down,
    _without_locked_cells,
    _with_changed_tests,
    _all_markdown,
    _everything_twice,
    _without_prose,
    _from_an_older_release,
]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("harm", HARM, ids=lambda harm: harm.__name__.strip("_"))
def test_the_graded_notebook_is_the_same_whatever_was_done(lesson, harm, seed):
    assignment, content = lesson
    expected = _expected(assignment, content)
    harmed = copy.deepcopy(content)
    harm(harmed, random.Random(seed))
    assert _texts(_settled(assignment, harmed).notebook) == expected


@pytest.mark.parametrize("seed", range(8))
def test_split_answers_are_joined(lesson, seed):
    assignment, content = lesson
    expected = _expected(assignment, content)
    harmed = copy.deepcopy(content)
    _split_in_two(harmed, random.Random(seed))
    joined = _texts(_settled(assignment, harmed).notebook)
    assert [_without_empty_lines(text) for text in joined] == [_without_empty_lines(text) for text in expected]


def _without_empty_lines(text):
    """A split swallows the empty lines at its seam."""
    return [line for line in text.splitlines() if line.strip()]
