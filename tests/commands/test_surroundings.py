"""Commands on other systems, in pipes of other encodings, and in narrow terminals."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from course import commands
from course.commands.grade import command as grade
from tests.judging.lesson import ROOT


@pytest.mark.parametrize("platform", ["win32", "darwin"])
def test_where_grading_many_cannot_work_it_says_what_does(platform, monkeypatch):
    monkeypatch.setattr(sys, "platform", platform)
    result = CliRunner().invoke(grade, ["--course-dir", str(ROOT)])
    assert result.exit_code == 2
    assert f"this is {platform}; grade with `nbgrader autograde`" in result.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_a_name_that_the_terminal_has_no_sign_for_does_not_stop_a_command(encoding, tmp_path):
    (tmp_path / "Żółć").mkdir()
    command = [sys.executable, "-m", "course", "publish", "out", "--course-dir", str(tmp_path / "Żółć")]
    variables = os.environ | {"PYTHONIOENCODING": encoding}
    finished = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True)
    assert finished.returncode == 2
    assert finished.stderr.startswith(b"Error: ") and finished.stderr.count(b"\n") == 1


@pytest.mark.parametrize("columns", [60, 80])
def test_the_list_of_commands_says_each_whole_in_a_line(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    listing = CliRunner().invoke(commands.course, ["--help"], terminal_width=columns).output
    lines = listing.partition("Commands:\n")[2].splitlines()
    assert [line.split()[0] for line in lines] == commands.course.list_commands(None)
    assert all(line.endswith(".") and not line.endswith("...") and len(line) <= columns for line in lines)
