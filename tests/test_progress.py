"""What is shown while a model trains, with a notebook and without one."""

import pytest

from course import progress
from course.progress import Progress


class Shown:
    """What stands in the place of IPython's display: the pictures, in the order in which they were shown."""

    def __init__(self):
        self.pictures = []

    def __call__(self, picture, display_id):
        assert display_id
        self.pictures.append(picture)
        return self

    def update(self, picture):
        self.pictures.append(picture)


class Run:
    accuracies = (0.25, 0.75)


@pytest.fixture
def shown(monkeypatch):
    display = Shown()
    monkeypatch.setattr(progress, "display", display)
    monkeypatch.setattr(progress, "in_notebook", lambda: True)
    return display


def test_a_notebook_sees_one_curve_that_grows(shown, monkeypatch, capsys):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_CURVES", 0.0)
    with Progress(1) as run:
        run.start("sinusoidal")
        run.advance(Run)
    alts = [picture.alt for picture in shown.pictures]
    assert alts[0] == "Accuracy while training: no step yet."
    assert alts[1:] == ["Accuracy while training: sinusoidal 0.50 after 2 steps."] * 2  # as it moved, and at the end
    out, err = capsys.readouterr()
    assert "1/1" in out and err == ""


def test_between_two_curves_passes_some_time(shown, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_CURVES", float("inf"))
    with Progress(50) as run:
        for _ in range(50):
            run.advance(Run)
    assert len(shown.pictures) == 2  # before the first step and after the last


def test_hidden_it_shows_nothing_anywhere(shown, capsys):
    with Progress(1, visible=False) as run:
        run.advance(Run)
    assert shown.pictures == [] and capsys.readouterr() == ("", "")


def test_an_interrupted_block_closes_the_bar(capsys):
    with pytest.raises(KeyboardInterrupt), Progress(2) as run:
        raise KeyboardInterrupt
    assert run.bar.disable  # as tqdm marks a bar that is closed
    assert capsys.readouterr().err == ""
