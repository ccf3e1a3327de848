"""Feedback: pleasant to read, and discreet; secrets are planted and looked for."""

from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import GetGrades

from course.grading.feedback import (
    FeedbackExporter,
    HideMachine,
    HideTests,
    LookAtNext,
    escape,
    feedback_preprocessors,
    shorten_paths,
)

HIDDEN = "exam = Exam('f', visible)\n### BEGIN HIDDEN TESTS\nexam.add(secret(31337))\n### END HIDDEN TESTS\nexam.run()"


def graded(source, outputs=(), **meta):
    marks = {"grade": True, "solution": False, "task": False, "grade_id": "test_f", "points": 3, "score": 0}
    return new_code_cell(source, outputs=list(outputs), metadata={"nbgrader": marks | meta})


def error(ename, evalue, traceback=("line of the test: secret(31337)",)):
    return new_output("error", ename=ename, evalue=evalue, traceback=list(traceback))


def test_hidden_tests_and_mark_schemes_are_taken_out():
    task = new_markdown_cell("Explain.\n### BEGIN MARK SCHEME\n5: all of it 31337\n### END MARK SCHEME")
    task.metadata["nbgrader"] = {"task": True, "grade": False, "solution": False}
    notebook = new_notebook(cells=[graded(HIDDEN), task])
    HideTests().preprocess(notebook, {})
    assert "31337" not in nbformat.writes(notebook)
    assert notebook.cells[0].source == "exam = Exam('f', visible)\nexam.run()"


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("CheckFailed", "f: shape ✗\nSeen: a.\nHint: b.", ["f: shape ✗", "Seen: a.", "Hint: b."]),
        ("KeyError", "'x'", ["KeyError: 'x'"]),
    ],
)
def test_an_error_of_a_test_shows_its_message_alone(name, value, shown):
    notebook = new_notebook(cells=[graded(HIDDEN, [error(name, value)])])
    HideTests().preprocess(notebook, {})
    assert notebook.cells[0].outputs[0].traceback == shown


def test_what_to_look_at_next_stands_on_top_with_points_and_hint():
    cells = [graded(HIDDEN, [error("CheckFailed", "f: shape ✗\nSeen: shape (2, 3).\nHint: Transpose k.")])]
    cells.append(graded(HIDDEN, [], grade_id="test_g", score=3))
    notebook = new_notebook(cells=cells)
    LookAtNext().preprocess(notebook, {})
    top = notebook.cells[0].source
    assert "**f** (3 of 3 points lost)" in top
    assert "Hint: Transpose k." in top
    assert "**g**" not in top


def test_full_marks_are_said_so():
    notebook = new_notebook(cells=[graded(HIDDEN, [], score=3)])
    LookAtNext().preprocess(notebook, {})
    assert "Every test passed" in notebook.cells[0].source


@pytest.mark.parametrize(
    ("found", "line"),
    [
        ({"score": 4, "comment": "Name a limit."}, "4 of 5 points so far. A comment stands below the answer."),
        ({"score": 0, "comment": None}, "0 of 5 points so far."),
    ],
)
@pytest.mark.parametrize("kind", [{"task": True, "grade": False}, {"task": False, "grade": True, "solution": True}])
def test_passed_tests_are_not_all_where_a_person_reads_an_answer(kind, found, line):
    written = new_markdown_cell("why", metadata={"nbgrader": {"solution": False, "grade_id": "why", "points": 5}})
    written.metadata.nbgrader.update(kind | found)
    notebook = new_notebook(cells=[graded(HIDDEN, [], score=3), written])
    LookAtNext().preprocess(notebook, {})
    assert notebook.cells[0].source.endswith(f"### Read by a person\n\n- **why**: {line}")


def test_the_settings_of_the_page_are_known_and_pictures_have_words_so_nothing_warns(page, caplog):
    picture = new_output("display_data", {"image/png": "iVBORw0KGgo="})
    described = new_output("display_data", {"image/png": "iVBORw0KGgo="}, metadata={"image/png": {"alt": "A map"}})
    soup = page(new_code_cell("draw()", outputs=[picture, described]))
    assert [image["alt"] for image in soup.find_all("img")] == ["A picture that this cell drew", "A map"]
    assert not [record.message for record in caplog.records if record.levelname == "WARNING"]


