"""Where each exercise is taught, read off the headings of the source notebook."""

import re

import nbformat

HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$", re.MULTILINE)
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
MINUTES = re.compile(r"\s*\([\d\s–-]+ minutes?\)$")


def section_of_exercises(path):
    """{grade id of a cell: (heading, sub-heading ...)} of a notebook, without its title and the exercise's own heading.

    A heading is an exercise's own when it names the exercise; the first word of a name counts for its tests.
    """
    stack, found = [], {}
    for cell in nbformat.read(path, as_version=4).cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id:
            found[grade_id] = tuple(title for level, title, own in stack if level > 1 and not own)
        if cell.cell_type == "markdown":
            for marks, title in HEADING.findall(FENCE.sub("", cell.source)):
                level = len(marks)
                stack = [entry for entry in stack if entry[0] < level]
                stack.append((level, _plain_title(title), _is_exercise(title)))
    return found


def _plain_title(title):
    return MINUTES.sub("", re.sub(r"[`*]", "", title))


def _is_exercise(title):
    """Whether a heading announces one exercise, ``Exercise · `name` · points``, rather than a section."""
    return bool(re.match(r"(exercise|question)\b.*`\w+`", title, re.IGNORECASE))
