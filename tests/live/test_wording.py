import pytest

from course.live.wording import bytes_read, counted, tiny


def test_one_is_singular():
    assert [counted(n, "query", "queries") for n in (0, 1, 2)] == ["0 queries", "1 query", "2 queries"]
    assert counted(4096, "score") == "4,096 scores"


@pytest.mark.parametrize(("number", "text"), [(0.0, "0"), (2.61e-16, "2.6e-16")])
def test_nothing_needs_no_exponent(number, text):
    assert tiny(number) == text


@pytest.mark.parametrize(("number", "text"), [(16, "16 bytes"), (1024, "1.0 KiB"), (4 * 2**20, "4,096.0 KiB")])
def test_bytes_have_a_unit_in_which_something_is_left(number, text):
    assert bytes_read(number) == text
