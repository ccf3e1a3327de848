"""The tables of docs/grading.md, made from those that the tests run; ``python -m tests.grading.tables`` writes them."""

import re
from pathlib import Path

from course.grading.intake import Verdict
from course.grading.intake.reaching import SAID
from tests.grading import test_examination, tricks
from tests.grading.intake import test_honest, test_not_gradable, test_remarks, test_repairs

PAGE = Path(__file__).parents[2] / "docs" / "grading.md"


def words(case):
    return case.__name__.replace("_", " ")


def intake_rows():
    """What is handed in, the verdict, and what is said of it."""
    for change, *_ in test_honest.ROWS:
        yield words(change), Verdict.GRADED, "nothing"
    for change, _, repair in test_repairs.ROWS:
        yield words(change), Verdict.GRADED, f"repaired: {repair}"
    for change, _, remark in test_remarks.ROWS:
        yield words(change), Verdict.REMARKS, f"remark: {remark}"
    for change, says in test_not_gradable.ROWS:
        yield words(change), Verdict.NOT_GRADABLE, f"reason: … {says} …"


def disaster_rows():
    """What an answer does when a test calls it, and what the test says."""
    for case, (_, points, message) in test_examination.DISASTERS.items():
        yield case, "all" if points else "none", f"… {message} …" if message else "nothing"


def trick_rows():
    """What is tried, its points, and the kinds of remark."""
    for trick in tricks.TRICKS:
        yield trick.name, "0", ", ".join(sorted(trick.remarks))
    for change in tricks.HONEST:
        yield f"honest: {words(change)}", "all", "none"


def kind_rows():
    """What the kinds of remark about an answer's text mean."""
    yield from ((kind, said) for kind, said in SAID.items())


TABLES = {
    "intake": (("handed in", "verdict", "what is said"), intake_rows),
    "disasters": (("a test calls an answer with", "points", "what the test says"), disaster_rows),
    "tricks": (("tried", "points", "remarks"), trick_rows),
    "kinds": (("remark", "the code …"), kind_rows),
}


def table(name):
    """One table as Markdown."""
    head, rows = TABLES[name]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows()))


def with_tables(text):
    """The page's text with each table between its two marks as the tests have it."""
    for name in TABLES:
        marked = re.compile(rf"(<!-- table: {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            raise ValueError(f"docs/grading.md has no place for the table {name}")
        text = marked.sub(lambda found, name=name: f"{found[1]}\n{table(name)}\n\n{found[2]}", text)
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