@pytest.mark.parametrize(
    "path",
    [
        str(Path.home() / "teaching" / "source" / "02" / "secret.ipynb"),
        "/home/jane/class/submitted/other-student/02/a.ipynb",
        "/tmp/abc/scratch/a.ipynb",
    ],
)
def test_paths_of_the_machine_are_cut(path):
    text = shorten_paths(f'File "{path}", line 3, in f')
    assert text == f'File "…/{path.split("/")[-1]}", line 3, in f'


def test_paths_elsewhere_and_fractions_stay():
    assert (
        shorten_paths("see https://example.org/home/x and a/b and 1/2")
        == "see https://example.org/home/x and a/b and 1/2"
    )


def test_widget_state_is_dropped():
    notebook = new_notebook(metadata={"widgets": {"application/vnd.jupyter.widget-state+json": {}}})
    HideMachine().preprocess(notebook, {})
    assert "widgets" not in notebook.metadata


def test_escaped_text_shows_verbatim():
    assert escape("q_proj <b> `x`") == r"q\_proj \<b\> \`x\`"


def as_cell(content):
    return new_markdown_cell(content) if isinstance(content, str) else content


@pytest.fixture
def page():
    """The feedback page, as BeautifulSoup reads it, of a notebook of cells, or Markdown in their place."""

    def make(*cells):
        exporter = FeedbackExporter(config=GenerateFeedback().config)
        for preprocessor in feedback_preprocessors():
            if preprocessor is not GetGrades:  # which asks the gradebook
                exporter.register_preprocessor(preprocessor)  # as nbgrader does
        about = {"notebook": "a", "assignment": "a", "student": "ada", "score": 0, "max_score": 0, "late_penalty": 0}
        resources = {"nbgrader": about | {"comments": {}}, "unique_key": "a", "metadata": {"name": "a"}}
        html, _ = exporter.from_notebook_node(new_notebook(cells=[*map(as_cell, cells)]), resources=resources)
        return BeautifulSoup(html, "html.parser")

    return make


def test_the_page_names_its_language_and_fits_a_telephone(page):
    soup = page("The word <html> and the word <head>.")
    assert soup.html["lang"] == "en"
    assert "width=device-width" in soup.find("meta", attrs={"name": "viewport"})["content"]
    assert len(soup.find_all("meta", attrs={"name": "viewport"})) == 1


def test_the_page_waits_for_no_network_and_its_formulas_can_be_read_without(page):
    soup = page(r"Divide by $\sqrt{d_{head}}$, then $$a_{ij} = x_i * y_j * z_k$$")
    assert [script["src"] for script in soup.find_all("script", src=True) if not script.has_attr("defer")] == []
    assert r"$\sqrt{d_{head}}$" in soup.get_text() and "a_{ij} = x_i * y_j * z_k" in soup.get_text()
    assert soup.find_all("link", rel="stylesheet") == [] and soup.find_all("img", src=True) == []


HOSTILE = """<script>alert(1)</script> <img src=x onerror=alert(1)> <a href='jav&#x09;ascript:alert(1)'>z</a>
[x](javascript:alert(1)) <style>body{display:none}</style> <iframe src='javascript:alert(2)'></iframe>
<div style='position:fixed'>over</div> <form action='//x'><input></form> <svg onload=alert(3)></svg>
"""


def test_nothing_that_a_student_wrote_runs_or_covers_the_page(page):
    soup, empty = page(HOSTILE), page("nothing")
    for tag in ("script", "style", "iframe", "svg", "form", "input"):
        assert len(soup.find_all(tag)) == len(empty.find_all(tag)), tag
    tags = soup.find_all(True)
    assert not [tag for tag in tags if any(name.startswith("on") for name in tag.attrs)]
    assert not [tag for tag in tags if "script:" in tag.get("href", "") + tag.get("src", "")]
    assert "position" not in soup.find("div", string="over").get("style", "")


def test_what_a_message_quotes_is_shown_as_it_is(page):
    message = "f: shape ✗\nSeen: f raised E: <img src=x onerror=alert(1)> & `q_proj`.\nHint: b."
    shown = page(graded(HIDDEN, [error("CheckFailed", message)])).get_text()
    assert "Seen: f raised E: <img src=x onerror=alert(1)> & `q_proj`." in shown.partition("exam = Exam")[0]
