"""Header and stubs: the fields that a release fills in, and the lines that a solution leaves behind."""

import logging

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import course
from course.grading.release import ClearAnswers, FillFields, badge, header_fields

RESOURCES = {"nbgrader": {"assignment": "01_foundations"}, "unique_key": "01_foundations"}


def test_badge_points_at_the_released_file_of_this_version():
    text = badge("https://github.com/school/attention", "2.1", "03_practice", "03_practice")
    assert (
        "https://colab.research.google.com/github/school/attention/blob/v2.1/release/03_practice/03_practice.ipynb"
        in text
    )
    assert text.startswith("[![Open this lesson in Google Colab]"), "the badge has alternative text"


def test_badge_needs_a_repository_that_colab_can_open():
    with pytest.raises(ValueError, match=r"https://github\.com/OWNER/NAME"):
        badge("https://example.org/course", "1.0", "a", "a")


def test_fields_come_from_pyproject(tmp_path):
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text(
        '[project.urls]\nRepository = "https://github.com/a/b"\n[tool.course]\nrequirement = "pkg @ git+https://x@v{version}"\n'
    )
    fields = header_fields(pyproject, "a", "a")
    assert fields["@VERSION@"] == course.__version__
    assert fields["@REQUIREMENT@"] == f"pkg @ git+https://x@v{course.__version__}"
    assert "blob" in fields["@BADGE@"]


def test_without_a_repository_the_badge_is_left_out_and_the_log_says_so(tmp_path, caplog):
    pyproject = tmp_path / "pyproject.toml"
    pyproject.write_text("[project]\n")
    notebook = new_notebook(cells=[new_markdown_cell("Title\n\n@BADGE@")])
    preprocessor = FillFields(pyproject=str(pyproject), log=logging.getLogger("release"))
    with caplog.at_level("INFO"):
        preprocessor.preprocess(notebook, RESOURCES)
    assert notebook.cells[0].source == "Title"
    assert "no Colab badge" in caplog.text


def test_graded_cells_are_listed_for_the_last_cell(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    test = new_code_cell("", metadata={"nbgrader": {"grade": True, "task": False, "grade_id": "test_x"}})
    notebook = new_notebook(cells=[test, new_code_cell('check("@LESSON@", "@GRADED@")')])
    FillFields(pyproject=str(tmp_path / "pyproject.toml")).preprocess(notebook, RESOURCES)
    assert notebook.cells[1].source == 'check("01_foundations", "test_x")'


@pytest.mark.parametrize(
    ("source", "stub"),
    [
        ('a = ""\n### BEGIN SOLUTION\na = "B"\n### END SOLUTION', 'a = ""'),
        (
            'def f():\n    """Doc."""\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION',
            'def f():\n    """Doc."""\n    raise NotImplementedError  # replace this line by your answer',
        ),
    ],
)
def test_stub(source, stub):
    cell = new_code_cell(source)
    assert ClearAnswers()._replace_solution_region(cell, "python")
    assert cell.source == stub
