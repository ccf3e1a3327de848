"""``python -m bench.live``: from a key press on a slider to new pixels, for each explorer and for interact with pyplot.

Drives JupyterLab in headless Chromium; prints milliseconds, and ratios to interact with pyplot.
"""

import argparse
import tempfile

from bench.jupyterlab import OpenNotebook, running_chromium, running_lab
from bench.latency import measure

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

# name: the cell, and which slider is moved
CASES = {
    "interact with pyplot": (INTERACT, 0),
    "head_splitter": ("explore(num_heads=8, seq_len=32, d_model=128)", 1),
    "scale_thermometer": ("explore()", 0),
    "mask_bench": ("explore(seq_len=16)", 0),
    "encoding_explorer": ("explore(seq_len=64, d_model=128)", 0),
    "order_bench": ("explore(seq_len=12, encoding='sinusoidal')", 0),
    "reveal": ("explore(revealed=True)", 0),
}


def cell(name, source):
    return source if name == "interact with pyplot" else f"from course.live import {name}\n{name}.{source}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="explorers to measure; all when none is given")
    parser.add_argument("--presses", type=int, default=60, help="key presses for each (60)")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(CASES))
    if unknown:
        parser.error(f"no explorer {', '.join(unknown)}: choose from {', '.join(CASES)}")
    columns = ("median", "95 %", "worst", "lost", "settled", "faster")
    print(f"{'key press to new pixels, ms':<28}" + "".join(f"{column:>9}" for column in columns))
    baseline = None
    with tempfile.TemporaryDirectory() as folder, running_lab(folder) as lab, running_chromium() as browser:
        for name, (source, slider) in CASES.items():
            if options.names and name not in options.names and baseline is not None:
                continue
            lab.write_notebook("bench.ipynb", [cell(name, source)])
            notebook = OpenNotebook(lab, browser, "bench.ipynb", (1280, 900))
            notebook.run_all()
            notebook.page.wait_for_selector(".jp-OutputArea-output svg, .jp-OutputArea-output img")
            latency = measure(notebook, slider, options.presses)
            notebook.close()
            baseline = baseline or latency.median
            figures = "".join(f"{figure:>9.0f}" for figure in latency)
            print(f"{name:<28}{figures}{baseline / latency.median:>8.1f}×", flush=True)


if __name__ == "__main__":
    main()
