"""The page and its tables: the same numbers, no student named, nothing loaded, readable by machine."""

import csv
import io
import itertools
import re

import nbformat
import numpy as np
import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from course.commands.report import command
from course.grading.report.gather import exercise_of, failure_message
from course.grading.report.sections import section_of_exercises, taught_sections
from course.grading.report.timing import active_minutes
from tests.grading.conftest import nbgrader_mark

LESSON = "02_how_it_works"


@pytest.fixture
def report(graded_class):
    """report(students, *arguments) -> (result, page, {table: records}, class)."""

    def run(students=24, *arguments):
        graded = graded_class(students)
        result = CliRunner().invoke(command, ["--course-dir", str(graded.root), *arguments])
        folder = graded.root / "reports"
        page = BeautifulSoup((folder / "report.html").read_text("utf-8"), "html.parser") if folder.is_dir() else None
        tables = {
            path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig")))) for path in folder.glob("*.csv")
        }
        return result, page, tables, graded

    return run


def test_shares_and_hints_are_those_of_the_class(report):
    result, _, tables, graded = report()
    assert result.exit_code == 0, result.output
    people = [person for person in graded.people if not person.absent]
    by_name = {row["exercise"]: row for row in tables["exercises"] if row["assignment"] == LESSON}
    for name in ("split_heads", "parameter_count"):
        passed = np.mean([person.passes[name] for person in people])
        blank = np.mean([name in person.blank for person in people])
        assert float(by_name[name]["mean_share"]) == pytest.approx(passed, abs=1e-4)
        assert float(by_name[name]["blank_share"]) == pytest.approx(blank, abs=1e-4)
    hints = {r["hint"]: int(r["students"]) for r in tables["hints"] if r["exercise"] == "scaled_dot_product_attention"}
    failed = [p for p in people if not p.passes["scaled_dot_product_attention"]]
    failed = [p for p in failed if "scaled_dot_product_attention" not in p.blank]
    assert hints["Divide by the square root of d_head."] == sum(person.hint == 0 for person in failed)
    assert hints["Normalise over the keys, the last axis."] == sum(person.hint == 1 for person in failed)


def test_totals_leave_out_what_still_waits_for_a_person(report):
    _, page, tables, _ = report()
    [lesson] = [row for row in tables["lessons"] if row["assignment"] == LESSON]
    assert lesson["left_out_of_totals"] == "interpretation"
    assert lesson["max_points"] == "8"
    assert "Totals are without interpretation" in page.get_text()


def test_a_submission_that_got_no_grade_is_counted_and_spoils_no_total(graded_class):
    graded = graded_class(12)
    with Gradebook(f"sqlite:///{graded.root}/gradebook.db") as gradebook:
        gradebook.add_student("late")
        gradebook.add_submission(LESSON, "late")
        gradebook.engine.dispose()
    CliRunner().invoke(command, ["--course-dir", str(graded.root), LESSON])
    [lesson] = csv.DictReader((graded.root / "reports/lessons.csv").read_text("utf-8-sig").splitlines())
    assert (lesson["students"], lesson["ungraded"], lesson["max_points"]) == ("12", "1", "8")
    assert (
        "1 student handed in what could not be graded; ask for the file again."
        in (graded.root / "reports/report.html").read_text()
    )


def test_the_absent_are_counted_and_not_graded(report):
    _, _, tables, _ = report()
    [lesson] = [row for row in tables["lessons"] if row["assignment"] == LESSON]
    assert (lesson["students"], lesson["absent"]) == ("23", "1")


def test_the_twins_are_found_and_named_in_the_table_only(report):
    _, page, tables, graded = report()
    found = {(row["student_1"], row["student_2"]) for row in tables["look_alike"] if row["assignment"] == LESSON}
    assert ("s005", "s006") in found
    text = page.get_text()
    assert "question to ask, not a verdict" in text
    for person in graded.people:
        assert not re.search(rf"\b{person.id}\b|{re.escape(person.first)}\b", text)


def test_the_page_shows_the_numbers_of_the_tables(report):
    _, page, tables, _ = report()
    section = page.find("section", id=LESSON)
    rows = {row.th.code.get_text(): row.get_text(" ") for row in section.find_all("table")[1].tbody.find_all("tr")}
    for record in (r for r in tables["exercises"] if r["assignment"] == LESSON):
        text = rows[record["exercise"]]
        assert f"{float(record['mean_share']):.0%}" in text
        assert f"{float(record['blank_share']):.0%}" in text
    titles = [row.th.get_text() for row in section.find_all("table")[0].tbody.find_all("tr")]
    assert titles == [r["section"] for r in tables["sections"] if r["assignment"] == LESSON]


