"""The set-up cell on top of every release: silent where the course is there, one sentence where something is wrong."""

import collections
import importlib.util
import subprocess
import sys

import jupytext
import pytest

import course
from tests.judging.lesson import SOURCE

CELL = next(cell.source for cell in jupytext.read(SOURCE / "header.py").cells if cell.cell_type == "code")
VERSION = collections.namedtuple("Version", "major minor micro releaselevel serial")


def run(requirement="attention-course @ https://example.org/a.whl", version=course.__version__):
    """Run the cell as a release fills it in; returns its namespace."""
    namespace = {}
    exec(CELL.replace("@VERSION@", version).replace("@REQUIREMENT@", requirement), namespace)
    return namespace


def problem(**settings):
    """The sentence that the cell ends with."""
    with pytest.raises(Exception) as raised:
        run(**settings)
    (line,) = raised.value._render_traceback_()
    assert line.startswith("Set-up: ")
    return line


@pytest.fixture
def no_course(monkeypatch):
    """An interpreter that does not find the course, and a pip that only notes what it was asked for."""
    calls = []

    def fake_run(command, **_):
        calls.append(command)
        return subprocess.CompletedProcess(command, fake_run.status)

    fake_run.status = 0
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(subprocess, "run", fake_run)
    return calls, fake_run


def test_where_the_course_is_installed_nothing_is_run(monkeypatch, capsys):
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("pip was called"))
    run()
    run()  # twice is harmless
    assert capsys.readouterr().out.count("is ready") == 2


def test_elsewhere_the_course_alone_is_installed(no_course, capsys):
    calls, _ = no_course
    run()
    assert len(calls) == 1
    assert calls[0][1:4] == ["-m", "pip", "install"]
    assert "--no-deps" in calls[0]
    assert calls[0][-1] == "attention-course @ https://example.org/a.whl"


def test_without_a_network_it_says_so(no_course):
    no_course[1].status = 1
    assert "Check the network" in problem()


def test_without_a_requirement_it_says_whom_to_ask(no_course):
    assert "ask your instructor" in problem(requirement="")


def test_another_version_is_named_with_what_to_do():
    sentence = problem(version="9.9")
    assert f"version {course.__version__}" in sentence
    assert "this notebook is for 9.9" in sentence
    assert "restart the kernel" in sentence


def test_an_old_python_is_named(monkeypatch):
    monkeypatch.setattr(sys, "version_info", VERSION(3, 9, 0, "final", 0))
    assert "3.11 or newer" in problem()
