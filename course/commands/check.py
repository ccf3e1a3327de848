"""``course check FILE``: what the last cell of a lesson checks, for a file on disk."""

from pathlib import Path

import click

from course import handin


@click.command(short_help="Check a notebook before it is handed in.")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.pass_context
def command(context, file):
    """Check FILE, a lesson's notebook, before it is handed in; exit status 0 when it is ready, else 1."""
    try:
        notebook = handin.read(file.read_text(encoding="utf-8", errors="replace"))
    except ValueError as error:
        click.echo(f"{file} is {error}.")
        context.exit(1)
    findings = handin.examine(notebook)
    click.echo(handin.describe(findings))
    context.exit(1 if findings.missing or findings.failing else 0)