def test_reading_the_class_shows_its_progress(report):
    result, *_ = report(6)
    assert "12/12" in result.stderr  # six students, two lessons
    assert "notebooks" in result.stderr


def test_monday_starts_from_the_weakest_section(report):
    _, page, tables, _ = report()
    worst = next(row for row in tables["sections"] if row["assignment"] == LESSON)
    sentences = [item.get_text() for item in page.find("section", id=LESSON).find("ol").find_all("li")]
    assert sentences[1].startswith(f"Teach again: {worst['section']}.")
    assert len(sentences) <= 8


def test_the_page_opens_offline_and_reads_aloud(report):
    _, page, _, _ = report()
    assert page.html["lang"] == "en"
    assert not page.find_all(["script", "link", "iframe", "object"])
    assert not [tag for tag in page.find_all(src=True)]
    assert all(link["href"].startswith("#") for link in page.find_all("a"))
    levels = [int(tag.name[1]) for tag in page.find_all(re.compile("^h[1-6]$"))]
    assert levels[0] == 1 == levels.count(1)
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    assert all(table.caption and table.find("th", scope="row") for table in page.find_all("table"))
    for picture in page.find_all("svg"):
        assert picture["role"] == "img"
        assert page.find(id=picture["aria-labelledby"]).get_text().startswith("Totals of")
    ids = [tag["id"] for tag in page.find_all(id=True)]
    assert len(ids) == len(set(ids))


def test_what_was_handed_in_and_not_graded_is_told(graded_class):
    graded = graded_class(6)
    (graded.root / "submitted/new" / LESSON).mkdir(parents=True)
    result = CliRunner().invoke(command, ["--course-dir", str(graded.root)])
    assert f"Without 1 new submission, of new; run `course grade {LESSON}`" in result.stderr


def test_colours_can_be_read_in_light_and_dark(report):
    _, page, _, _ = report(6)
    palettes = re.findall(r":root {(.*?)}", page.style.get_text(), re.DOTALL)
    assert len(palettes) == 2
    for palette in palettes:
        colour = dict(re.findall(r"--(\w+): #(\w+)", palette))
        for text, ground in itertools.product(("ink", "quiet", "link"), ("paper", "tint")):
            assert contrast(colour[text], colour[ground]) >= 4.5, (text, ground)
        for shape, ground in [
            ("bar", "paper"),
            ("weak", "paper"),
            ("bar", "track"),
            ("weak", "track"),
            ("focus", "paper"),
        ]:
            assert contrast(colour[shape], colour[ground]) >= 3, (shape, ground)


