"""Grades do not depend on how many submissions are graded at once, in which order, or how often."""

import random
import shutil

import nbformat
import pytest

from course.grading.many.run import Class
from tests.grading.many.conftest import CLASS, LESSON, RIGHT, grade, gradebook, hand_in, lesson

# Each would differ between runs if one submission could see another, or a random state, or a clock that is shared.
PECULIAR = {
    "eli": RIGHT | {"one": 'import random, numpy\none = "AB"[int(random.random() < 0 or numpy.random.rand() < 0)]'},
    "fay": RIGHT | {"one": 'import torch\none = "A" if not hasattr(torch, "seen") else "B"\ntorch.seen = True'},
    "gus": RIGHT | {"one": 'import os\none = "A" if not os.path.exists("seen") else "B"\nopen("seen", "w").close()'},
    "hal": RIGHT | {"two": "while True: pass"},
    "ida": RIGHT | {"two": 'two = "A" * 10**7'},
    "joe": RIGHT | {"one": "one = ("},
}


@pytest.fixture(scope="module")
def peculiar_class(released, tmp_path_factory):
    root = shutil.copytree(released, tmp_path_factory.mktemp("peculiar") / "class")
    for student, answers in PECULIAR.items():
        hand_in(root, student, nbformat.writes(lesson(answers)))
    with open(root / "nbgrader_config.py", "a") as config:
        config.write("\nc.Execute.timeout = 6\n")
    return root


def graded_by(root, monkeypatch, jobs, order):
    """Gradebook rows and the bytes of graded notebooks after grading everything with so many jobs in this order.

    Without the notebook that a time limit ends: how far it came, its output says.
    """
    changed = Class.changed

    def reordered(self, outcome):
        todo = changed(self, outcome)
        random.Random(order).shuffle(todo)
        return todo

    with monkeypatch.context() as patch:
        patch.setattr(Class, "changed", reordered)
        status, said, _ = grade(root, "--jobs", str(jobs), "--force")
    assert status == 1 and said.startswith("10 graded, 1 not gradable")
    notebooks = root.glob(f"autograded/[!.]*/{LESSON}/*.ipynb")
    content = {path.relative_to(root).parts[1]: path.read_bytes() for path in notebooks}
    content.pop("hal")
    return gradebook(root), content


def test_neither_jobs_nor_order_nor_repetition_change_anything(peculiar_class, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    root = shutil.copytree(peculiar_class, tmp_path / "class")
    book, notebooks = graded_by(root, monkeypatch, jobs=1, order=1)
    assert len(notebooks) == len(CLASS) + len(PECULIAR) - 1
    assert {student: book[student]["submission"][0] for student in PECULIAR} == {
        "eli": 4, "fay": 4, "gus": 4, "hal": 2, "ida": 2, "joe": 2,
    }  # fmt: skip
    for jobs, order in ((1, 2), (2, 3), (8, 4), (8, 5)):
        assert graded_by(root, monkeypatch, jobs, order) == (book, notebooks)
