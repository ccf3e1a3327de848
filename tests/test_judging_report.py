"""docs/judging.md, built by make judge, speaks of the exercises and the bank as they are."""

import re

from tests.judging.bank import read_bank
from tests.judging.lesson import ROOT, lesson_names, read_lesson

ROW = re.compile(r"^\| (\w+) \| (\w+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|", re.MULTILINE)


def test_report_is_in_step_with_the_bank():
    rows = {
        (row[0], row[1]): tuple(map(int, row[2:])) for row in ROW.findall((ROOT / "docs" / "judging.md").read_text())
    }
    for lesson in lesson_names():
        for name, exercise in read_lesson(lesson).exercises.items():
            if not exercise.is_question:
                answers = read_bank(lesson, name)
                right = sum(answer.is_right for answer in answers)
                found = rows.pop((lesson, name))
                assert (found[0], found[2]) == (right, len(answers) - right), f"{name}: run make judge"
                assert found[1] == found[3] == 0, f"{name}: an answer gets the wrong verdict"
                assert found[5] + found[6] == found[4], f"{name}: a mutant lives unlisted"
    assert rows == {}
