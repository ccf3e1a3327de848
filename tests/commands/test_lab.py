"""``course lab``: copies what is missing, overwrites nothing, and says when a port is in use."""

import socket

import click
import pytest
from click.testing import CliRunner

from course.__main__ import main
from course.commands.lab import copy_missing, free_port


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
    with pytest.raises(click.ClickException, match="make release"):
        copy_missing(tmp_path, tmp_path / "work")


def test_port_in_use_is_passed_over():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port = busy.getsockname()[1]
        assert free_port(port) > port


def test_every_subcommand_is_found_and_has_help():
    runner = CliRunner()
    listing = runner.invoke(main, ["--help"]).output
    for name in main.list_commands(None):
        assert name in listing
        assert runner.invoke(main, [name, "--help"]).exit_code == 0
