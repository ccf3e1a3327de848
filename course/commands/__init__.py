"""``course``: one subcommand for each module here, found by its name, holding a click command ``command``."""

import importlib
import os
import pkgutil
import sys
from pathlib import Path

import click

from course.trouble import Trouble

STOPPED = "Stopped before it was done; run the same command again."
INSTALL = 'install what {} needs: python -m pip install -c constraints.txt -e ".[{}]"'

course_folder = click.option("--course-dir", default=".", show_default=True, help="The course folder.")

# jsonschema would build a grammar of web addresses for two seconds, and no schema of a notebook has one to check.
sys.modules.setdefault("rfc3987_syntax", None)


class Subcommands(click.Group):
    """Finds subcommands by module name and imports one only when it is asked for; Ctrl-C ends any with a sentence."""

    def list_commands(self, context):
        return sorted(module.name for module in pkgutil.iter_modules(__path__))

    def get_command(self, context, name):
        if name not in self.list_commands(context):
            return None
        return importlib.import_module(f"{__name__}.{name}").command

    def invoke(self, context):
        try:
            return super().invoke(context)
        except KeyboardInterrupt as stop:
            raise Trouble(STOPPED) from stop
        except ModuleNotFoundError as missing:
            package = missing.name.partition(".")[0]
            if package == "course":
                raise
            needs = INSTALL.format("grading", "grading")
            raise Trouble(f"The Python package {package} is not installed; {needs}") from missing


@click.command(cls=Subcommands)
@click.version_option(package_name="attention-course")
def course():
    """Work through, grade and understand the course on attention."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # a pipe on Windows has no sign for every student's name
    # nbgrader starts alembic by its bare name: it must be found where no environment has been activated, too.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
