"""What the tests of the explorers share."""

import importlib

import pytest

from course.live import EXPLORERS


@pytest.fixture(params=EXPLORERS)
def module(request):
    """Each module with an ``explore`` in turn."""
    return importlib.import_module(f"course.live.{request.param}")
