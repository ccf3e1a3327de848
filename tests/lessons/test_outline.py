"""The lesson is all there, in its order, at a pace that can be followed; each kind of gap is named."""

import re
from pathlib import Path

import jupytext
import pytest

from tests.judging.lesson import ROOT, SOLUTION, lesson_names, read_lesson
from tests.judging.outline import PATHS, headings, lines_of, visible, words

INSTRUCTORS = ROOT / "docs" / "instructors.md"
CORE = ("01_foundations", "02_how_it_works", "03_practice", "04_pitfalls_and_review")
LONGEST_CODE, LONGEST_ANSWER, LONGEST_PROSE, CODE_IN_A_ROW = 15, 25, 120, 2

# The lesson's own headings, in British spelling, and under each the words that its parts begin with.
OUTLINE = {
    "1. Welcome and Introduction (5 minutes)": [],
    "Icebreaker Activity": ["Have you ever wondered how a model can focus on different parts of a sentence"],
    "Lesson Overview": ["Duration", "Prerequisites", "Materials needed"],
    "2. Learning Objectives and Session Outline (5 minutes)": [
        "explain the purpose and mechanics of multi-head attention",
        "describe and implement positional encoding",
        "analyse how these components enhance the Transformer architecture",
    ],
    "What We'll Cover Today": [
        "The motivation for multi-head attention",
        "How multi-head attention works and why it is effective",
        "The need for positional encoding in Transformers",
        "Implementing and visualising positional encoding",
        "Hands-on practice and exercises",
        "Common pitfalls and how to avoid them",
    ],
    "Success Criteria": ["you should be able to implement and explain"],
    "3. Foundation Knowledge (15-20 minutes)": [],
    "Core Concepts": [],
    "Multi-Head Attention": ["Real-world analogy", "team of experts", "Why this matters"],
    "Positional Encoding": ["Transformers lack recurrence"],
    "Key Terminology": ["key_terms"],
    "4. Detailed Explanation and Examples (25-30 minutes)": [],
    "Understanding Multi-Head Attention": ["projects the input", "concatenated and linearly transformed", "subspaces"],
    "Practical Applications": ["Machine translation", "Text summarisation"],
    "Common Misconceptions": [
        "More heads always mean better performance",
        "Reality",
        "Positional encoding is only needed for long sequences",
        "Reality",
    ],
    "5. Live Coding Demonstration (20-25 minutes)": [],
    "Example 1: Multi-Head Attention Skeleton (PyTorch)": ["Explanation", "computes attention in parallel"],
    "Example 2: Implementing Positional Encoding (NumPy)": ["Key points"],
    "Example 3: Visualising Positional Encodings": [],
    "Debugging Demonstration": ["d_model"],
    "6. Hands-On Practice (30-40 minutes)": [],
    "Exercise 1: Basic Practice (10 minutes)": ["Objective", "Instructions", "Starter code"],
    "Exercise 2: Intermediate Challenge (15 minutes)": ["Objective", "Requirements", "Hints"],
    "Exercise 3: Creative Application (15 minutes)": ["Objective", "Challenge"],
    "Extension Ideas": ["learned", "length"],
    "7. Common Pitfalls and Troubleshooting (10 minutes)": [],
    "Frequent Mistakes": ["Mismatched dimensions", "Cause", "Solution", "Forgetting to add", "Cause", "Solution"],
    "Debugging Tips": [
        "Print tensor shapes at each step",
        "Visualise positional encodings",
        "Use small test cases to verify implementation",
    ],
    "8. Best Practices and Professional Tips (5 minutes)": [],
    "Industry Standards": [
        "Use multi-head attention for all Transformer models",
        "Always include positional encoding",
        "Document model architecture and hyperparameters",
    ],
    "Next Steps in Your Learning Journey": [
        "Explore full Transformer encoder and decoder stacks",
        "Learn about training objectives",
        "Try implementing a mini-Transformer",
    ],
    "9. Summary and Review (5 minutes)": [],
    "Key Takeaways": [
        "Multi-head attention enables the model to capture diverse relationships",
        "Positional encoding is essential for sequence understanding in Transformers",
        "Careful implementation and visualisation help avoid common mistakes",
    ],
    "Quick Review Questions": [
        "What is the main advantage of multi-head attention?",
        "Why is positional encoding necessary in Transformers?",
        "How can you visualise positional encodings?",
    ],
}
FOR_INSTRUCTORS = ("Teaching tips", "Assessment ideas", "Adaptation notes")


def core_text():
    """The Markdown of the core lessons, one after the other."""
    notebooks = [read_lesson(name).notebook for name in CORE]
    return "\n\n".join(cell.source for book in notebooks for cell in book.cells if cell.cell_type == "markdown")


def missing_headings(text, outline=tuple(OUTLINE)):
    """Headings of the outline that are not in the text, or not behind the one before."""
    found, missing = iter(headings(text)), []
    present = headings(text)
    for heading in outline:
        if heading not in present:
            missing.append(f"{heading}: missing")
        elif heading not in found:  # looks on from where the last one was found
            missing.append(f"{heading}: not in its place")
            found = iter(present)
    return missing


