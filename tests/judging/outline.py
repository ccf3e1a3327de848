"""What a lesson says of itself in its Markdown: headings, exercises with points, minutes and path, and its prose."""

import re
from typing import NamedTuple

from tests.judging.lesson import SOLUTION, read_lesson

TITLE = re.compile(r"^\*(?P<sections>[^·\n]+) · (?P<minutes>\d+) minutes · (?P<points>\d+) points\*$", re.MULTILINE)
EXERCISE = re.compile(
    r"^#### Exercise · `(?P<name>\w+)` · (?P<points>\d+) points? · (?P<minutes>\d+) minutes?$", re.MULTILINE
)
PATHS = {
    "*On the 60- and the 90-minute path.*": (60, 90),
    "*On the 90-minute path.*": (90,),
    "*Off the short path.*": (),
}
HIDDEN_TESTS = re.compile(r"^### BEGIN HIDDEN TESTS\n.*?^### END HIDDEN TESTS\n?", re.DOTALL | re.MULTILINE)
MARK_SCHEME = re.compile(r"^### BEGIN MARK SCHEME\n.*?^### END MARK SCHEME\n?", re.DOTALL | re.MULTILINE)
NOT_PROSE = re.compile(
    r"<details>.*?</details>|\$\$.*?\$\$|```.*?```|^\|.*?$|<[^>]+>|^\*(?:On|Off) the .*?$", re.DOTALL | re.MULTILINE
)


class Announcement(NamedTuple):
    """An exercise as its heading announces it; ``paths`` are the short paths that it is on, in minutes."""

    lesson: str
    name: str
    points: int
    minutes: int
    paths: tuple[int, ...]


class Title(NamedTuple):
    """The line below a lesson's title."""

    sections: str
    minutes: int
    points: int


def title(lesson_name):
    """What the first cell announces. ValueError when it announces nothing."""
    found = TITLE.search(read_lesson(lesson_name).notebook.cells[0].source)
    if not found:
        raise ValueError(f"{lesson_name}: no line '*Sections … · N minutes · N points*' below the title")
    return Title(found["sections"], int(found["minutes"]), int(found["points"]))


def announcements(lesson_name):
    """The exercises of a lesson as their headings announce them, in order."""
    found = []
    for cell in read_lesson(lesson_name).notebook.cells:
        for heading in EXERCISE.finditer(cell.source) if cell.cell_type == "markdown" else ():
            marker = cell.source[heading.end() :].strip().splitlines()[0]
            if marker not in PATHS:
                raise ValueError(
                    f"{lesson_name}: below the heading of {heading['name']} stands {marker!r}, not its path"
                )
            found.append(
                Announcement(
                    lesson_name, heading["name"], int(heading["points"]), int(heading["minutes"]), PATHS[marker]
                )
            )
    return found


def graded_points(lesson_name):
    """Points of each exercise by name, as nbgrader counts them: test cells added up, and task cells."""
    lesson = read_lesson(lesson_name)
    points = {name: sum(exercise.points.values()) for name, exercise in lesson.exercises.items()}
    metas = [cell.metadata.get("nbgrader", {}) for cell in lesson.notebook.cells]
    return points | {meta["grade_id"]: meta["points"] for meta in metas if meta.get("task")}


def headings(markdown):
    """Texts of the headings in a cell or a file, without the marks that set code."""
    lines = re.findall(r"^#{1,4} (.+)$", MARK_SCHEME.sub("", markdown), re.MULTILINE)
    return [line.replace("`", "").strip() for line in lines]


def visible(cell):
    """A code cell's source as a student gets it."""
    return HIDDEN_TESTS.sub("", SOLUTION.sub("", cell.source + "\n"))


def words(cell):
    """Number of words of prose in a Markdown cell: no hints, formulas, tables or mark schemes."""
    return len(re.findall(r"\w[\w'’.-]*", NOT_PROSE.sub("", MARK_SCHEME.sub("", cell.source))))


def lines_of(source):
    """Number of lines that are not blank."""
    return sum(bool(line.strip()) for line in source.splitlines())
