"""``course demo``: release the lessons, grade a made-up class, show its grades and feedback."""

from pathlib import Path

import click


@click.command()
@click.option("--course-dir", type=click.Path(path_type=Path, exists=True), default=".", help="The course folder.")
def command(course_dir):
    """Release, grade and give feedback to a made-up class in demo/, a course folder of its own."""
    from course.grading import demo  # nbgrader and all it brings load only when they are wanted

    demo.run(course_dir.resolve())
