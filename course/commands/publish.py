"""``course publish FOLDER``: a folder with what students may see, ready to become their repository."""

import shutil
from pathlib import Path

import click

from course.trouble import Trouble

# Everything else (source, tests with their answers, submissions, grades) stays here.
FOR_STUDENTS = (
    "release",
    "course",
    "pyproject.toml",
    "constraints.txt",
    "environment.yml",
    "Makefile",
    "LICENSE",
    "CITATION.cff",
    ".devcontainer",
    ".gitignore",
)
IGNORED = shutil.ignore_patterns("__pycache__", "*.pyc", ".ipynb_checkpoints")


def publish(root, folder):
    """Write what students may see of the course at root into folder; other files there stay, .git among them."""
    for name in FOR_STUDENTS:
        source, target = root / name, folder / name
        if source.is_dir():
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(source, target, ignore=IGNORED)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
    shutil.copyfile(root / "docs" / "students.md", folder / "README.md")


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option("--course-dir", type=click.Path(path_type=Path, exists=True), default=".", help="The course folder.")
def command(folder, course_dir):
    """Write into FOLDER what students may see: lessons and package, no solution, no hidden test, no answer."""
    if folder.resolve() == course_dir.resolve():
        raise Trouble("The folder to publish to is the course folder itself; name another one.")
    if lacking := [name for name in FOR_STUDENTS if not (course_dir / name).exists()]:
        raise Trouble(f"{course_dir.resolve()} is not a whole course folder: it lacks {', '.join(lacking)}.")
    try:
        publish(course_dir, folder)
    except OSError as error:
        raise Trouble(f"{folder} was not written to its end ({error}); mend this and run it again.") from error
    click.echo(f"{folder} holds what students may see. Commit it, tag it with the version, and push.")
