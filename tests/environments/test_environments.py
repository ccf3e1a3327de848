"""One released file, alone in an empty folder, in what Colab ships and in the oldest versions admitted."""

import json
import os
import shutil
import subprocess
import sys

import nbformat
import pytest

from course.grading.demo import solutions_of, solve
from tests.environments.build import HERE, LISTS, environment
from tests.judging.lesson import ROOT, lesson_names
from tests.release.building import release_lessons

GOOGLE_COLAB = (
    'def _refuse(*_, **__):\n    raise RuntimeError("no front end in a test")\n\n\nblocking_request = _refuse\n'
)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """The course as a wheel, the one thing that a notebook may install."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT], check=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="session")
def solved(wheel, tmp_path_factory):
    """Every lesson released with that wheel as its requirement, the solutions in: one notebook each."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "source", folder / "source")
    shutil.copyfile(ROOT / "nbgrader_config.py", folder / "nbgrader_config.py")
    (folder / "pyproject.toml").write_text(
        f'[project]\n[tool.course]\nrequirement = "attention-course @ {wheel.as_uri()}"\n'
    )
    release_lessons(folder)
    notebooks = {}
    for name in lesson_names():
        source, released = (
            nbformat.read(folder / step / name / f"{name}.ipynb", as_version=4) for step in ("source", "release")
        )
        notebooks[name] = solve(released, solutions_of(source))
    return notebooks


def packages(python):
    listing = subprocess.run([python, "-m", "pip", "list", "--format=json"], check=True, capture_output=True, text=True)
    return {entry["name"]: entry["version"] for entry in json.loads(listing.stdout)}


@pytest.mark.parametrize("name", LISTS)
def test_every_lesson_runs_alone_and_changes_no_package(name, solved, tmp_path):
    python = environment(name)
    subprocess.run([python, "-m", "pip", "uninstall", "--quiet", "--yes", "attention-course"], check=True)
    before = packages(python)
    stub = tmp_path / "stub" / "google" / "colab"
    stub.mkdir(parents=True)
    (stub / "__init__.py").touch()
    (stub / "_message.py").write_text(GOOGLE_COLAB)
    variables = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV"))}
    variables |= {"PIP_NO_INDEX": "1", "PYTHONPATH": str(tmp_path / "stub"), "NBGRADER_EXECUTION": "autograde"}
    for lesson, notebook in solved.items():
        alone = tmp_path / lesson
        alone.mkdir()
        nbformat.write(notebook, alone / f"{lesson}.ipynb")
        command = [python, HERE / "drive.py", f"{lesson}.ipynb", "result.json"]
        subprocess.run(command, cwd=alone, env=variables, check=True)
        findings = json.loads((alone / "result.json").read_text())
        assert [(cell["source"], cell["errors"]) for cell in findings if cell["errors"]] == []
        assert [cell["name"] for cell in findings if cell["name"] and cell["stderr"]] == []
    after = packages(python)
    assert {key: value for key, value in after.items() if key != "attention-course"} == before
    assert "attention-course" in after
