"""``course demo`` where it cannot run, and how it shows the progress of what it starts."""

import subprocess
import sys

from click.testing import CliRunner

from course.commands.demo import command
from course.grading.demo import show_progress


def test_a_folder_without_lessons_is_said_in_one_sentence(tmp_path):
    result = CliRunner().invoke(command, ["--course-dir", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {tmp_path} holds no lessons in source/; ")
    assert not (tmp_path / "demo").exists()


def test_progress_counts_the_files_that_a_process_makes(tmp_path, capsys):
    makes = "import pathlib, time\nfor n in range(3): time.sleep(0.5); pathlib.Path(f'{n}.html').touch()"
    with subprocess.Popen([sys.executable, "-c", makes], cwd=tmp_path) as process:
        show_progress(process, tmp_path, 3, "*.html")
    assert "3/3" in capsys.readouterr().err
