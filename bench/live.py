"""``python -m bench.live``: from a key press on a slider to new pixels, for each explorer and for interact with pyplot.

Drives JupyterLab in headless Chromium; prints milliseconds, and ratios to interact with pyplot.
"""

import argparse
import importlib
import os
import statistics
import tempfile
import time
from typing import NamedTuple

from bench.jupyterlab import OpenNotebook, running_chromium, running_lab
from bench.latency import measure
from course.live import EXPLORERS

# The same picture as the head splitter's, drawn as most notebooks would.
INTERACT = """%matplotlib inline
import matplotlib.pyplot as plt
from ipywidgets import interact
from course.live.head_splitter import compute

@interact(seq_len=(1, 64), num_heads=(1, 16), d_model=(4, 256, 4))
def show(seq_len=32, num_heads=8, d_model=128):
    figure, axes = plt.subplots(2, 4, figsize=(12, 6))
    for ax, head in zip(axes.flat, compute(num_heads, seq_len, d_model).weights):
        ax.imshow(head)
        ax.set(xlabel="key", ylabel="query")
    plt.show()"""


class Case(NamedTuple):
    """What a cell shows, which of its sliders is moved, and how many steps back and forth."""

    parameters: dict
    slider: int = 0
    steps: int = 10


BASELINE = "interact with pyplot"
CASES = {BASELINE: Case({})} | {name: Case({}) for name in EXPLORERS}
CASES |= {
    "head_splitter": Case({"num_heads": 8, "seq_len": 32, "d_model": 128}, slider=1),
    "mask_bench": Case({"seq_len": 16}),
    "encoding_explorer": Case({"seq_len": 64, "d_model": 128}),
    "order_bench": Case({"seq_len": 14, "encoding": "sinusoidal"}),
    "real_heads": Case({"layer": 5}, steps=4),
    "reveal": Case({"revealed": True}, steps=2),
}


def cell(name):
    if name == BASELINE:
        return INTERACT
    arguments = ", ".join(f"{key}={value!r}" for key, value in CASES[name].parameters.items())
    return f"from course.live import {name}\n{name}.explore({arguments})"


def callback_times(name, moves=200):
    """Milliseconds that each move of the first slider takes in Python, at the largest value up to 64 and below."""
    module = importlib.import_module(f"course.live.{name}")
    explorer = module.explore(**CASES[name].parameters)
    slider = explorer.view.controls[module.PARAMETERS[CASES[name].slider].name].inputs[0]
    top, span = min(64, slider.max), min(32, slider.max - slider.min)
    times = []
    for move in range(moves):
        value = top - move % (span + 1)
        began = time.perf_counter()
        slider.value = value
        times.append(1000 * (time.perf_counter() - began))
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="explorers to measure; all when none is given")
    parser.add_argument("--presses", type=int, default=60, help="key presses for each (60)")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(CASES))
    if unknown:
        parser.error(f"no explorer {', '.join(unknown)}: choose from {', '.join(CASES)}")
    names = [name for name in CASES if name in options.names or not options.names]
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; other work lengthens every figure\n")
    print_callbacks([name for name in names if name != BASELINE])
    print_latencies(dict.fromkeys([BASELINE, *names]), options.presses)


def print_callbacks(names):
    print(f"{'callback in Python, ms':<28}{'median':>9}{'95 %':>9}")
    for name in names:
        cuts = statistics.quantiles(callback_times(name), n=20)
        print(f"{name:<28}{cuts[9]:>9.1f}{cuts[18]:>9.1f}")


def print_latencies(names, presses):
    columns = ("first", "median", "95 %", "worst", "lost", "settled", "faster")
    print(f"\n{'key press to new pixels, ms':<28}" + "".join(f"{column:>9}" for column in columns))
    with tempfile.TemporaryDirectory() as folder, running_lab(folder) as lab, running_chromium() as browser:
        for name in names:
            lab.write_notebook("bench.ipynb", [cell(name)])
            notebook = OpenNotebook(lab, browser, "bench.ipynb", (1280, 900))
            notebook.run_all()
            notebook.page.wait_for_selector(".jp-OutputArea-output svg, .jp-OutputArea-output img")
            latency = measure(notebook, CASES[name].slider, presses, CASES[name].steps)
            notebook.close()
            if name == BASELINE:
                baseline = latency.median
            figures = "".join(f"{figure:>9.0f}" for figure in latency)
            print(f"{name:<28}{figures}{baseline / latency.median:>8.1f}×", flush=True)


if __name__ == "__main__":
    main()
