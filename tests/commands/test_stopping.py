"""Ctrl-C ends every command with one sentence and status 2, from the first import on."""

import os
import subprocess
import sys

from click.testing import CliRunner

from course import commands
from course.commands import publish


def test_while_the_first_library_is_imported(tmp_path):
    (tmp_path / "click.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    variables = os.environ | {"PYTHONPATH": str(tmp_path)}
    finished = subprocess.run([sys.executable, "-m", "course", "grade"], env=variables, capture_output=True, text=True)
    assert finished.returncode == 2
    assert finished.stderr == "Error: Stopped before anything was done; run the same command again.\n"


def test_in_the_middle_of_a_command(monkeypatch, tmp_path):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(publish, "publish", stopped)
    result = CliRunner().invoke(commands.course, ["publish", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr == "Error: Stopped before it was done; run the same command again.\n"
