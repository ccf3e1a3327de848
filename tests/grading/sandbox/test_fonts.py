"""Without matplotlib's list of fonts grading takes longer, and goes on."""

import subprocess

import pytest

from course.grading.sandbox import fonts

LIST = "fontlist-v1.json\n{}"


def refused():
    raise subprocess.CalledProcessError(1, ["bwrap"])


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """The folder in which the list is kept."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    fonts.font_list.cache_clear()
    yield tmp_path / "cache"
    fonts.font_list.cache_clear()


def test_the_list_is_made_once_for_all_graders(cache, monkeypatch):
    monkeypatch.setattr(fonts, "make_list", lambda: LIST)
    assert fonts.font_list() == ("fontlist-v1.json", "{}")
    monkeypatch.setattr(fonts, "make_list", refused)
    fonts.font_list.cache_clear()
    assert fonts.font_list() == ("fontlist-v1.json", "{}")


def test_an_empty_list_is_made_anew(cache, monkeypatch):
    fonts.cache_file().parent.mkdir(parents=True)
    fonts.cache_file().touch()
    monkeypatch.setattr(fonts, "make_list", lambda: LIST)
    assert fonts.font_list() == ("fontlist-v1.json", "{}")


def test_there_is_none_where_it_cannot_be_made(cache, monkeypatch):
    monkeypatch.setattr(fonts, "make_list", refused)
    assert fonts.font_list() is None


def test_there_is_none_where_it_cannot_be_kept(cache, monkeypatch):
    cache.write_text("a file, and no folder")
    monkeypatch.setattr(fonts, "make_list", lambda: LIST)
    assert fonts.font_list() is None
