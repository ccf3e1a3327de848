"""docs/grading.md says what the tests prove."""

from tests.grading.tables import PAGE, with_tables


def test_the_tables_of_cases_are_those_that_the_tests_run():
    text = PAGE.read_text(encoding="utf-8")
    assert text == with_tables(text), "run python -m tests.grading.tables"
