"""Exams held from outside the sandbox: limits, faulty tests, and the same verdicts as inside one process."""

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.utils import determine_grade, is_grade

from course.grading.examination import ExaminedExecute
from course.grading.warm.execute import warmed
from tests.grading.sandbox.conftest import small_limits
from tests.judging.bank import read_bank
from tests.judging.lesson import lesson_names, read_lesson

IMPORTS = "from course.checks import Exam, Question, heads"
EXAM = "Exam('{}', heads.widths(cases=[(8, 2, 4)])).run()"
RIGHT = "def {}(d_model, num_heads):\n    {}\n    return d_model // num_heads"

# What an exercise does when a test calls it: (code, points of 2, a part of the message).
DISASTERS = {
    "endless loop": ("while True: pass", 0, "gave no result: it reached the time limit of 5 s"),
    "loop that ignores interrupts": (
        "while True:\n        try:\n            while True: pass\n        except BaseException: pass",
        0,
        "gave no result: it reached the time limit of 5 s",
    ),
    "one long call in C": ("sum(range(10**13))", 0, "gave no result: it reached the time limit of 5 s"),
    "end of the process": ("import os; os._exit(0)", 0, "gave no result: it ended the Python process"),
    "crash": ("import ctypes; ctypes.string_at(0)", 0, "gave no result: it ended the Python process"),
    "fork bomb": (
        "import os\n    while True:\n        try: os.fork()\n        except OSError: pass",
        0,
        "gave no result: it reached the limit of 48 processes",
    ),
    "out of memory": ("bytearray(400 * 2**20)", 0, "MemoryError"),
    "flood past every stream": (
        "import os\n    while True: os.write(1, b'x' * 4096)",
        0,
        "gave no result: it",
    ),
    "result too large to look at": ("import numpy; return numpy.zeros(2**20)", 0, "at most 8 can be looked at"),
    "exit()": ("exit()", 0, "raised ExitRefused"),
    "sys.exit": ("raise SystemExit", 0, "raised SystemExit"),
    "input()": ("input('name?')", 0, "raised StdinNotImplementedError"),
    "breakpoint": ("breakpoint()", 2, ""),
    "prints and warns": ("import sys, warnings; print('x', file=sys.stderr); warnings.warn('y')", 2, ""),
}
FAULTY = {
    "no exam": "1 + 1",
    "an exam that is never run": "exam = " + EXAM.removesuffix(".run()").format("on_faulty"),
    "a second exam that is never run": EXAM.format("on_faulty") + "\nExam('on_faulty')",
    "an exam without checks": "Exam('on_faulty').run()",
    "a question without a key": "Question('letter', letters='AB').run()",
    "an exception": "heads.nothing()",
    "plain asserts, which the student's names do not reach": "assert on_faulty(8, 2) == 4",
}


def name_of(case):
    return "on_" + "".join(letter if letter.isalnum() else "_" for letter in case)


def solution_cell(name, source):
    return new_code_cell(source, metadata={"nbgrader": {"grade_id": name, "solution": True, "grade": False}})


def test_cell(name, source):
    mark = {"grade_id": f"test_{name}", "solution": False, "grade": True, "locked": True, "points": 2}
    return new_code_cell(source, metadata={"nbgrader": mark})


test_cell.__test__ = False


class Examined:
    """A notebook after it was examined: points, texts and marks by grade id."""

    def __init__(self, cells, execute=ExaminedExecute, **options):
        self.notebook, _ = execute(**options).preprocess(new_notebook(cells=cells), {})
        graded = [cell for cell in self.notebook.cells if cell.cell_type == "code" and is_grade(cell)]
        self.points = {cell.metadata.nbgrader.grade_id: determine_grade(cell)[0] for cell in graded}
        self.texts = {
            cell.metadata.nbgrader.grade_id: "".join(o.get("text") or o.get("evalue") for o in cell.outputs)
            for cell in graded
        }


@pytest.fixture(scope="module")
def wrecked(sandbox):
    """Every disaster in one notebook, a right exercise before and one after all of them."""
    config, cells = small_limits(), []
    config.Execute.timeout = 5
    for case, body in {"first": "pass", **{case: row[0] for case, row in DISASTERS.items()}, "last": "pass"}.items():
        name = name_of(case)
        cells += [solution_cell(name, RIGHT.format(name, body)), test_cell(name, EXAM.format(name))]
    return Examined(cells, setup=IMPORTS, config=config)


@pytest.mark.parametrize("case", DISASTERS)
def test_a_disaster_in_an_exam_costs_its_own_exercise_only(wrecked, case):
    _, points, words = DISASTERS[case]
    test = f"test_{name_of(case)}"
    assert words in wrecked.texts[test]
    assert wrecked.points[test] == points


def test_the_notebook_lists_the_tests_whose_answer_was_stopped(wrecked):
    stopped = {event["cell"]: event["ending"] for event in wrecked.notebook.metadata.course_grading.stopped}
    assert stopped[f"test_{name_of('endless loop')}"] == "time"
    assert stopped[f"test_{name_of('end of the process')}"] == "died"
    assert stopped[f"test_{name_of('fork bomb')}"] == "processes"


