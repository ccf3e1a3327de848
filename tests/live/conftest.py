"""What the tests of the explorers share: every explorer, and functions as students write them."""

import importlib
import pkgutil

import pytest

import course.live

EXPLORERS = sorted(
    name
    for _, name, _ in pkgutil.iter_modules(course.live.__path__)
    if hasattr(importlib.import_module(f"course.live.{name}"), "explore")
)


@pytest.fixture(params=EXPLORERS)
def module(request):
    """Each module with an ``explore`` in turn."""
    return importlib.import_module(f"course.live.{request.param}")
