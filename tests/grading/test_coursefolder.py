"""A course folder that cannot be opened is one sentence."""

import pytest

from course.grading.coursefolder import assignment_names, open_course
from course.trouble import Trouble


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("c = get_config()\nc.Execute.timeout = = 3", r"SyntaxError: invalid syntax \(nbgrader_config.py, line 2\)"),
        ("c.Execute.timeout = half", "NameError: name 'half' is not defined"),
        ("import no_such_package", "ModuleNotFoundError: No module named 'no_such_package'"),
    ],
)
def test_settings_that_do_not_run_name_file_and_reason(text, says, tmp_path):
    (tmp_path / "nbgrader_config.py").write_text(text)
    with pytest.raises(Trouble, match=rf"nbgrader_config.py does not run \({says}\); mend it"):
        open_course(tmp_path)


def test_settings_may_lay_the_course_elsewhere(tmp_path, course_dir):
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.root = {str(course_dir)!r}")
    assert assignment_names(open_course(tmp_path)) == ["01_foundations", "02_how_it_works"]


def test_without_settings_the_course_lies_where_it_was_said_to(course_dir):
    assert assignment_names(open_course(course_dir)) == ["01_foundations", "02_how_it_works"]
