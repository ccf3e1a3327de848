"""Runs in the environment under test: execute a notebook there and write what came of it as JSON.

Usage: python drive.py NOTEBOOK RESULT
"""

import json
import sys

import nbformat
from nbclient import NotebookClient

DRIVE = """
import importlib, inspect, pkgutil
import course.live
for module in pkgutil.iter_modules(course.live.__path__):
    explore = getattr(importlib.import_module("course.live." + module.name), "explore", None)
    if explore is not None:
        explorer = explore()
        explorer.set(**explorer.parameters)
        assert explorer.problem is None, explorer.problem
        print(module.name, len(explorer.svg) > 500)
"""


def main(source, result):
    notebook = nbformat.read(source, as_version=4)
    notebook.cells.append(nbformat.v4.new_code_cell(DRIVE))
    NotebookClient(notebook, timeout=180, allow_errors=True, kernel_name="python3").execute()
    findings = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            errors = [f"{o.ename}: {o.evalue}" for o in cell.outputs if o.output_type == "error"]
            stderr = "".join(o.text for o in cell.outputs if o.get("name") == "stderr")
            findings.append({"name": name, "source": cell.source[:80], "errors": errors, "stderr": stderr})
    with open(result, "w", encoding="utf-8") as stream:
        json.dump(findings, stream)


if __name__ == "__main__":
    main(*sys.argv[1:])
