"""``course`` and ``python -m course``: one subcommand for each module of ``course.commands``."""

import importlib
import os
import pkgutil
import sys
from pathlib import Path

import click

from course import commands


class Subcommands(click.Group):
    """Finds subcommands by module name and imports one only when it is asked for."""

    def list_commands(self, context):
        return sorted(module.name for module in pkgutil.iter_modules(commands.__path__))

    def get_command(self, context, name):
        if name not in self.list_commands(context):
            return None
        return importlib.import_module(f"course.commands.{name}").command


@click.command(cls=Subcommands)
@click.version_option(package_name="attention-course")
def main():
    """Work through, grade and understand the course on attention."""
    # nbgrader starts alembic by its bare name: it must be found where no environment has been activated, too.
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


if __name__ == "__main__":
    main(prog_name="course")