def contrast(*colours):
    """The ratio of WCAG 2.2 between two colours in hexadecimal."""

    def luminance(text):
        parts = np.array(
            [int(digits * (2 // len(digits)), 16) / 255 for digits in re.findall("." * (len(text) // 3), text)]
        )
        return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def test_a_small_class_is_told_what_its_numbers_are_worth(report):
    _, page, tables, _ = report(6)
    assert "anecdote" in page.find("section", id=LESSON).get_text()
    assert {row["discrimination"] for row in tables["exercises"]} == {""}
    assert {row["alpha"] for row in tables["lessons"]} == {""}


def test_markup_in_a_message_stays_text(graded_class):
    graded = graded_class(6)
    for notebook in (graded.root / "autograded").glob(f"*/{LESSON}/*.ipynb"):
        notebook.write_text(notebook.read_text().replace("Hint: ", "Hint: <script>alert(1)</script>"))
    assert CliRunner().invoke(command, ["--course-dir", str(graded.root)]).exit_code == 0
    page = (graded.root / "reports/report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_a_damaged_or_missing_notebook_costs_only_its_own_details(graded_class):
    graded = graded_class(6)
    books = sorted((graded.root / "autograded").glob(f"*/{LESSON}/*.ipynb"))
    books[0].write_text("{ not json")
    books[1].unlink()
    result = CliRunner().invoke(command, ["--course-dir", str(graded.root), LESSON])
    assert result.exit_code == 0, result.output


def test_an_assignment_nobody_handed_in_says_so(graded_class):
    graded = graded_class(6)
    with Gradebook(f"sqlite:///{graded.root}/gradebook.db") as gradebook:
        gradebook.add_assignment("03_practice")
        gradebook.engine.dispose()
    result = CliRunner().invoke(command, ["--course-dir", str(graded.root), "03_practice"])
    assert result.exit_code == 2
    assert "nothing to report" in result.output
    both = CliRunner().invoke(command, ["--course-dir", str(graded.root), "03_practice", LESSON])
    assert both.exit_code == 0, both.output
    assert "Nobody has handed in this lesson yet." in (graded.root / "reports/report.html").read_text()


@pytest.mark.parametrize(
    ("cell", "exercise"),
    [
        ("test_split_heads", "split_heads"),
        ("test_head_width_error", "head_width"),
        ("test_head_width_values", "head_width"),
        ("interpretation", "interpretation"),
        ("test_unknown", "unknown"),
    ],
)
def test_a_part_belongs_to_its_exercise(cell, exercise):
    assert exercise_of(cell, {"split_heads", "head_width", "head", "interpretation"}) == exercise


def test_an_exercise_is_taught_where_its_headings_say(tmp_path):
    def solution(name):
        return new_code_cell("pass", metadata=nbgrader_mark(name, solution=True))

    cells = [
        new_markdown_cell("# Lesson 1"),
        new_markdown_cell("## 3. Foundation Knowledge (15-20 minutes)\n\n### Core `Concepts`"),
        new_markdown_cell("#### Exercise · `first` · 3 points\n```python\n# not a heading\n```"),
        solution("first"),
        new_markdown_cell("### Positional Encoding"),
        solution("second"),
        new_markdown_cell("## 4. Next"),
        solution("third"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "x.ipynb")
    assert section_of_exercises(tmp_path / "x.ipynb") == {
        "first": ("3. Foundation Knowledge", "Core Concepts"),
        "second": ("3. Foundation Knowledge", "Positional Encoding"),
        "third": ("4. Next",),
    }


def test_what_an_earlier_lesson_writes_is_taught_there(tmp_path):
    books = {
        "01_first": [new_markdown_cell("# One\n## Start"), new_code_cell("def f(x):\n    return x")],
        "02_second": [new_markdown_cell("# Two\n## Middle"), new_code_cell("class f:\n    pass")],
        "03_third": [
            new_markdown_cell("# Three\n## End"),
            new_code_cell("pass", metadata=nbgrader_mark("f", solution=True)),
        ],
        "04_fourth": [new_markdown_cell("# Four\n## After"), new_code_cell("def f(x):\n    return x")],
    }
    for name, cells in books.items():
        (tmp_path / name).mkdir()
        nbformat.write(new_notebook(cells=cells), tmp_path / name / f"{name}.ipynb")
    assert taught_sections(tmp_path, "03_third") == {"f": ("01_first", "Start")}


@pytest.mark.parametrize(
    ("evalue", "message"),
    [
        ("f: a ✓, b ✗\nSeen: 3\nHint: Use four.", "Use four."),
        ("f: a ✗\nSeen: 3 came", "3 came"),
        ("\x1b[31mHint: Red.\x1b[0m", "Red."),
        ("bad operand\nmore", "ValueError: bad operand"),
        ("invalid syntax (1528021217.py, line 5)", "ValueError: invalid syntax"),
        ("invalid syntax (<ipython-input-3-9f1c>, line 5)", "ValueError: invalid syntax"),
    ],
)
def test_the_hint_is_read_from_the_failing_cell(evalue, message):
    outputs = [new_output("stream", text="x"), new_output("error", ename="ValueError", evalue=evalue, traceback=[])]
    assert failure_message(outputs) == message


def test_time_at_work_shortens_breaks(tmp_path):
    stamps = ["2026-03-01T10:00:00.000Z", "2026-03-01T10:05:00.000Z", "2026-03-02T09:00:00.000Z"]
    cells = [new_code_cell(metadata={"execution": {"iopub.execute_input": stamp}}) for stamp in stamps]
    nbformat.write(new_notebook(cells=cells), tmp_path / "lab.ipynb")
    colab = [new_code_cell(metadata={"executionInfo": {"timestamp": 1_700_000_000_000 + n * 60_000}}) for n in range(3)]
    nbformat.write(new_notebook(cells=colab), tmp_path / "colab.ipynb")
    (tmp_path / "bad.ipynb").write_text("[]")
    assert active_minutes([tmp_path / "lab.ipynb"]) == 5 + 15
    assert active_minutes([tmp_path / "colab.ipynb"]) == 2
    assert np.isnan(active_minutes([tmp_path / "bad.ipynb"]))
