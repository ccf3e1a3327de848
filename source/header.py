# ---
# jupyter:
#   jupytext:
#     cell_markers: '"""'
#     formats: ipynb,py:percent
#     notebook_metadata_filter: kernelspec,jupytext,-jupytext.text_representation.jupytext_version
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
r"""
# Multi-Head Attention and Positional Encoding in Transformers

@BADGE@
"""

# %% [markdown]
r"""
Run the set-up cell first. Where the course is installed (JupyterLab, VS Code, Binder) it changes nothing; on Google
Colab it installs the course, in a few seconds, and leaves Colab's own packages as they are.
"""

# %% jupyter={"source_hidden": true}
# @title Set-up: run this cell first { display-mode: "form" }
import importlib
import subprocess
import sys

VERSION, REQUIREMENT = "@VERSION@", "@REQUIREMENT@"


class SetUpProblem(Exception):
    """One sentence about what is missing and what to do; shown without a traceback."""

    def _render_traceback_(self):
        return [f"Set-up: {self}"]


if sys.version_info < (3, 11):
    raise SetUpProblem(f"this is Python {sys.version.split()[0]}; the course needs 3.11 or newer. Choose another kernel or runtime.")
if importlib.util.find_spec("course") is None:
    if not REQUIREMENT:
        raise SetUpProblem("the course is not installed here. Follow its README, or ask your instructor for the notebook that installs it.")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", REQUIREMENT]
    if subprocess.run(install, capture_output=True).returncode:
        raise SetUpProblem(f"the course could not be installed from {REQUIREMENT}. Check the network, then run this cell again.")
    importlib.invalidate_caches()
found = getattr(importlib.import_module("course"), "__version__", "unknown")
if found != VERSION:
    raise SetUpProblem(f"the installed course is version {found}, this notebook is for {VERSION}. Install that version, restart the kernel, run again.")
print(f"The course, version {found}, is ready.")
