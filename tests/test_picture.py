from html import escape

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats

from course import plots


@pytest.fixture
def shown(monkeypatch):
    """What a notebook that has imported pyplot shows of a picture, by MIME type."""
    shell = InteractiveShell.instance()
    select_figure_formats(shell, {"png", "svg"})  # what its inline backend does
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    yield lambda picture: shell.display_formatter.format(picture)[0]
    InteractiveShell.clear_instance()


@pytest.fixture
def picture():
    return plots.heatmap([[1.0, 2.0]], "x", "y", 'Rows & "columns"')


def test_it_is_drawn_once_with_its_text(shown, picture):
    data = shown(picture)
    assert set(data) == {"text/html", "text/plain"}
    assert data["text/html"].count("<img") == 1 and f'alt="{escape(picture.alt)}"' in data["text/html"]
    assert data["text/plain"] == picture.alt


def test_other_figures_are_shown_as_before(shown, picture):
    from matplotlib.figure import Figure

    shown(picture)
    figure = Figure()
    figure.add_subplot()
    assert {"image/png", "image/svg+xml"} < set(shown(figure))


def test_while_grading_the_text_stands_alone(shown, picture, monkeypatch):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    data = shown(picture)
    assert set(data) == {"text/html", "text/plain"}
    assert "<img" not in data["text/html"] and escape(picture.alt) in data["text/html"]
