"""Where only a student's extra is installed, help still works and grading says what it needs."""

import subprocess
import sys

import pytest

from tests.judging.lesson import ROOT

HIDE = "import sys; sys.modules[{!r}] = None; from course.__main__ import main; main()"


def course(*arguments, hidden="nbgrader"):
    command = [sys.executable, "-c", HIDE.format(hidden), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_help_lists_every_command():
    finished = course("--help")
    assert finished.returncode == 0, finished.stderr
    assert "report" in finished.stdout


@pytest.mark.parametrize("command", ["collect x.zip", "demo", "export", "grade", "report"])
def test_grading_names_the_package_and_how_to_install_it(command):
    finished = course(*command.split())
    assert finished.returncode == 2
    assert finished.stderr.startswith("Error: The Python package nbgrader is not installed; ")
    assert '".[grading]"' in finished.stderr
    assert finished.stderr.count("\n") == 1


def test_lab_says_how_to_install_jupyterlab(tmp_path):
    finished = course("lab", "--no-browser", "--work", str(tmp_path / "work"), hidden="jupyterlab")
    assert finished.returncode == 2
    assert finished.stderr.startswith("Error: JupyterLab is not installed; ") and '".[lab]"' in finished.stderr
    assert not (tmp_path / "work").exists()
