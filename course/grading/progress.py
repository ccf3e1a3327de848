"""The progress bar of long work."""

import sys

from tqdm import tqdm

tqdm.monitor_interval = 0  # its thread, which processes that are forked would not survive


FORMAT = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_noinv_fmt}]"
BETWEEN = {True: 0.1, False: 10}  # seconds between two states of the bar in a terminal, and in a file


class Bar:
    """Progress on stderr, with the rate and the time left; ``unit`` is what is counted. Of nothing there is none."""

    def __init__(self, total, unit="submissions"):
        self.bar = tqdm(
            total=total,
            unit=f" {unit}",
            file=sys.stderr,
            smoothing=0.1,
            disable=not total,
            bar_format=FORMAT,
            mininterval=BETWEEN[sys.stderr.isatty()],
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.bar.close()

    def done(self):
        self.bar.update()

    def tell(self, line):
        self.bar.write(line, file=sys.stderr)
