"""What is read of a submission's folder, and whether a run that graded it was interrupted."""

import os
import subprocess
import sys

import pytest

from course.grading.intake import folder as module
from course.grading.intake import interrupted
from course.grading.intake.folder import read_folder
from course.grading.intake.verdicts import NotGradable


@pytest.fixture
def write(tmp_path):
    """write({path: bytes}) -> the folder that holds them."""

    def make(files):
        for name, data in files.items():
            path = tmp_path / "submission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return tmp_path / "submission"

    return make


def test_of_notebooks_that_are_too_large_together_the_smaller_are_read(write, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 100)
    files, remarks = read_folder(write({"a.ipynb": bytes(60), "b.ipynb": bytes(50), "c.ipynb": bytes(50)}))
    assert set(files) == {"b.ipynb", "c.ipynb"}
    assert [(remark.kind, "'a.ipynb'" in remark.text) for remark in remarks] == [("too large", True)]


def test_one_that_is_too_large_alone_is_not_gradable(write, monkeypatch):
    monkeypatch.setattr(module, "LARGEST", 100)
    with pytest.raises(NotGradable, match=r"was not read\. Ask for the notebook with its outputs cleared"):
        read_folder(write({"a.ipynb": bytes(101)}))


def test_folders_are_read_to_a_depth_and_hidden_ones_not_at_all(write):
    deep = "/".join(["x"] * (module.DEEPEST + 1))
    names = ["x/y/near.ipynb", f"{deep}/far.ipynb", ".hidden/a.ipynb", ".ipynb_checkpoints/b.ipynb"]
    assert set(read_folder(write(dict.fromkeys(names, b"{}")))[0]) == {"x/y/near.ipynb"}


def test_without_a_notebook_every_file_is_read_to_say_what_it_is(write):
    assert set(read_folder(write({"work.pdf": b"%PDF", "notes.txt": b"x"}))[0]) == {"work.pdf", "notes.txt"}


def test_a_mark_of_a_process_that_is_gone_means_an_interruption(tmp_path, monkeypatch):
    mark = tmp_path / "kept" / "unfinished"
    assert not interrupted.was_interrupted(mark)
    interrupted.begin(mark)
    assert mark.read_text() == str(os.getpid()) and not interrupted.was_interrupted(mark)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for text in (str(gone.pid), "12 half a num", ""):
        mark.write_text(text)
        assert interrupted.was_interrupted(mark)
    interrupted.finish(mark)
    assert not mark.exists() and not interrupted.was_interrupted(mark)


def test_a_mark_of_another_user_s_process_means_none(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError

    mark = tmp_path / "unfinished"
    mark.write_text("1")
    monkeypatch.setattr(os, "kill", refuse)
    assert not interrupted.was_interrupted(mark)


def test_a_crowd_of_files_in_one_folder_is_refused_in_a_sentence(write, monkeypatch):
    monkeypatch.setattr(module, "MOST_FILES", 3)
    with pytest.raises(NotGradable, match=r"holds 4 files in one folder, more than the 3 that are taken"):
        read_folder(write({"a.ipynb": b"{}", **{f"env/{number}.py": b"" for number in range(4)}}))


def test_as_many_files_as_are_taken_are_no_crowd(write, monkeypatch):
    monkeypatch.setattr(module, "MOST_FILES", 3)
    files, _ = read_folder(write({"a.ipynb": b"{}", **{f"data/{number}.csv": b"" for number in range(3)}}))
    assert set(files) == {"a.ipynb"}
