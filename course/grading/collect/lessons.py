"""Which lesson a notebook is, by its file name or by the exercises in it."""

import json
import re
import unicodedata
from typing import NamedTuple

from course.grading.coursefolder import step_folder

MARK = re.compile(r'"grade_id"\s*:\s*("(?:[^"\\]|\\.)*")')


class Lesson(NamedTuple):
    """An assignment's name, its notebook's file name and the grade ids in it."""

    assignment: str
    file_name: str
    grade_ids: frozenset


def course_lessons(course, assignments):
    """A Lesson for each notebook of the assignments, from release/ where it is built, else from source/."""
    lessons = []
    for assignment in assignments:
        folders = (step_folder(course, step) / assignment for step in ("release", "source"))
        notebooks = next(filter(None, (sorted(folder.glob("*.ipynb")) for folder in folders)), [])
        lessons += [Lesson(assignment, book.name, grade_ids(book.read_bytes())) for book in notebooks]
    return lessons


def grade_ids(notebook):
    """The grade ids that stand in a notebook's bytes; read as text, so that a damaged notebook still tells."""
    text = notebook.decode("utf-8", errors="replace")
    return frozenset(json.loads(found) for found in MARK.findall(text))


def find_lesson(file_name, notebook, lessons):
    """The Lesson that a student's notebook is, or None; the name decides, then the exercises it shares."""
    slug = _slug(file_name)
    named = [lesson for lesson in lessons if _slug(lesson.file_name) in slug]
    if named:
        return max(named, key=lambda lesson: len(lesson.file_name))
    present = grade_ids(notebook)
    shared = sorted(((len(present & lesson.grade_ids), lesson) for lesson in lessons), reverse=True, key=lambda s: s[0])
    if not shared or not shared[0][0] or (len(shared) > 1 and shared[0][0] == shared[1][0]):
        return None
    return shared[0][1]


def _slug(file_name):
    """Letters and digits of a name without its ending: ``Copy of 02_how (1).ipynb`` -> ``copyof02how1``."""
    stem = unicodedata.normalize("NFKC", file_name).casefold().removesuffix(".ipynb")
    return re.sub(r"[\W_]+", "", stem)
