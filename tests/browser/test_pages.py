"""A page of feedback on a telephone, a laptop and a projector: readable, and nothing runs out of it."""

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.converters import GenerateFeedback

from course.grading.feedback import FeedbackExporter, LegiblePage


@pytest.fixture(scope="module")
def page_of_feedback(tmp_path_factory):
    """nbgrader's page, in our style, of a long name, a long line, a wide picture and a test."""
    wide = '<img alt="" width="900" height="20" src="data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=">'
    mark = {"grade_id": "test_heads", "grade": True, "solution": False, "score": 1, "points": 2}
    shown = new_output("display_data", {"text/html": wide})
    cells = [
        new_markdown_cell(f"## Next\n\n- **{'long_name_' * 9}**"),
        new_code_cell(f"x = '{'word ' * 60}'", outputs=[shown]),
        new_code_cell("pass", metadata={"nbgrader": mark}),
    ]
    exporter = FeedbackExporter(config=GenerateFeedback().config)
    exporter.register_preprocessor(LegiblePage, enabled=True)
    grades = {"notebook": "lesson", "score": 1, "max_score": 2, "late_penalty": 0}
    html, _ = exporter.from_notebook_node(new_notebook(cells=cells), resources={"nbgrader": grades})
    path = tmp_path_factory.mktemp("feedback") / "lesson.html"
    path.write_text(html, encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [400, 1280, 1920])
def test_nothing_runs_out_and_letters_grow_with_the_page(width, page_of_feedback, chromium):
    page = chromium.new_page(viewport={"width": width, "height": 900})
    page.route("https://**", lambda route: route.abort())  # MathJax, of which there is nothing to see here
    page.goto(page_of_feedback.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert float(page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")) >= max(16, width / 100)
    named = page.evaluate("getComputedStyle(document.querySelector('#toc a'), '::after').content")
    assert "test_heads" in named or "attr(href)" in named
    page.close()
