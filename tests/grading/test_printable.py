"""What a student wrote cannot disturb the terminal, the log or the page that shows it."""

import pytest

from course.grading.printable import printable


@pytest.mark.parametrize(
    "sign",
    ["\r", "\b", "\v", "\x1b", "\x85", "\x9b", "\u200b", "\u2028", "\u202e", "\ud800", "\U000e0041"],
    ids=ascii,
)
def test_a_sign_that_moves_the_cursor_or_is_not_seen_is_replaced(sign):
    assert printable(f"seen{sign}hidden") == "seen�hidden"


def test_what_is_seen_stays_as_it_is():
    text = "Größe √d_head ✓ 注意 <b> \\x1b\nnext line"
    assert printable(text) == text
