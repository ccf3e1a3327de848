"""What a student can check before handing in: the graded cells, the answers, and a run from the top.

``check`` is the last cell of every lesson; ``python -m course check FILE`` does the same for a file.
Both look at a notebook as it was saved, and run it in a fresh kernel, as a grader will.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import nbformat
from tqdm import tqdm

from course.wording import noun

CHECKING = "COURSE_CHECKING"  # set while a notebook is run by its own last cell
STUB = "raise NotImplementedError  # replace this line by your answer"  # what a release leaves of a solution
LAST_CELL = re.compile(r'handin\.check\(.*graded="([^"]*)"')
UNANSWERED = re.compile(r"^Seen: (.+ has no answer yet\.)$", re.MULTILINE)  # what a question says that is left open
CELL_SECONDS = 120


class Findings(NamedTuple):
    """Sentences about what is missing, and about what fails; both empty when the notebook is ready."""

    missing: list[str]
    failing: list[str]


def graded_cells(notebook):
    """Grade ids of the test and task cells, as often as they occur."""
    return [
        meta["grade_id"]
        for meta in (cell.metadata.get("nbgrader", {}) for cell in notebook.cells)
        if meta.get("grade_id") and (meta.get("grade") or meta.get("task"))
    ]


def expected_cells(notebook):
    """Grade ids that the last cell of the release names, or None where that cell is gone."""
    calls = (LAST_CELL.search(cell.source) for cell in notebook.cells)
    return next((call.group(1).split() for call in calls if call), None)


def missing(notebook):
    """Sentences about test cells that are gone or doubled, and about exercises left blank."""
    count = Counter(graded_cells(notebook))
    expected = expected_cells(notebook)
    found = []
    if expected is None:
        found.append(
            "The last cell of the lesson is gone, so lost test cells cannot be noticed; take it from the release."
        )
    for name in expected or ():
        if count[name] == 0:
            found.append(f"The test cell {name} is missing: copy it back from the release, or start from a fresh copy.")
    found += [
        f"The test cell {name} stands {times} times: delete the copies." for name, times in count.items() if times > 1
    ]
    found += [f"{name} has no answer yet." for name in blanks(notebook)]
    for cell in notebook.cells:
        if cell.metadata.get("course", {}).get("answer_to") and "Write your answer here" in cell.source:
            found.append(f"The answer to {cell.metadata['course']['answer_to']} is not written yet.")
    return found


def blanks(notebook):
    """Grade ids of the exercises without an answer, which are named as what they define."""
    return [
        cell.metadata.nbgrader.grade_id
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("solution") and STUB in cell.source
    ]


def failing(notebook):
    """Sentences about the cells that fail when a copy of the notebook runs from the top in a fresh kernel.

    Those that fail only because an exercise has no answer are left out: ``missing`` names the exercise. A cell that
    does not come to an end, or takes the kernel with it, ends the run.
    """
    # They come with JupyterLab and with Colab; the rest of the course needs none.
    from nbclient import NotebookClient
    from nbclient.exceptions import CellTimeoutError, DeadKernelError

    copy = nbformat.from_dict(json.loads(json.dumps(notebook)))
    client = NotebookClient(copy, timeout=CELL_SECONDS, allow_errors=True, kernel_name="python3")
    bar = tqdm(total=len(copy.cells), desc="Running from the top", unit="cell", file=sys.stdout, leave=False)
    client.on_cell_complete = lambda **_: bar.update()
    running, stopped = [], None
    client.on_cell_start = lambda cell_index, **_: running.append(cell_index)
    try:
        _run_aside(lambda: client.async_execute(stderr=subprocess.DEVNULL))  # the kernel's own remarks help nobody
    except CellTimeoutError:
        stopped = f"takes more than {CELL_SECONDS} s; look for a loop that does not end"
    except DeadKernelError:
        stopped = "ends the kernel; look for exit(), or for a tensor that no memory holds"
    finally:
        bar.close()
    found, unanswered = [], blanks(notebook)
    for number, cell in enumerate(copy.cells[: running[-1]] if stopped else copy.cells):
        for output in cell.get("outputs", ()):
            if output.output_type == "error" and not _comes_from_blank(output, unanswered):
                found.append(_sentence(_name(copy, number), output))
                break
    if stopped:
        found.append(f"{_name(copy, running[-1])} {stopped}. The cells below it were not run.")
    return found


def _sentence(name, error):
    """What a failing cell says; a question without an answer is told as an exercise without one."""
    if error.ename != "CheckFailed":
        return f"{name} fails.\n    {error.ename}: {error.evalue}"
    unanswered = UNANSWERED.search(error.evalue)
    return unanswered[1] if unanswered else "\n    ".join([f"{name} fails.", *error.traceback[-2:]])


def _name(notebook, number):
    """A cell's grade id, or its place counted from 1."""
    return notebook.cells[number].metadata.get("nbgrader", {}).get("grade_id", f"cell {number + 1}")


