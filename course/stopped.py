"""What the stop button ends, told in a sentence."""


class Stopped(KeyboardInterrupt):
    """An interrupt that fell into a student's function; a notebook shows its sentence, and no traceback."""

    def _render_traceback_(self):  # IPython's hook
        return [str(self)]
