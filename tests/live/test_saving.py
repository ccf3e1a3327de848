"""What is left of a live explorer in a saved notebook."""

import pytest

from course.live import head_splitter
from course.live.saving import WIDGET_STATE, WIDGET_VIEW, before_saving, leave_pictures


def output(page):
    return {"output_type": "execute_result", "data": {WIDGET_VIEW: {"model_id": "abc"}, "text/html": page}}


def notebook(page, **metadata):
    return {"metadata": metadata, "cells": [{"cell_type": "code", "outputs": [output(page)]}]}


def kept(saved):
    return set(saved["cells"][0]["outputs"][0]["data"])


@pytest.fixture(params=["text", "lines"])
def page(request):
    """An explorer's page, as either of the forms in which a notebook may hold it."""
    text = head_splitter.explore()._repr_mimebundle_()["text/html"]
    return text if request.param == "text" else text.splitlines(keepends=True)


def test_the_picture_stays_and_the_widget_goes(page):
    saved = notebook(page)
    before_saving({"type": "notebook", "content": saved}, path="a.ipynb", contents_manager=None)
    assert kept(saved) == {"text/html"}


def test_a_widget_whose_state_is_saved_can_be_shown_again_and_stays(page):
    saved = notebook(page, widgets={WIDGET_STATE: {"state": {"abc": {}}}})
    leave_pictures(saved)
    assert WIDGET_VIEW in kept(saved)


def test_other_peoples_widgets_are_left_alone():
    saved = notebook("<b>a chart</b>")
    leave_pictures(saved)
    assert WIDGET_VIEW in kept(saved)


@pytest.mark.parametrize(
    "model",
    [
        {"type": "file", "content": "text"},
        {"type": "notebook", "content": None},
        {"type": "notebook", "content": {"cells": [{"cell_type": "markdown", "source": ""}]}},
        {"type": "notebook", "content": notebook("")},
    ],
)
def test_whatever_else_is_saved_passes(model):
    before_saving(model, path="a", contents_manager=None)
