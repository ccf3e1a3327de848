"""``course publish FOLDER``: a folder with what students may see, ready to become their repository."""

import shutil
from pathlib import Path

import click

from course.commands import course_folder
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


@click.command(short_help="Write what students may see into a folder.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@course_folder
def command(folder, course_dir):
    """Write into FOLDER what students may see: lessons and package, no solution, no hidden test, no answer."""
    root, target = Path(course_dir).resolve(), folder.resolve()
    if lacking := [name for name in FOR_STUDENTS if not (root / name).exists()]:
        raise Trouble(
            f"{root} is not a whole course folder: it lacks {', '.join(lacking)}; "
            "run this in the course folder, or name it with --course-dir."
        )
    # What was published before is replaced, which must never be the course itself.
    if root.is_relative_to(target) or any(target.is_relative_to(root / name) for name in FOR_STUDENTS):
        raise Trouble(f"{target} holds the course itself or is part of it; name another folder to publish to.")
    try:
        publish(root, target)
    except OSError as error:
        reason = error.args[0][0][-1] if isinstance(error, shutil.Error) else error  # one file's of many
        raise Trouble(f"{folder} was not written to its end ({reason}); mend this and run it again.") from error
    click.echo(f"{folder} holds what students may see. Commit it, tag it with the version, and push.")
