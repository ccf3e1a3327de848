"""Explorers in notebooks that are run from end to end and turned into pages, and under the widgets that Colab ships."""

import copy
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
from jupyter_client import KernelManager
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from course.live import EXPLORERS
from course.live.saving import WIDGET_VIEW

HERE = Path(__file__).parent
# What Colab ships, with what these versions import; in front of the path they hide the installed ones.
COLAB_WIDGETS = (
    "ipywidgets==7.7.1",
    "ipykernel==6.17.1",
    "ipython==7.34.0",
    "traitlets==5.7.1",
    "jupyter_client==7.4.9",
    "ipython-genutils",
    "backcall",
    "pickleshare",
    "entrypoints",
)


def notebook():
    """Every explorer shown and driven, also through its widgets, beside a cell that draws with pyplot."""
    cells = ["%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([0, 1]);"]
    for name in EXPLORERS:
        cells.append(f"from course.live import {name}\n{name}.explore()")
        cells.append(
            f"explorer = {name}.explore()\nname = {name}.PARAMETERS[0].name\n"
            "for value in (1, 2, 3):\n    explorer.view.controls[name].inputs[0].value = value\nexplorer.view.box"
        )
        cells.append("explorer.set(**{name: 4})\nassert explorer.parameters[name] == 4 and explorer.problem is None")
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])


@contextmanager
def kernel_with(**environment):
    """A warm kernel, so that thirty executions do not import torch thirty times."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=os.environ | {"OMP_NUM_THREADS": "1"} | environment)
    try:
        yield manager
    finally:
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def kernel():
    with kernel_with() as manager:
        yield manager


@pytest.fixture(scope="module")
def executed(kernel):
    return execute(kernel)


def execute(kernel):
    client = NotebookClient(notebook(), km=kernel, timeout=60)
    client.execute()
    client.kc.stop_channels()
    return client.nb


def outputs(run):
    return [output for cell in run.cells for output in cell.outputs]


def test_thirty_executions_neither_stall_nor_write_to_stderr(kernel):
    # iopub_timeout raises where a kernel's answer fails to arrive: a stall is an error here, not a wait
    client = NotebookClient(notebook(), km=kernel, timeout=20, iopub_timeout=10, raise_on_iopub_timeout=True)
    for _ in range(30):
        client.nb = notebook()
        client.execute()
        assert not [output for output in outputs(client.nb) if output.output_type in ("stream", "error")]
    client.kc.stop_channels()


def test_an_executed_notebook_shows_the_picture_and_not_a_dead_widget(executed):
    shown = [output.data for output in outputs(executed) if "text/html" in output.get("data", {})]
    assert len(shown) >= len(EXPLORERS)
    assert not any(WIDGET_VIEW in data for data in shown)
    assert all("<img" in data["text/html"] and "run this cell" in data["text/html"] for data in shown)


@pytest.mark.parametrize("state", [True, False], ids=["with widget state", "without widget state"])
def test_a_page_made_of_it_has_every_picture_with_its_text(executed, state):
    run = copy.deepcopy(executed)
    if not state:
        run.metadata.pop("widgets", None)
    page, _ = HTMLExporter().from_notebook_node(run)
    assert page.count("To move its sliders, open this notebook") == len(EXPLORERS)
    assert "Attention of head 3, 8 queries by 8 keys" in page


def test_a_notebook_saved_live_falls_back_to_the_picture_when_its_widgets_are_gone(executed):
    saved = copy.deepcopy(executed)
    for output in outputs(saved):
        if "text/html" in output.get("data", {}):
            output.data[WIDGET_VIEW] = {"version_major": 2, "version_minor": 0, "model_id": "gone"}
    saved.metadata.pop("widgets", None)
    page, _ = HTMLExporter().from_notebook_node(saved)
    assert page.count("To move its sliders, open this notebook") == len(EXPLORERS)


@pytest.fixture(scope="session")
def colab_widgets(request):
    """A folder with the packages of COLAB_WIDGETS, kept between runs."""
    folder = Path(request.config.cache.mkdir("colab-widgets")) / "-".join(COLAB_WIDGETS[:2])
    if not folder.exists():
        with tempfile.TemporaryDirectory(dir=folder.parent) as fresh:  # whole or not at all, whoever comes first
            packages = Path(fresh, "packages")
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", packages]
            installed = subprocess.run([*command, *COLAB_WIDGETS], capture_output=True, text=True)
            if installed.returncode:
                pytest.skip(f"the widgets that Colab ships cannot be installed here: {installed.stderr.strip()[-200:]}")
            with suppress(OSError):
                packages.rename(folder)
    return folder


@pytest.mark.skipif(version("ipywidgets") == "7.7.1", reason="these are the widgets in use already")
def test_the_same_tests_pass_with_the_widgets_that_colab_ships(colab_widgets):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib"]
    command += ["-W", "error::DeprecationWarning", str(HERE), f"--ignore={__file__}"]
    environment = os.environ | {"PYTHONPATH": str(colab_widgets), "OMP_NUM_THREADS": "1"}
    asked = [sys.executable, "-c", "import ipywidgets; print(ipywidgets.__version__)"]
    assert subprocess.run(asked, env=environment, capture_output=True, text=True).stdout.strip() == "7.7.1"
    run = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=HERE.parents[1])
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]


def test_a_kernel_with_the_widgets_that_colab_ships_shows_the_same(colab_widgets, executed):
    with kernel_with(PYTHONPATH=str(colab_widgets)) as kernel:
        run = execute(kernel)
    assert not [output for output in outputs(run) if output.output_type in ("stream", "error")]
    pictures = [
        [output.data["text/html"] for output in outputs(each) if "text/html" in output.get("data", {})]
        for each in (run, executed)
    ]
    assert pictures[0] == pictures[1]
