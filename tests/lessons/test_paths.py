"""Minutes and points add up: lessons, their headings, nbgrader's metadata, the guide and the README say the same."""

import itertools
import re

import pytest

from tests.judging.lesson import ROOT, lesson_names, read_lesson
from tests.judging.outline import announcements, graded_points, title

GUIDE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMES = lesson_names()
CORE = [name for name in NAMES if name < "05"]

# What the lessons promise: (minutes, points), and the points of every exercise.
LESSONS = {
    "01_foundations": (30, 10),
    "02_how_it_works": (50, 25),
    "03_practice": (45, 45),
    "04_pitfalls_and_review": (25, 20),
    "05_going_further": (60, 40),
    "06_real_heads": (45, 40),
}
POINTS = {
    "01_foundations": {"weighted_average": 3, "head_width": 2, "order_question": 2, "key_terms": 3},
    "02_how_it_works": {
        "scaled_dot_product_attention": 8,
        "split_heads": 4,
        "merge_heads": 3,
        "parameter_count": 2,
        "repaired_positional_encoding": 3,
        "mask_question": 1,
        "scale_question": 1,
        "shape_question": 1,
        "average_question": 1,
        "batch_question": 1,
    },
    "03_practice": {
        "MultiHeadAttention": 8,
        "MultiHeadAttentionFromScratch": 12,
        "positional_encoding": 8,
        "plot_positional_encoding": 5,
        "add_positional_encoding": 3,
        "order_sensitivity": 4,
        "interpretation": 5,
    },
    "04_pitfalls_and_review": {
        "positional_encoding": 3,
        "add_positional_encoding": 3,
        "scaled_dot_product_attention": 3,
        "split_heads": 3,
        "review_advantage": 2,
        "review_necessity": 2,
        "review_visualisation": 2,
        "best_practice_question": 2,
    },
    "05_going_further": {
        "LearnedPositionalEncoding": 6,
        "rotation_matrix": 6,
        "rotate": 8,
        "alibi_bias": 6,
        "ablate_head": 6,
        "extrapolation": 8,
    },
    "06_real_heads": {
        "load_layer": 4,
        "previous_token_score": 3,
        "next_token_score": 1,
        "self_score": 1,
        "strongest_head": 2,
        "rest_question": 2,
        "delimiter_score": 4,
        "attention_entropy": 4,
        "position_question": 2,
        "head_importance": 5,
        "cosine_by_distance": 4,
        "evidence": 8,
    },
}


def table(text, *columns):
    """Rows of the Markdown table with these columns, as tuples of cells; links and code marks are taken off."""
    lines = iter(text.splitlines())
    for line in lines:
        if cells(line) == columns:
            next(lines)  # the dashes
            return [cells(row) for row in itertools.takewhile(lambda row: row.startswith("|"), lines)]
    raise ValueError(f"no table with the columns {columns}")


def cells(line):
    """The cells of a table's line."""
    return tuple(re.sub(r"\[?`([^`]+)`(\]\([^)]*\))?", r"\1", cell.strip()) for cell in line.strip("|").split("|"))


def numbers(*values):
    return tuple(map(str, values))


def minutes(name, path=None):
    """Minutes of a lesson's exercises, all or those on a path."""
    return sum(exercise.minutes for exercise in announcements(name) if path is None or path in exercise.paths)


def points_on(name, path):
    return sum(exercise.points for exercise in announcements(name) if path in exercise.paths)


def by_hand(name):
    """Points that somebody has to read for: those of the task cells."""
    metas = [cell.metadata.get("nbgrader", {}) for cell in read_lesson(name).notebook.cells]
    return sum(meta["points"] for meta in metas if meta.get("task"))


@pytest.mark.parametrize("name", NAMES)
def test_title_states_what_was_promised(name):
    found = title(name)
    assert (found.minutes, found.points) == LESSONS[name]


@pytest.mark.parametrize("name", NAMES)
def test_every_graded_exercise_is_announced_with_its_points(name):
    announced = {exercise.name: exercise.points for exercise in announcements(name)}
    assert announced == graded_points(name)
    assert announced == POINTS.get(name, announced)
    assert sum(announced.values()) == title(name).points


@pytest.mark.parametrize("name", NAMES)
def test_exercises_fit_into_the_lesson(name):
    assert minutes(name) <= title(name).minutes


@pytest.mark.parametrize("name", NAMES)
def test_shorter_path_is_part_of_the_longer(name):
    assert all(90 in exercise.paths for exercise in announcements(name) if 60 in exercise.paths)
    assert name in CORE or not any(exercise.paths for exercise in announcements(name)), "extensions are off the paths"


def test_core_is_a_hundred_points_in_two_and_a_half_hours():
    assert sum(title(name).points for name in CORE) == 100
    assert sum(title(name).minutes for name in CORE) == 150


def test_guide_lists_the_lessons():
    rows = table(GUIDE, "lesson", "sections", "minutes", "exercises", "points", "by hand")
    sections = {name: re.sub(r"^Sections? ", "", title(name).sections) for name in NAMES}
    expected = {
        name: numbers(sections[name], title(name).minutes, minutes(name), title(name).points, by_hand(name))
        for name in NAMES
    }
    expected["core"] = numbers("1 to 9", 150, sum(map(minutes, CORE)), 100, sum(map(by_hand, CORE)))
    assert {row[0]: row[1:] for row in rows} == expected
    assert len(rows) == len(expected)


def test_guide_lists_the_exercises():
    rows = table(GUIDE, "lesson", "exercise", "points", "minutes", "path")
    expected = [
        (name[:2], item.name, *numbers(item.points, item.minutes), ", ".join(map(str, item.paths)) or "–")
        for name in NAMES
        for item in announcements(name)
    ]
    assert rows == expected, "\n".join("| {} | `{}` | {} | {} | {} |".format(*row) for row in expected)


@pytest.mark.parametrize("path", [60, 90])
def test_path_adds_up(path):
    rows = [
        row[1:] for row in table(GUIDE, "path", "lesson", "shown", "exercises", "sum", "points") if row[0] == str(path)
    ]
    *lessons, total = [(name, *map(int, cells)) for name, *cells in rows]
    assert [name for name, *_ in lessons] == CORE
    for name, shown, exercises, both, points in lessons:
        assert (exercises, points) == (minutes(name, path), points_on(name, path)), name
        assert both == shown + exercises, name
        assert shown <= title(name).minutes - minutes(name), f"{name} has less than that to show"
    assert total == ("all", *(sum(column) for column in list(zip(*lessons, strict=True))[1:]))
    assert total[3] == path


def test_misconceptions_point_at_exercises_that_exist():
    rows = re.search(r"\| students believe .*?\n\n", GUIDE, re.DOTALL).group().splitlines()[2:]
    named = {name for row in rows if row for name in re.findall(r"`(\w+)`", row.split("|")[3])}
    graded = {name for lesson in NAMES for name in graded_points(lesson)}
    assert len(rows) >= 12
    assert named <= graded, named - graded


def test_readme_lists_the_lessons():
    rows = table(README, "lesson", "what it is about", "minutes", "points")
    listed = {name: (int(lesson_minutes), int(points)) for name, _, lesson_minutes, points in rows}
    assert listed == LESSONS
    assert {name: (title(name).minutes, title(name).points) for name in NAMES}.items() <= listed.items()


def test_table_ends_where_the_next_begins():
    text = "| a | b |\n|---|---|\n| `one` | 2 |\n\n| c | d |\n|---|---|\n| 3 | 4 |\n"
    assert table(text, "a", "b") == [("one", "2")]
    assert table(text, "c", "d") == [("3", "4")]
