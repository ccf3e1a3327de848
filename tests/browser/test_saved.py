"""A live explorer in a notebook that is opened again, before any cell has been run."""

import nbformat
import pytest

from bench.jupyterlab import OpenNotebook
from course.live import head_splitter
from course.live.saving import WIDGET_VIEW

CELL = "from course.live import head_splitter\nhead_splitter.explore()"


@pytest.fixture
def reopened(lab, chromium):
    """A function from the name of a notebook in the served folder to the text and the pictures that it shows."""
    opened = []

    def reopen(name):
        opened.append(OpenNotebook(lab, chromium, name, (1280, 900)))
        page = opened[-1].page
        page.wait_for_selector(".jp-OutputArea-output")
        page.wait_for_timeout(1000)  # for what JupyterLab would put in the picture's place
        return opened[-1]

    yield reopen
    for notebook in opened:
        notebook.close()


def assert_shows_the_picture(notebook, screenshot):
    area = notebook.page.locator(".jp-OutputArea-output")
    area.first.screenshot(path=screenshot)
    assert area.count() == 1
    assert "To move its sliders, open this notebook in JupyterLab" in area.inner_text()
    assert "Error" not in area.inner_text()
    assert area.locator("img[alt^='Attention of head 0']").is_visible()
    assert notebook.errors == []


def test_a_notebook_saved_live_shows_the_picture_when_it_is_opened_again(open_notebook, lab, reopened, screenshots):
    live = open_notebook([CELL])
    live.run_all()
    live.page.wait_for_selector(".jp-OutputArea-output .widget-vbox svg")
    live.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    assert live.page.locator(".jp-OutputArea-output .widget-vbox svg").first.is_visible(), "saving ends the live view"
    name = live.page.evaluate("window.jupyterapp.shell.currentWidget.context.path")
    assert_shows_the_picture(reopened(name), screenshots / "saved_and_opened_again.png")


def test_a_notebook_saved_by_a_server_without_the_course_shows_the_picture_too(lab, reopened, screenshots):
    """JupyterLab shows no widget of a notebook that it does not trust, which one from elsewhere is not."""
    data = head_splitter.explore()._repr_mimebundle_() | {WIDGET_VIEW: {"model_id": "gone", "version_major": 2}}
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(CELL, outputs=[nbformat.v4.new_output("display_data", data)])]
    )
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, lab.root / "elsewhere.ipynb")
    assert_shows_the_picture(reopened("elsewhere.ipynb"), screenshots / "saved_elsewhere.png")
