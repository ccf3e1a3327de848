"""Where only a student's extra is installed, help still works and grading says what it needs."""

import subprocess
import sys

import pytest

from tests.judging.lesson import ROOT

HIDE = "import sys; sys.modules['nbgrader'] = None; from course.__main__ import main; main()"


def course(*arguments):
    return subprocess.run([sys.executable, "-c", HIDE, *arguments], cwd=ROOT, capture_output=True, text=True)


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
