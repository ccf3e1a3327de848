"""Where each exercise is taught, read off the headings of the source notebook."""

import re

import nbformat

HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
MINUTES = re.compile(r"\s*\([\d\s–-]+ minutes?\)$")


DEFINED = re.compile(r"^(?:def|class) (\w+)", re.MULTILINE)


def section_of_exercises(path):
    """{grade id of a cell: (heading, sub-heading ...)} of a notebook, in its order."""
    marked = ((cell.metadata.get("nbgrader", {}).get("grade_id"), section) for cell, section in _cells(path))
    return {grade_id: section for grade_id, section in marked if grade_id}


def section_of_definitions(path):
    """{name of a function or class: (heading, sub-heading ...)} where a notebook first writes it."""
    found = {}
    for cell, section in _cells(path):
        for name in DEFINED.findall(cell.source) if cell.cell_type == "code" else ():
            found.setdefault(name, section)
    return found


def taught_sections(source, assignment):
    """{grade id: (heading ...)} of an assignment: where each exercise is taught.

    That is where an earlier lesson of the folder source writes what the exercise asks for, with that lesson's name in
    front, and otherwise the exercise's own place.
    """
    found = {}
    for path in sorted((source / assignment).glob("*.ipynb")):
        found |= section_of_exercises(path)
    for path in sorted(source.glob("*/*.ipynb"), reverse=True):  # so that the first lesson has the last word
        if path.parent.name < assignment:
            written = section_of_definitions(path)
            found |= {name: (path.parent.name, *written[name]) for name in found if name in written}
    return found


def _cells(path):
    """(cell, headings above it) of a notebook, without its title, exercises' own headings and those in answers."""
    stack = []
    for cell in nbformat.read(path, as_version=4).cells:
        yield cell, tuple(title for level, title, own in stack if level > 1 and not own)
        if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata:
            for marks, title in HEADING.findall(FENCE.sub("", cell.source)):
                level = len(marks)
                stack = [entry for entry in stack if entry[0] < level]
                stack.append((level, _plain_title(title), _is_exercise(title)))


def _plain_title(title):
    return MINUTES.sub("", re.sub(r"[`*]", "", title))


def _is_exercise(title):
    """Whether a heading announces one exercise, ``Exercise · `name` · points``, rather than a section."""
    return bool(re.match(r"(exercise|question)\b.*`\w+`", title, re.IGNORECASE))
