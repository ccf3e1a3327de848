"""A course folder that cannot be opened is one sentence."""

import pytest

from course.grading.coursefolder import open_course
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
