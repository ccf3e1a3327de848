"""``course lab``: put the lessons that are not there yet into my_work/ and open JupyterLab on the first."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import click

from course.commands import INSTALL
from course.trouble import Trouble


def copy_missing(release, work):
    """Copy each released notebook that work/ does not hold yet; returns the names that were copied."""
    notebooks = sorted(release.glob("*/*.ipynb"))
    if not notebooks:
        raise Trouble(f"There are no lessons in {release}/; run this in the course folder, or `make release` first.")
    work.mkdir(exist_ok=True)
    new = [notebook for notebook in notebooks if not (work / notebook.name).exists()]
    for notebook in new:
        shutil.copyfile(notebook, work / notebook.name)
    return [notebook.stem for notebook in new]


def free_port(wanted):
    """wanted, or the next port that nothing listens on. Trouble when 20 in a row are in use."""
    for port in range(wanted, wanted + 20):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port
    raise Trouble(f"The ports {wanted} to {wanted + 19} are all in use; choose another with --port.")


def status_of(command, folder):
    """Run a program in folder to its end, and return its exit status.

    Ctrl-C reaches the program too, which answers it itself: JupyterLab asks, and then ends its kernels.
    """
    with subprocess.Popen(command, cwd=folder) as program:
        while True:
            try:
                return program.wait()
            except KeyboardInterrupt:
                continue


@click.command(short_help="Open the course in JupyterLab, in my_work/.")
@click.option(
    "--port",
    type=click.IntRange(1024, 65500),
    default=8888,
    show_default=True,
    help="Port to listen on; the next free one is taken when it is in use.",
)
@click.option("--browser/--no-browser", default=True, help="Open a browser window.")
@click.option(
    "--release", type=click.Path(path_type=Path), default="release", show_default=True, help="Where the lessons are."
)
@click.option(
    "--work",
    type=click.Path(path_type=Path),
    default="my_work",
    show_default=True,
    help="Where you work; nothing there is overwritten.",
)
def command(port, browser, release, work):
    """Open the course in JupyterLab, in a folder of your own."""
    if importlib.util.find_spec("jupyterlab") is None:
        raise Trouble(f"JupyterLab is not installed; {INSTALL.format('the course', 'lab')}")
    try:
        copied = copy_missing(release, work)
    except OSError as error:
        raise Trouble(f"The lessons cannot be copied to {work}/ ({error}); name another folder with --work.") from error
    click.echo(
        f"Copied to {work}/: {', '.join(copied)}."
        if copied
        else f"All lessons are in {work}/ already; nothing was overwritten."
    )
    chosen = free_port(port)
    if chosen != port:
        click.echo(f"Port {port} is in use; JupyterLab opens on port {chosen} instead.")
    first = min(path.name for path in work.glob("*.ipynb"))
    lab = [sys.executable, "-m", "jupyterlab", f"--LabApp.default_url=/lab/tree/{first}"]
    lab += [f"--port={chosen}", "--ServerApp.port_retries=0"]
    lab.append("--ServerApp.jpserver_extensions=course.live=True")  # an editable install leaves it off
    if not browser:
        lab.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        lab.append("--allow-root")  # in a container there is often no other user
    sys.exit(status_of(lab, work))
