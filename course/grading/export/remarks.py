"""What an export tells the instructor, kept short enough to be read."""

SHOWN = 20  # names, or remarks; a template of another course would bring one for each row


def listed(names):
    """Names in a row, the first of them when there are many."""
    names = list(names)
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