def _comes_from_blank(error, unanswered):
    """Whether an error comes from the line that a release leaves in an exercise."""
    if error.ename == "CheckFailed":
        return any(f"{name} raises NotImplementedError" in error.evalue for name in unanswered)
    return bool(unanswered) and error.ename == "NotImplementedError" and not error.evalue


def _run_aside(make_coroutine):
    """Run a coroutine to its end in a thread of its own: a notebook's thread already runs an event loop."""
    raised = []

    def run():
        try:
            asyncio.run(make_coroutine())
        except Exception as error:
            raised.append(error)

    before = os.environ.get(CHECKING)
    os.environ[CHECKING] = "1"
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        if before is None:
            del os.environ[CHECKING]
    if raised:
        raise raised[0]


def examine(notebook):
    """Findings about a notebook."""
    return Findings(missing(notebook), failing(notebook))


def describe(findings):
    """The findings as text that ends with what to do."""
    lines = [f"- {sentence}" for sentence in (*findings.missing, *findings.failing)]
    if lines:
        return "\n".join(
            [*lines, f"{len(lines)} to look at. You can hand in all the same: every exercise counts on its own."]
        )
    return "Ready: every test cell is there once, every exercise has an answer, and all visible checks pass."


def check(namespace, lesson, graded):
    """Check the notebook that runs this, and say how to hand it in. ``graded`` is for the file's own reading."""
    if os.environ.get(CHECKING) or os.environ.get("NBGRADER_EXECUTION"):
        return
    notebook = this_notebook(namespace)
    if notebook is None:
        print(f"This notebook cannot find its own file. Save it, then run: python -m course check {lesson}.ipynb")
    else:
        file = own_file(namespace)
        if file:
            print(since(time.time() - file.stat().st_mtime))
        print(describe(examine(notebook)))
    download = (
        "File > Download > Download .ipynb" if "google.colab" in sys.modules else "File > Save, then File > Download"
    )
    print(f"To hand in: {download}, and keep the name {lesson}.ipynb.")


def this_notebook(namespace):
    """The notebook that this kernel runs, as last saved (on Colab: as it is), or None where nothing names it."""
    if "google.colab" in sys.modules:
        from google.colab import _message

        return read(json.dumps(_message.blocking_request("get_ipynb", timeout_sec=30)["ipynb"]))
    file = own_file(namespace)
    return read(file.read_text(encoding="utf-8")) if file else None


def own_file(namespace):
    """The file of the notebook that this kernel runs, or None where nothing names it."""
    if "google.colab" in sys.modules:  # it has none
        return None
    for place in (
        namespace.get("__vsc_ipynb_file__"),
        namespace.get("__session__"),
        os.environ.get("JPY_SESSION_NAME"),
    ):
        if place and Path(place).suffix == ".ipynb" and Path(place).is_file():
            return Path(place)
    return None


def since(seconds):
    """How old the saved notebook is, as a sentence: an answer written after that is not in it."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "Looking at the notebook as saved a moment ago."
    return (
        f"Looking at the notebook as saved {minutes} {noun(minutes, 'minute')} ago: if you have changed it since, "
        "save it, and run this cell again."
    )


def read(text):
    """A notebook from the text of a file. ValueError with one sentence when it is none."""
    try:
        return nbformat.reads(text.removeprefix("\ufeff"), as_version=4)
    except Exception as error:
        raise ValueError("not a notebook, or not a whole one; save it, and download it again as .ipynb") from error
