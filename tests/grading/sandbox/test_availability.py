"""Where no sandbox can be made, grading stops with one sentence and leaves nothing behind."""

from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

import course
from course.grading.sandbox import availability, view
from course.grading.sandbox.availability import SandboxUnavailable
from course.grading.sandbox.execute import SandboxedExecute


@pytest.fixture(autouse=True)
def ask_anew():
    availability.try_sandbox.cache_clear()
    yield
    availability.try_sandbox.cache_clear()


@pytest.fixture
def no_bubblewrap(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)


def sentence(error):
    text = str(error.value)
    assert text.startswith("Grading stops: ") and text.endswith(".") and "\n" not in text
    assert "SandboxedExecute.unconfined" in text
    return text


def test_no_bubblewrap(no_bubblewrap, monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(SandboxUnavailable) as error:
        availability.require_sandbox()
    assert "bubblewrap" in sentence(error)


def test_no_linux(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(SandboxUnavailable) as error:
        availability.require_sandbox()
    assert "this is darwin" in sentence(error)


def test_no_namespaces(sandbox, monkeypatch, tmp_path):
    refusing = tmp_path / "bwrap"
    refusing.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    refusing.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name: str(refusing))
    with pytest.raises(SandboxUnavailable) as error:
        availability.require_sandbox()
    assert "No permissions to create new namespace" in sentence(error)


def test_a_course_that_the_sandbox_would_show(sandbox, tmp_path):
    shown = Path(course.__file__).parent
    (tmp_path / "link").symlink_to(shown)
    for folder in (shown, tmp_path / "link"):
        with pytest.raises(SandboxUnavailable) as error:
            availability.require_sandbox(str(folder / "autograded" / "ada"))
        assert f"the course lies in {shown}" in sentence(error)


def test_packages_that_only_root_can_read(sandbox, monkeypatch, tmp_path):
    tmp_path.chmod(0o700)
    monkeypatch.setattr(view, "package_folders", lambda: [tmp_path])
    monkeypatch.setattr(view, "separate_user", lambda: view.UNUSED_USERS)
    with pytest.raises(SandboxUnavailable) as error:
        availability.require_sandbox()
    assert f"cannot read {tmp_path}" in sentence(error)


def test_nothing_runs(no_bubblewrap):
    cell = new_code_cell("1 + 1")
    with pytest.raises(SandboxUnavailable):
        SandboxedExecute().preprocess(new_notebook(cells=[cell]), {})
    assert cell.outputs == []


def test_a_flag_lets_code_run_without_protection(no_bubblewrap):
    notebook, _ = SandboxedExecute(unconfined=True).preprocess(new_notebook(cells=[new_code_cell("1 + 1")]), {})
    assert notebook.cells[-1].outputs[0].data["text/plain"] == "2"
    assert notebook.metadata.course_grading.confined is False


@pytest.mark.parametrize(("value", "unconfined"), [("1", True), ("0", False), ("", False)])
def test_so_does_a_variable_of_the_environment(monkeypatch, value, unconfined):
    monkeypatch.setenv("COURSE_UNCONFINED", value)
    assert SandboxedExecute().unconfined is unconfined