def test_exercises_before_and_after_all_disasters_earn_their_points(wrecked):
    assert [wrecked.points["test_on_first"], wrecked.points["test_on_last"]] == [2, 2]


@pytest.fixture(scope="module")
def faulty(sandbox):
    cells = [new_code_cell(RIGHT.format("on_faulty", "pass") + "\nletter = 'A'")]
    cells += [test_cell(case, source) for case, source in FAULTY.items()]
    cells += [test_cell("sound", EXAM.format("on_faulty"))]
    return Examined(cells, setup=IMPORTS)


@pytest.mark.parametrize("case", FAULTY)
def test_a_test_that_proves_nothing_earns_nothing_and_is_said_to_be_the_course_s_mistake(faulty, case):
    assert faulty.points[f"test_{case}"] == 0
    assert "a mistake of the course and not yours" in faulty.texts[f"test_{case}"]
    assert f"test_{case}" in [fault["cell"] for fault in faulty.notebook.metadata.course_grading.faults]


def test_a_faulty_test_harms_no_other(faulty):
    assert faulty.points["test_sound"] == 2
    assert "Faulty tests" in faulty.notebook.cells[0].source


class OverAfterOneExercise(warmed(ExaminedExecute)):
    def is_over(self):
        return len(self.history) > 1


def test_no_test_asks_once_the_time_of_the_submission_is_used_up(sandbox):
    names, cells = ("on_time", "late", "later"), []
    for name in names:
        cells += [solution_cell(name, RIGHT.format(name, "pass")), test_cell(name, EXAM.format(name))]
    cells.insert(2, new_code_cell("spent = True"))
    examined = Examined(cells, OverAfterOneExercise, setup=IMPORTS)
    assert examined.points == {"test_on_time": 2, "test_late": 0, "test_later": 0}
    assert "what came before it used up the 900 s of a whole submission" in examined.texts["test_late"]
    assert [event["ending"] for event in examined.notebook.metadata.course_grading.stopped] == ["total"]


def test_what_a_student_s_code_says_moves_no_cursor_and_turns_no_line(sandbox):
    body = "raise ValueError('\\x1b[2J\\u202e\\x00 <b>')"
    cells = [solution_cell("loud", RIGHT.format("loud", body)), test_cell("loud", EXAM.format("loud"))]
    text = Examined(cells, warmed(ExaminedExecute), setup=IMPORTS).texts["test_loud"]
    assert "raised ValueError: �[2J�� <b>" in text
    assert all(line.isprintable() for line in text.splitlines())


BROKEN_CELLS = {
    "quotes": (
        "letter = “A”",
        "Its cell ended with SyntaxError: invalid character '“' (U+201C) in line 1; mend that first.",
    ),
    "import": (
        "import nowhere\nletter = 'A'",
        "Its cell ended with ModuleNotFoundError: No module named 'nowhere'; mend",
    ),
    "keyboard": ("letter = input()", "Its cell ended with StdinNotImplementedError: "),
    "loop": ("while True: pass\nletter = 'A'", "was stopped at its time limit of 3 s: look for a loop"),
    "another name": ("lettre = 'A'", "Write one of the letters A, B"),
    "an error below": ("letter = 'B'\n1 / 0", "because"),
}


@pytest.fixture(scope="module")
def broken(sandbox):
    config, cells = small_limits(), []
    config.Execute.timeout = 3
    test = "q = Question('{0}', letters='AB')\nq.key('A', {{'A': 'right', 'B': 'because'}})\nq.run()"
    for case, (source, _) in BROKEN_CELLS.items():
        name = name_of(case)
        cells += [solution_cell(name, source.replace("letter", name)), test_cell(name, test.format(name))]
    return Examined(cells, warmed(ExaminedExecute), setup=IMPORTS, config=config)


@pytest.mark.parametrize("case", BROKEN_CELLS)
def test_an_answer_that_is_missing_for_an_error_in_its_cell_is_told_with_that_error(broken, case):
    assert BROKEN_CELLS[case][1] in broken.texts[f"test_{name_of(case)}"]


@pytest.mark.parametrize("lesson_name", [name for name in lesson_names() if name < "05"])
def test_verdicts_are_those_of_one_process(sandbox, lesson_name):
    """Of every six answers of the bank one, right and wrong, all in one process of the student's."""
    lesson = read_lesson(lesson_name)
    cells, wanted = [new_code_cell(lesson.setup)], {}
    cells += [new_code_cell(exercise.solution) for exercise in lesson.exercises.values()]
    for exercise in lesson.exercises.values():
        for answer in read_bank(lesson_name, exercise.name)[::6]:
            cells.append(new_code_cell(answer.code))
            for test_id, source in exercise.tests.items():
                cells.append(test_cell(f"{answer} {test_id}", source))
                wanted[f"test_{answer} {test_id}"] = 0 if test_id in answer.fails else 2
        cells.append(new_code_cell(exercise.solution))
    examined = Examined(cells, warmed(ExaminedExecute), setup=lesson.setup)
    assert {name: points for name, points in examined.points.items() if points != wanted[name]} == {}
    assert set(wanted.values()) == {0, 2}
