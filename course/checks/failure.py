"""What a check says when it does not hold."""

LONGEST = 230  # characters of a line; a longer one ends in an ellipsis


class CheckFailed(AssertionError):
    """A check that did not hold: what was seen, and what to look at.

    The message has at most three lines: how far the exercise got, what was seen, the hint. A notebook
    shows these lines alone, without the traceback of the test. ``general`` marks a hint that states the task again
    because no cause was found.
    """

    def __init__(self, seen, hint="", progress="", general=False):
        self.seen, self.hint, self.progress, self.general = seen, hint, progress, general
        lines = [
            one_line(progress),
            f"Seen: {one_line(seen)}" if seen else "",
            f"Hint: {one_line(hint)}" if hint else "",
        ]
        super().__init__("\n".join(line for line in lines if line))

    def _render_traceback_(self):  # IPython's hook
        return str(self).splitlines()


def one_line(text):
    """Text without line breaks, cut where it is longer than a line should be."""
    text = " ".join(str(text).split())
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
