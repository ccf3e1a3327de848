"""What an answer's text reaches for is told, in whatever way IPython would take that text; what prose says is not."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell

from course.grading.intake import settle

FILE = "02_how_it_works.ipynb"
THREADS = (
    "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as pool:\n    pool.submit(print)"
)


@pytest.fixture
def kinds(assignment, solved):
    """kinds(code): the kinds of remark about a submission with a cell of this code."""

    def found(code):
        solved.cells.insert(2, new_code_cell(code))
        return {remark.kind for remark in settle(assignment, {FILE: nbformat.writes(solved).encode()}).remarks}

    return found


@pytest.mark.parametrize("before", ["", "import asyncio\nawait asyncio.sleep(0)\n", "files = !ls\n", "print?\n"])
@pytest.mark.parametrize(
    "code, kind",
    [
        ("import course.checks.scratch as s\ns.refusing = None", "examiner"),
        ("from course.checks import scratch\nscratch.refusing = None", "examiner"),
        ("exec('x = 1')", "text as code"),
        ("print(In[1])", "notebook"),
        ("import runpy\nrunpy.run_path('x')", "text as code"),
        (THREADS, "outside"),
    ],
)
def test_what_is_reached_for_is_told_in_every_notation_of_a_notebook(kinds, before, code, kind):
    assert kind in kinds(before + code)


def test_a_long_cell_hides_nothing(kinds):
    assert "frames" in kinds("import sys\nsys._getframe()\n" + "# padding\n" * 6000)


@pytest.mark.parametrize(
    "code",
    [
        "def double(x)\n    # In this open question we compile a plan: no exec, no eval; see code\n    return x",
        "import asyncio\nawait asyncio.sleep(0)\nprint('In', 'open')",
        "torch.softmax?\nx = 'open'",
    ],
)
def test_prose_is_not_told_of(kinds, code):
    assert kinds(code) == set()
