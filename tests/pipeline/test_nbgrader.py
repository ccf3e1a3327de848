"""The made-up class goes through nbgrader itself: release, autograde, feedback, export, validate, formgrader."""

import csv
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from course.grading import demo
from tests.judging.lesson import ROOT


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course folder in which the demonstration has run."""
    root = tmp_path_factory.mktemp("teaching")
    demo.copy_course(ROOT, root)
    demo.run(root)
    return root / "demo"


@pytest.fixture(scope="module")
def grades(course):
    with (course / "grades.csv").open(newline="", encoding="utf-8") as stream:
        return {row["student_id"]: row for row in csv.DictReader(stream) if row["assignment"] == demo.LESSON}


def test_export_has_a_grade_for_everyone_who_can_be_graded(grades):
    full = float(grades["ada"]["max_score"])
    assert float(grades["ada"]["score"]) == full
    assert float(grades["gus"]["score"]) == 0
    assert float(grades["fay"]["score"]) == full, "a deleted test is put back"
    assert 0 < float(grades["dana"]["score"]) < full


@pytest.mark.parametrize(("student", "points"), [("bela", 4), ("chen", 3), ("emil", 3)])
def test_a_slip_costs_its_own_part_and_no_more(grades, student, points):
    assert float(grades[student]["max_score"]) - float(grades[student]["score"]) == points


def test_feedback_is_written_and_gives_no_test_away(course, grades):
    for student in set(grades) - {"hana"}:
        page = (course / "feedback" / student / demo.LESSON / f"{demo.LESSON}.html").read_text(encoding="utf-8")
        assert "HIDDEN TESTS" not in page
        assert str(course) not in page
        is_full = float(grades[student]["score"]) == float(grades[student]["max_score"])
        assert ("Every test passed" in page, "What to look at next" in page) == (is_full, not is_full), student
    assert "not scaled at all" in (course / "feedback" / "bela" / demo.LESSON / f"{demo.LESSON}.html").read_text()


def test_a_damaged_file_stops_nobody(course):
    assert (course / "autograded" / "gus" / demo.LESSON).is_dir()
    assert not (course / "feedback" / "hana" / demo.LESSON / f"{demo.LESSON}.html").exists()


def test_validate_tells_a_student_what_fails(course, tmp_path):
    released = course / "release" / demo.LESSON / f"{demo.LESSON}.ipynb"
    solutions = demo.solutions_of(nbformat.read(course / "source" / demo.LESSON / f"{demo.LESSON}.ipynb", as_version=4))
    solved = demo.solve(nbformat.read(released, as_version=4), solutions)
    nbformat.write(solved, tmp_path / "solved.ipynb")
    shutil.copyfile(released, tmp_path / "blank.ipynb")
    answers = {
        name: subprocess.run(["nbgrader", "validate", f"{name}.ipynb"], cwd=tmp_path, capture_output=True, text=True)
        for name in ("solved", "blank")
    }
    assert "Success" in answers["solved"].stdout
    assert "failed" in answers["blank"].stdout
    assert "raises NotImplementedError" in answers["blank"].stdout


@pytest.fixture
def formgrader(course):
    """fetch(path) -> text, of a Jupyter server that was started in the course folder."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "jupyter", "server", "--no-browser", f"--port={port}", "--allow-root"]
    command += ["--IdentityProvider.token=secret", "--ServerApp.port_retries=0"]
    server = subprocess.Popen(command, cwd=course, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ)
    try:
        yield functools.partial(fetch, port)
    finally:
        server.terminate()
        server.wait(timeout=30)


def test_formgrader_shows_the_class(formgrader):
    page = formgrader("formgrader")
    assert "Formgrader" in page or "formgrader" in page
    assignments = json.loads(formgrader("formgrader/api/assignments"))
    graded = next(entry for entry in assignments if entry["name"] == demo.LESSON)
    assert graded["num_submissions"] >= 7
    assert graded["max_score"] == 25


def test_nothing_that_a_student_displayed_runs_in_formgrader(course, formgrader):
    path = course / "autograded" / "chen" / demo.LESSON / f"{demo.LESSON}.ipynb"
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    picture = {"data": {"image/png": "AAAA"}, "metadata": {"image/png": {"width": "1 onerror=alert(1)"}}}
    html = "<b>shown</b><script>planted()</script><img src=x onerror=planted()>"
    outputs = [new_output("display_data", {"text/html": html}), new_output("display_data", **picture)]
    notebook.cells += [new_code_cell("1", outputs=outputs), new_markdown_cell(f"{html} [x](javascript:planted())")]
    found = json.loads(formgrader(f"formgrader/api/submitted_notebooks/{demo.LESSON}/{demo.LESSON}"))
    number = next(entry["id"] for entry in found if entry["student"] == "chen")
    path.chmod(0o644)  # nbgrader leaves it to be read only
    try:
        nbformat.write(notebook, path)
        page = BeautifulSoup(formgrader(f"formgrader/submissions/{number}/"), "html.parser")
    finally:
        path.write_text(before, encoding="utf-8")
    assert [tag.get_text() for tag in page.find_all("b", string="shown")] == ["shown"] * 2
    assert not [script for script in page.find_all("script") if "planted" in script.get_text()]
    assert not [tag for tag in page.find_all(True) if "onerror" in tag.attrs or "planted" in tag.get("href", "")]


def fetch(port, path):
    """A page of the server, once it is up."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", headers={"Authorization": "token secret"})
    for _ in range(120):
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read().decode()
        except (ConnectionError, urllib.error.URLError) as error:
            if isinstance(error, urllib.error.HTTPError):
                raise
            time.sleep(0.5)
    raise TimeoutError("the server did not come up")
