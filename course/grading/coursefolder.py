"""The course folder as nbgrader sees it: its directories, its assignments and its gradebook."""

import contextlib
import os
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from sqlalchemy import create_engine, inspect, make_url
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from traitlets.config.loader import Config, PyFileConfigLoader

from course.trouble import Trouble


def open_course(root="."):
    """The nbgrader CourseDirectory at root, with the settings of its ``nbgrader_config.py`` where there is one."""
    root = Path(root).resolve()
    if not root.is_dir():
        raise Trouble(f"The course folder {root} does not exist; name it with --course-dir.")
    config = Config()
    if (root / "nbgrader_config.py").is_file():
        try:
            config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
        except Exception as error:  # the file is a program, and may raise anything
            reason = f"{type(error).__name__}: {error}"
            raise Trouble(f"{root / 'nbgrader_config.py'} does not run ({reason}); mend it and try again.") from error
    if "root" not in config.CourseDirectory:
        config.CourseDirectory.root = str(root)
    return CourseDirectory(config=config)


def step_folder(course, step):
    """The folder of a step, "source", "release", "submitted", "autograded" or "feedback"."""
    return Path(course.root) / getattr(course, f"{step}_directory")


def assignment_names(course):
    """Names of the assignments that source/ or release/ hold, sorted."""
    names = set()
    for step in ("source", "release"):
        names.update(notebook.parent.name for notebook in step_folder(course, step).glob("*/*.ipynb"))
    return sorted(names)


def pick_assignments(course, wanted, known=None):
    """The wanted assignments, or all known ones when none is named; Trouble for a name that does not exist."""
    known = assignment_names(course) if known is None else sorted(known)
    for name in wanted:
        if name not in known:
            listed = ", ".join(known) if known else "none yet: build them with `make release`"
            raise Trouble(f"There is no assignment {name!r} in this course; its assignments are {listed}.")
    return list(wanted) or known


def database_of(course):
    """The address of the gradebook's database, parsed. Trouble, which repeats no part of it, where it has no sense."""
    try:
        url = make_url(course.db_url)
    except (ArgumentError, ValueError):
        url = None
    if url is None or "@" in f"{url.host}{url.database if url.host else ''}":  # of a password, taken for a host
        raise Trouble(
            "The gradebook's address (db_url in nbgrader_config.py) cannot be read; in a password "
            "write @ as %40, : as %3A, / as %2F and % as %25, or keep it out of the address, in ~/.pgpass."
        )
    return url


def shown(url):
    """An address for people: no password, and no options, which can hold one too."""
    return url.set(query={}).render_as_string(hide_password=True)


def database_reason(error):
    """What the database says is wrong: one line, without the statement and its values."""
    return str(getattr(error, "orig", None) or error).splitlines()[0].rstrip(". ")


def has_gradebook(course):
    """Whether there is a gradebook to open; a server's database is taken to be there."""
    url = database_of(course)
    return url.get_backend_name() != "sqlite" or Path(url.database or "").is_file()


def engine_of(url):
    """SQLAlchemy's engine. Trouble where the database's driver is not installed."""
    try:
        return create_engine(url)
    except ModuleNotFoundError as error:
        raise Trouble(f"The gradebook's database needs the Python package {error.name}; install it.") from error


@contextlib.contextmanager
def open_gradebook(course):
    """The gradebook, closed afterwards; a database that is missing, locked or lost ends in one sentence."""
    url = database_of(course)
    if not has_gradebook(course):
        raise Trouble(f"There is no gradebook at {shown(url)} yet; grade an assignment first.")
    os.environ.setdefault("PGCONNECT_TIMEOUT", "10")  # seconds; PostgreSQL's own is two minutes
    try:
        engine = engine_of(url)
        known = inspect(engine).has_table("submitted_assignment")
        engine.dispose()
        if not known:  # nbgrader would make it one
            raise Trouble(f"The database {shown(url)} is not an nbgrader gradebook yet; grade an assignment first.")
        gradebook = Gradebook(course.db_url, course.course_id or "default_course")
        try:
            yield gradebook
        finally:
            gradebook.close()
    except SQLAlchemyError as error:
        reason = database_reason(error)
        raise Trouble(f"The gradebook cannot be read ({reason}); nothing was changed, so try again.") from error
