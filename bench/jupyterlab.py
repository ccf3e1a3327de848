"""A real JupyterLab in headless Chromium, for the browser tests and the benchmarks."""

import json
import os
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import nbformat
from playwright.sync_api import sync_playwright

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",  # Chromium refuses to run as root, which containers are, without it
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STARTUP_SECONDS = 60


class Lab:
    """A running server, and the folder that it serves."""

    def __init__(self, root, url, token):
        self.root, self.url, self.token = root, url, token

    def write_notebook(self, name, cells):
        """A notebook of these code cells in the served folder."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(notebook, self.root / name)


@contextmanager
def running_lab(folder):
    """A Lab that serves ``folder``/work and keeps its settings in ``folder``, away from the user's own."""
    folder = Path(folder)
    root = folder / "work"
    root.mkdir(parents=True)
    token = "browser-test"
    private = {f"JUPYTER_{kind}_DIR": str(folder / kind.lower()) for kind in ("CONFIG", "DATA", "RUNTIME")}
    settings = folder / "config" / "lab" / "user-settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = {"fetchNews": "false", "checkForUpdates": False}
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(quiet))
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}"]
    command += ["--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"]
    # As installed from a wheel; an editable install leaves the file out that switches it on.
    command += ["--ServerApp.jpserver_extensions=course.live=True"]
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(command, env=os.environ | private, stdout=log, stderr=log)
        try:
            yield Lab(root, server_url(folder / "runtime", server), token)
        finally:
            server.terminate()
            server.wait(timeout=30)


def server_url(runtime, server):
    """The address that the server wrote down, once it answers."""
    deadline = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < deadline and server.poll() is None:
        for record in runtime.glob("jpserver-*.json"):
            try:
                url = json.loads(record.read_text())["url"].replace("localhost", "127.0.0.1")
                urllib.request.urlopen(url + "api", timeout=5).close()
                return url
            except (OSError, ValueError):
                pass  # the record is half written, or the server not ready
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start in {STARTUP_SECONDS} s; see server.log beside {runtime}")


@contextmanager
def running_chromium():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class OpenNotebook:
    """A notebook in a page of its own. ``errors`` are console errors, ``outside`` requests that left the machine."""

    def __init__(self, lab, browser, name, size):
        self.errors, self.outside = [], []
        context = browser.new_context(viewport={"width": size[0], "height": size[1]})
        context.route(lambda url: not url.startswith(lab.url), self._refuse)
        self.page = context.new_page()
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(f"{lab.url}lab/tree/{name}?token={lab.token}&reset")
        self.page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.context?.isReady", timeout=60_000)
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'", timeout=60_000
        )

    def _refuse(self, route):
        if route.request.url.startswith(("data:", "blob:", "about:")):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def run_all(self):
        """Run every cell and wait until the kernel is done."""
        self.command("notebook:run-all-cells")
        self.wait_idle()

    def set_theme(self, theme):
        """``JupyterLab Light`` or ``JupyterLab Dark``, once the page wears it."""
        self.command("apputils:change-theme", theme=theme)
        light = "true" if "Light" in theme else "false"
        self.page.wait_for_function("light => document.body.dataset.jpThemeLight === light", arg=light)

    def command(self, name, **arguments):
        script = "([name, arguments]) => { window.jupyterapp.commands.execute(name, arguments); }"
        self.page.evaluate(script, [name, arguments])

    def wait_idle(self):
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'idle'", timeout=60_000
        )

    def run_code(self, source):
        """Run source in the notebook's kernel, outside any cell; the text that it prints."""
        return self.page.evaluate(
            """async source => {
                const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
                const future = kernel.requestExecute({code: source, store_history: false});
                let text = "";
                future.onIOPub = message => {
                    if (message.header.msg_type === "stream") text += message.content.text;
                    if (message.header.msg_type === "error") text += message.content.evalue;
                };
                await future.done;
                return text;
            }""",
            source,
        )

    def close(self):
        """Shut the kernel down and close the page."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")
        self.page.context.close()
