"""Every exercise of every lesson has a section that a teacher can teach again."""

from pathlib import Path

import pytest

from course.grading.report.sections import section_of_exercises

SOURCE = Path(__file__).resolve().parents[3] / "source"


@pytest.mark.parametrize("path", sorted(SOURCE.glob("*/*.ipynb")), ids=lambda path: path.stem)
def test_every_exercise_stands_under_a_heading(path):
    sections = section_of_exercises(path)
    assert sections
    for grade_id, headings in sections.items():
        assert headings, f"{grade_id} stands under no heading but the title"
        assert not any(grade_id in heading or "MARK SCHEME" in heading for heading in headings)