def section(text, heading):
    """The text below a heading, up to the outline's next."""
    begin = re.search(rf"^#+ {re.escape(heading)}$", text, re.MULTILINE).end()
    order = list(OUTLINE)
    following = order[order.index(heading) + 1 :][:1]
    end = re.search(rf"^#+ {re.escape(following[0])}$", text, re.MULTILINE).start() if following else len(text)
    return text[begin:end]


def missing_parts(text, parts):
    """Those parts that do not occur, each behind the one before, whatever their case."""
    place, text = 0, " ".join(text.split()).lower()
    for part in parts:
        place = text.find(part.lower(), place)
        if place < 0:
            return [part]
        place += len(part)
    return []


def test_every_heading_is_there_in_order():
    assert missing_headings(core_text()) == []


@pytest.mark.parametrize("heading", [heading for heading, parts in OUTLINE.items() if parts])
def test_every_part_of_a_section_is_there(heading):
    assert missing_parts(section(core_text(), heading), OUTLINE[heading]) == []


def test_every_numbered_section_has_its_timing():
    numbered = [heading for heading in headings(core_text()) if re.match(r"\d+\. ", heading)]
    assert [heading[0] for heading in numbered] == list("123456789")
    assert all(re.search(r"\(\d+(-\d+)? minutes\)$", heading) for heading in numbered)


def test_part_for_instructors_is_in_their_guide():
    text = INSTRUCTORS.read_text(encoding="utf-8")
    assert missing_headings(text, FOR_INSTRUCTORS) == []


@pytest.mark.parametrize("name", lesson_names())
def test_pace(name):
    assert pace_faults(name, read_lesson(name).notebook) == []


@pytest.mark.parametrize("name", lesson_names())
def test_every_exercise_is_tested_behind_the_students_back(name):
    for exercise in read_lesson(name).exercises.values():
        assert exercise.tests, f"{name}: {exercise.name} has no test cell"
        for test_id, test in exercise.tests.items():
            hidden = re.search(r"### BEGIN HIDDEN TESTS\n(.*?)### END HIDDEN TESTS", test, re.DOTALL)
            assert hidden and re.search(r"\.(add|key)\(", hidden.group(1)), f"{name}: {test_id} hides no check"


def pace_faults(name, notebook):
    """Sentences about cells that are too long, and about code that follows code without a word between."""
    faults, in_a_row = [], 0
    for number, cell in enumerate(notebook.cells, start=1):
        where = f"{name}, cell {number}"
        if cell.cell_type == "markdown":
            in_a_row = 0
            if words(cell) > LONGEST_PROSE:
                faults.append(f"{where}: {words(cell)} words of prose, at most {LONGEST_PROSE}")
            continue
        if lines_of(visible(cell)) > LONGEST_CODE:
            faults.append(f"{where}: {lines_of(visible(cell))} lines of code, at most {LONGEST_CODE}")
        for answer in SOLUTION.findall(cell.source + "\n"):
            if lines_of(answer) > LONGEST_ANSWER:
                faults.append(f"{where}: an answer of {lines_of(answer)} lines, at most {LONGEST_ANSWER}")
        in_a_row += "nbgrader" not in cell.metadata
        if in_a_row > CODE_IN_A_ROW:
            faults.append(f"{where}: more than {CODE_IN_A_ROW} code cells in a row")
    return faults


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# %%\n" + "x = 1\n" * 16, "cell 1: 16 lines of code"),
        ('# %% [markdown]\n"""\n' + "word " * 121 + '\n"""', "cell 1: 121 words"),
        ("# %%\nx = 1\n\n# %%\nx = 2\n\n# %%\nx = 3\n", "cell 3: more than 2 code cells in a row"),
        ("# %%\n### BEGIN SOLUTION\n" + "x = 1\n" * 26 + "### END SOLUTION\n", "an answer of 26 lines"),
    ],
)
def test_each_fault_of_pace_is_named(text, sentence):
    notebook = jupytext.reads(text, {"format_name": "percent", "extension": ".py", "cell_markers": '"""'})
    assert [fault for fault in pace_faults("lesson", notebook) if sentence in fault]


def test_hints_formulas_and_rubrics_are_not_prose():
    text = "one two\n\n<details><summary>Hint</summary>\n\nthree\n</details>\n\n$$a + b$$\n\n| four |\n"
    notebook = jupytext.reads(f'# %% [markdown]\n"""\n{text}"""', "py:percent")
    assert words(notebook.cells[0]) == 2


def test_missing_and_misplaced_headings_are_named():
    text = "## One\n\n## Three\n\n## Two\n"
    assert missing_headings(text, ("One", "Two", "Three", "Four")) == ["Three: not in its place", "Four: missing"]


def test_markers_of_paths_differ():
    assert len({*PATHS.values()}) == len(PATHS)


def test_outline_names_every_core_lesson():
    assert [name for name in lesson_names() if name in CORE] == list(CORE)
    assert Path(INSTRUCTORS).exists()
