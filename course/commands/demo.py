"""``course demo``: release the lessons, grade a made-up class, show its grades and feedback."""

from pathlib import Path

import click

from course.commands import course_folder
from course.trouble import Trouble


@click.command(short_help="Grade a made-up class and show the results.")
@course_folder
def command(course_dir):
    """Release, grade and give feedback to a made-up class in demo/, a course folder of its own."""
    from course.grading import demo  # nbgrader and all it brings load only when they are wanted

    root = Path(course_dir).resolve()
    if not (root / "source" / demo.LESSON).is_dir():
        raise Trouble(f"{root} holds no lessons in source/; run this in the course folder, or name it by --course-dir.")
    try:
        demo.run(root)
    except OSError as error:
        raise Trouble(f"The demonstration stopped ({error}); mend this and run it again.") from error
