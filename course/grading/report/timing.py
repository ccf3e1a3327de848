"""How long a student worked, from the times that Jupyter and Colab leave in cells."""

import datetime
import json

import numpy as np

PAUSE = 15 * 60  # seconds; a longer gap between two runs counts as a break of this length


def active_minutes(paths):
    """Minutes between the runs of the cells in the notebooks at paths, breaks shortened; NaN when none is dated.

    Only the last run of a cell is dated, so this is a lower bound.
    """
    moments = sorted(moment for path in paths for moment in _moments(path))
    if len(moments) < 2:
        return np.nan
    return float(np.minimum(np.diff(moments), PAUSE).sum() / 60)


def _moments(path):
    """Seconds since 1970 at which cells ran: JupyterLab's ``execution``, Colab's ``executionInfo``."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        marks = [cell.get("metadata", {}) for cell in cells]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return
    for mark in marks:
        started = mark.get("execution", {}).get("iopub.execute_input")
        colab = mark.get("executionInfo", {}).get("timestamp")
        try:
            if started:
                yield datetime.datetime.fromisoformat(started.replace("Z", "+00:00")).timestamp()
            elif colab:
                yield float(colab) / 1000
        except (ValueError, TypeError, AttributeError):
            continue
