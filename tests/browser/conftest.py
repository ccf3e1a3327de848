"""A real JupyterLab in headless Chromium, one for the whole session, and notebooks opened in it."""

import shutil
from pathlib import Path

import pytest

from bench.jupyterlab import CHROMIUM, OpenNotebook, running_chromium, running_lab

SCREENSHOTS = Path(__file__).parents[2] / "build" / "screenshots"  # git-ignored; there to be looked at


@pytest.fixture(scope="session")
def lab(tmp_path_factory):
    """A running JupyterLab with settings of its own."""
    with running_lab(tmp_path_factory.mktemp("lab")) as server:
        yield server


@pytest.fixture(scope="session")
def chromium():
    """A headless Chromium."""
    if not shutil.which(CHROMIUM):
        pytest.skip(f"no Chromium at {CHROMIUM}: install it, or set CHROMIUM to where it is")
    with running_chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def open_notebook(lab, chromium):
    """A function from code cells to an OpenNotebook; at the end each kernel is shut down and each page closed."""
    opened = []

    def open_with(cells, *, size=(1280, 900)):
        name = f"notebook{len(opened)}.ipynb"
        lab.write_notebook(name, cells)
        opened.append(OpenNotebook(lab, chromium, name, size))
        return opened[-1]

    yield open_with
    for notebook in opened:
        notebook.close()


@pytest.fixture(scope="session")
def screenshots():
    """The folder in which browser tests leave pictures of what they saw."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    return SCREENSHOTS
