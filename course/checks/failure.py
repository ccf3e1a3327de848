"""What a check says when it does not hold."""


class CheckFailed(AssertionError):
    """A check that did not hold: what was seen, and what to look at.

    The message has at most three lines: how far the exercise got, what was seen, the hint. A notebook
    shows these lines alone, without the traceback of the test.
    """

    def __init__(self, seen, hint="", progress=""):
        self.seen, self.hint, self.progress = seen, hint, progress
        seen_line = f"Seen: {seen}" if seen else ""
        hint_line = f"Hint: {hint}" if hint else ""
        super().__init__("\n".join(line for line in (progress, seen_line, hint_line) if line))

    def _render_traceback_(self):  # IPython's hook
        return str(self).splitlines()
