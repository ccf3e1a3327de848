"""``course lab``: copies what is missing, overwrites nothing, and says when a port is in use."""

import os
import signal
import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner

from course import commands
from course.commands import lab
from course.commands.lab import command, copy_missing, free_port
from course.trouble import Trouble
from tests.judging.lesson import ROOT


def test_copies_only_what_is_not_there(tmp_path):
    release, work = tmp_path / "release", tmp_path / "work"
    for name in ("01_a", "02_b"):
        (release / name).mkdir(parents=True)
        (release / name / f"{name}.ipynb").write_text("released")
    assert copy_missing(release, work) == ["01_a", "02_b"]
    (work / "01_a.ipynb").write_text("my answers")
    (work / "02_b.ipynb").unlink()
    assert copy_missing(release, work) == ["02_b"]
    assert (work / "01_a.ipynb").read_text() == "my answers"


def test_no_release_is_said_in_one_sentence(tmp_path):
    with pytest.raises(Trouble, match="make release"):
        copy_missing(tmp_path, tmp_path / "work")


def test_port_in_use_is_passed_over():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        assert free_port(port) > port


def test_where_many_ports_are_in_use_another_is_asked_for(monkeypatch):
    asked = []

    class Busy(socket.socket):
        def connect_ex(self, address):
            asked.append(address[1])
            return 0

    monkeypatch.setattr(lab.socket, "socket", Busy)
    with pytest.raises(Trouble, match="ports 9000 to 9019 are all in use; choose another with --port"):
        free_port(9000)
    assert asked == list(range(9000, 9020))


def test_jupyterlab_opens_on_the_first_lesson_and_in_a_browser_unless_told_otherwise(tmp_path, monkeypatch):
    started = []
    monkeypatch.setattr(lab, "status_of", lambda command, folder: started.append((command, folder)) or 3)
    monkeypatch.setattr(lab, "free_port", lambda wanted: wanted)
    for name in ("02_b", "01_a"):
        (tmp_path / "release" / name).mkdir(parents=True)
        (tmp_path / "release" / name / f"{name}.ipynb").write_text("released")
    folders = ["--release", str(tmp_path / "release"), "--work", str(tmp_path / "work")]
    for option, with_browser in (([], True), (["--no-browser"], False)):
        result = CliRunner().invoke(command, [*folders, "--port", "9000", *option])
        assert result.exit_code == 3  # JupyterLab's own
        words, folder = started.pop()
        assert folder == tmp_path / "work"
        assert {"--LabApp.default_url=/lab/tree/01_a.ipynb", "--port=9000"} <= set(words)
        assert ("--no-browser" not in words) == with_browser


def test_every_subcommand_is_found_and_has_help():
    runner = CliRunner()
    listing = runner.invoke(commands.course, ["--help"]).output
    for name in commands.course.list_commands(None):
        assert name in listing
        assert runner.invoke(commands.course, [name, "--help"]).exit_code == 0


def test_a_folder_that_cannot_be_written_is_said_in_one_sentence(tmp_path):
    (tmp_path / "release" / "01_a").mkdir(parents=True)
    (tmp_path / "release" / "01_a" / "01_a.ipynb").write_text("released")
    (tmp_path / "file").touch()
    result = CliRunner().invoke(
        command, ["--release", str(tmp_path / "release"), "--work", str(tmp_path / "file" / "work")]
    )
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: The lessons cannot be copied to ")


def test_ctrl_c_is_left_to_the_program_that_asks_before_it_ends(tmp_path):
    asks = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, lambda *_: (time.sleep(1), sys.exit(7)))\n"
        "print('ready', flush=True)\ntime.sleep(60)"
    )
    waits = f"from course.commands.lab import status_of; print(status_of({[sys.executable, '-c', asks]!r}, '.'))"
    with subprocess.Popen([sys.executable, "-c", waits], cwd=ROOT, stdout=subprocess.PIPE, process_group=0) as waiting:
        assert waiting.stdout.readline() == b"ready\n"
        os.killpg(waiting.pid, signal.SIGINT)
        assert waiting.stdout.read() == b"7\n"
