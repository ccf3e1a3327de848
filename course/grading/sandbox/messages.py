"""What a student reads when a cell was stopped: which cell, which limit, what to look at."""

STOPPED = "CellStopped"


def cell_name(cell, index):
    """The exercise's name where the cell has one, otherwise its place in the notebook, counted from 1."""
    return cell.metadata.get("nbgrader", {}).get("grade_id") or f"cell {index + 1}"


def stopped(ending, name, time_limit, limits, output_limit):
    """One sentence on the cell ``name`` whose run ended as ``ending``; see ``kernel.Run``."""
    if ending == "time":
        return f"{name} was stopped at its time limit of {time_limit} s: look for a loop that never ends."
    if ending == "memory":
        return f"{name} was stopped at {limits.sentence('memory')}: look for an array or a list that keeps growing."
    if ending == "processes":
        return f"{name} was stopped at {limits.sentence('processes')}: look for fork, subprocess or threads in a loop."
    if ending == "output":
        return f"{name} was stopped because it printed far more than {size(output_limit)}: look for print in a loop."
    if ending == "exit":
        return f"{name} called exit() or quit(), which ends the notebook: delete the call."
    if ending == "total":
        return (
            f"{name} was not run: the cells before it used up the {time_limit} s of a whole submission: look for loops "
            "that never end."
        )
    return f"{name} ended the Python process, as os._exit, a crash or exhausted memory do: look at its last calls."


def no_result(ending, time_limit, limits, output_limit):
    """What became of an exercise that gave a test no result: the end of a sentence, without a full stop."""
    if ending == "time":
        return f"it reached the time limit of {time_limit} s"
    if ending in ("memory", "processes"):
        return f"it reached {limits.sentence(ending)}"
    if ending == "output":
        return f"it printed far more than {size(output_limit)}"
    if ending == "total":
        return f"what came before it used up the {time_limit} s of a whole submission"
    if ending == "died":
        return "it ended the Python process, as os._exit, a crash or exhausted memory do"
    return "the Python process stopped answering"


def cut(name, output_limit):
    """A remark on output that was left out."""
    return f"[the output of {name} is cut here, at its limit of {size(output_limit)}]"


def left_out(name, together):
    """A remark on output that was left out because other cells left too much; ``together`` is the limit in bytes."""
    return f"[the output of {name} is left out: a notebook may show {size(together)} together, and has shown them]"


def explanation(error, name, limits):
    """A remark on an error whose cause lies in the sandbox, or None. ``error`` is the reply's content."""
    kind, text = error.get("ename"), str(error.get("evalue"))
    if kind == "MemoryError" or "can't allocate memory" in text:
        return f"[{name} reached {limits.sentence('memory')}]"
    if kind == "BlockingIOError" or "can't start new thread" in text:
        return f"[{name} reached {limits.sentence('processes')}]"
    if kind == "ExitRefused":
        return f"[{name} was ended by exit() or quit(), and what follows it is graded all the same]"
    if kind == "StdinNotImplementedError":
        return f"[{name} waits for the keyboard (input, breakpoint or a debugger), and nobody sits there while grading]"
    return None


def size(number):
    """Bytes as a student reads them."""
    return f"{number // 1024**2} MiB" if number >= 1024**2 else f"{number // 1024} KiB"
