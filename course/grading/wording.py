"""Numbers and lists in the sentences that commands and reports write."""

import math

from course.wording import noun

SHOWN = 20  # names, or lines of one kind; a template of another course would bring one for each row


def plural(number, one):
    """``1 student``, ``2 students``."""
    return f"{number} {noun(number, one)}"


def short(value):
    """A number to one decimal where it needs one: ``12.5``, ``12``."""
    return f"{round(value, 1):g}"


def decimal(value, places=2):
    """A number with a proper minus sign, a dash when unknown."""
    if math.isnan(value):
        return "–"
    rounded = round(value, places) + 0.0  # turns -0.0 into 0.0
    return f"{rounded:.{places}f}".replace("-", "−")


def listed(names, separator=", ", most=SHOWN):
    """Names in a row, the first ``most`` of them when there are more."""
    names = list(names)
    more = len(names) - most
    return separator.join(names[:most]) + (f" and {more} more" if more > 0 else "")


def cut(lines):
    """The first of the lines, and how many more there are."""
    lines = list(lines)
    more = len(lines) - SHOWN
    return lines[:SHOWN] + ([f"... and {more} more like these"] if more > 0 else [])
