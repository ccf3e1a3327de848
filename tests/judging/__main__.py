"""``make judge``: how the tests of every exercise judge the bank of answers and the mutants; also docs/judging.md."""

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread for each worker, before torch is imported

from tqdm import tqdm

from tests.judging.bank import read_bank
from tests.judging.lesson import ROOT, lesson_names, read_lesson
from tests.judging.mutants import equivalents, mutants, survives
from tests.judging.verdict import judge

COLUMNS = ("lesson", "exercise", "right", "refused", "wrong", "accepted", "mutants", "killed", "equivalent", "seconds")
PREFACE = """# How the tests judge

Built by `make judge`. For each exercise: right answers in the bank and how many of them the tests refuse; wrong
answers and how many they accept; mutants of the solution, how many are killed, and how many of the others are
listed as equivalent, with the reason, in `tests/answers/`.

"""


def row(lesson_name, exercise_name):
    """The figures of one exercise, as the columns name them."""
    started, lesson = time.perf_counter(), read_lesson(lesson_name)
    exercise = lesson.exercises[exercise_name]
    answers = read_bank(lesson_name, exercise.name)
    right = [answer for answer in answers if answer.is_right]
    wrong = [answer for answer in answers if not answer.is_right]
    refused = sum(bool(judge(lesson, exercise, answer.code).failures) for answer in right)
    accepted = sum(not judge(lesson, exercise, answer.code).failures for answer in wrong)
    made = mutants(exercise.solution)
    alive = [mutant for mutant in made if survives(lesson, exercise, mutant)]
    listed = sum(mutant.after in equivalents(lesson_name, exercise.name) for mutant in alive)
    figures = (len(right), refused, len(wrong), accepted, len(made), len(made) - len(alive), listed)
    return (lesson_name, exercise.name, *figures, f"{time.perf_counter() - started:.1f}")


def table(rows):
    """Markdown of the rows, with a line of sums."""
    sums = [sum(float(one[column]) for one in rows) for column in range(2, len(COLUMNS))]
    lines = [COLUMNS, ["---"] * len(COLUMNS), *rows, ["all", "", *(f"{value:g}" for value in sums)]]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines) + "\n"


def main():
    """Judge everything; exit status 1 when any answer or mutant gets a verdict that it does not deserve."""
    exercises = [
        (lesson, name)
        for lesson in lesson_names()
        for name, exercise in read_lesson(lesson).exercises.items()
        if not exercise.is_question
    ]
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        rows = list(tqdm(workers.map(row, *zip(*exercises, strict=True)), total=len(exercises), unit="exercise"))
    text = table(rows)
    (ROOT / "docs" / "judging.md").write_text(PREFACE + text, encoding="utf-8")
    print(text)
    sys.exit(any(one[3] or one[5] or one[6] - one[7] - one[8] for one in rows))


if __name__ == "__main__":
    main()
