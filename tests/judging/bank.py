"""The bank of answers: tests/answers/<lesson>/<exercise>.toml, with tables ``right`` and ``wrong``.

A row has a ``name`` and either ``code``, a whole cell, or ``replace`` and ``by``, an edit of the
reference solution that must fit it exactly once (``edits`` lists several such pairs). A wrong row also has ``hint``,
a part of the message it must get, and ``fails``, the parts of the exercise it must lose; without
``fails`` it loses all of them.
"""

import tomllib
from dataclasses import dataclass

from tests.judging.lesson import ROOT, lesson_names, read_lesson

ANSWERS = ROOT / "tests" / "answers"
KEYS = {"name", "code", "replace", "by", "edits", "hint", "fails"}


@dataclass(frozen=True)
class Answer:
    """One answer to one exercise, with the verdict it must get."""

    lesson: str
    exercise: str
    name: str
    code: str
    hint: str
    fails: frozenset[str]  # grade ids of the test cells that must fail; none for a right answer

    @property
    def is_right(self):
        return not self.fails

    def __str__(self):
        return f"{self.lesson}:{self.exercise}:{'right' if self.is_right else 'wrong'}:{self.name}"


def read_bank(lesson_name, exercise_name):
    """All answers to an exercise. ValueError names the row that no longer fits the solution."""
    path = ANSWERS / lesson_name / f"{exercise_name}.toml"
    if not path.exists():
        return []
    exercise = read_lesson(lesson_name).exercises[exercise_name]
    bank = tomllib.loads(path.read_text(encoding="utf-8"))
    answers = []
    for kind in ("right", "wrong"):
        for row in bank.get(kind, []):
            where = f"{path.relative_to(ROOT)}, {kind} answer {row.get('name')!r}"
            if set(row) - KEYS:
                raise ValueError(f"{where}: unknown keys {sorted(set(row) - KEYS)}")
            fails = frozenset()
            if kind == "wrong":
                parts = row.get("fails", [exercise.part(test_id) for test_id in exercise.tests])
                fails = frozenset(f"test_{exercise_name}_{part}" if part else f"test_{exercise_name}" for part in parts)
                if not fails or fails - set(exercise.tests):
                    raise ValueError(f"{where}: fails {sorted(parts)}, but the test cells are {sorted(exercise.tests)}")
            code = _code(row, exercise.solution, where)
            answers.append(Answer(lesson_name, exercise_name, row["name"], code, row.get("hint", ""), fails))
    return answers


def _code(row, solution, where):
    if "code" in row:
        return row["code"]
    for old, new in row.get("edits") or [(row["replace"], row["by"])]:
        if solution.count(old) != 1:
            raise ValueError(f"{where}: {old!r} stands {solution.count(old)} times in the solution, wanted once")
        solution = solution.replace(old, new)
    return solution


def all_answers():
    """Every answer of the bank."""
    return [
        answer
        for lesson_name in lesson_names()
        for exercise_name in read_lesson(lesson_name).exercises
        for answer in read_bank(lesson_name, exercise_name)
    ]
