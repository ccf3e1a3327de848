"""Pictures of training runs and experiments: arrays in, a Picture out, with its numbers as alternative text.

C conditions, S seeds, L lengths. A run that was not made is NaN and is left out.
"""

import matplotlib
import numpy as np

from course.picture import Picture
from course.wording import noun

WINDOW = 10  # steps that the curves are averaged over


def colours(count):
    """``count`` colours (count, 4) that stay apart for the colour-blind and in grey."""
    return matplotlib.colormaps["viridis"](np.linspace(0, 0.85, count))


def mean_and_range(accuracies):
    """Mean over the seeds of accuracies (C, S, L), and the distances down to the lowest and up to the highest.

    Returns mean (C, L) and errors (2, C, L), the order that Matplotlib wants; NaN where no run was made.
    """
    masked = np.ma.masked_invalid(accuracies)
    mean, lowest, highest = (f(axis=1).filled(np.nan) for f in (masked.mean, masked.min, masked.max))
    return mean, np.stack((mean - lowest, highest - mean))


def plot_bars(labels, accuracies, guessing=None, title=""):
    """One bar per condition: mean of accuracies (C, S), a whisker from lowest to highest, a dot per seed."""
    accuracies = np.asarray(accuracies, dtype=float)
    mean, errors = mean_and_range(accuracies[:, :, None])
    alt = in_words(title, accuracies, describe_bars(labels, accuracies))
    picture = Picture(figsize=(max(5.5, 1.3 * len(labels) + 1), 3.4), alt=alt)
    axes = picture.add_subplot()
    places = np.arange(len(labels))
    axes.bar(places, mean[:, 0], color=colours(len(labels)), alpha=0.75)
    axes.errorbar(places, mean[:, 0], errors[:, :, 0], fmt="none", ecolor="black", capsize=5)
    for seed in range(accuracies.shape[1]):
        axes.scatter(places, accuracies[:, seed], s=14, color="black", zorder=3)
    for place, value in zip(places, mean[:, 0], strict=True):
        if np.isfinite(value):
            axes.annotate(f"{value:.2f}", (place, 0.03), ha="center", bbox={"boxstyle": "round", "facecolor": "white"})
    if guessing is not None:
        axes.axhline(guessing, color="grey", linestyle="--")
        beside = {"xycoords": axes.get_yaxis_transform(), "va": "center", "color": "dimgrey"}
        axes.annotate(f" guessing\n {guessing:.2f}", (1, guessing), **beside)
    axes.set_xticks(places, [label.replace(", ", ",\n") for label in labels])
    axes.set_ylim(0, 1.05)
    axes.set_ylabel("accuracy")
    axes.set_title(title)
    return picture


def plot_lengths(labels, lengths, accuracies, trained_at, title=""):
    """One line per condition: mean of accuracies (C, S, L) at each length, whiskers from lowest to highest."""
    mean, errors = mean_and_range(np.asarray(accuracies, dtype=float))
    alt = in_words(title, accuracies, describe_lengths(labels, lengths, accuracies))
    picture = Picture(figsize=(6.5, 3.8), alt=alt)
    axes = picture.add_subplot()
    for row, (label, colour) in enumerate(zip(labels, colours(len(labels)), strict=True)):
        marker = "osD^vP*X"[row % 8]
        axes.errorbar(lengths, mean[row], errors[:, row], color=colour, marker=marker, capsize=4, label=label)
    axes.axvline(trained_at, color="grey", linestyle="--")
    axes.annotate(" trained at", (trained_at, 0.02), color="grey")
    axes.set_xticks(lengths)
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("length tested at")
    axes.set_ylabel("accuracy")
    axes.set_title(title)
    axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return picture


def smoothed(values):
    """values (N,) averaged over the last ``WINDOW`` of them, shorter at the start: (N,)."""
    sums = np.cumsum(np.concatenate(([0.0], values)))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - WINDOW)
    return (sums[ends] - sums[starts]) / (ends - starts)


def plot_curves(curves):
    """Accuracy against step, one line for each entry of ``curves``, a dict from label to accuracies (N,)."""
    reached = [f"{label} {smoothed(values)[-1]:.2f} after {len(values)} steps" for label, values in curves.items()]
    alt = f"Accuracy while training: {', '.join(reached) or 'no step yet'}."
    picture = Picture(figsize=(6.5, 3.2), alt=alt)
    axes = picture.add_subplot()
    for (label, values), colour in zip(curves.items(), colours(len(curves)), strict=True):
        axes.plot(np.arange(1, len(values) + 1), smoothed(values), color=colour, label=label)
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("step")
    axes.set_ylabel(f"accuracy (mean of {WINDOW} steps)")
    axes.set_title("Accuracy while training")
    if curves:
        axes.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return picture


def plot_similarity(similarities):
    """Cosine of position vectors against their distance; ``similarities`` is a dict from label to (T,)."""
    near = [f"{label} {values[1]:.2f} at distance 1" for label, values in similarities.items()]
    alt = f"Mean cosine of position vectors against their distance: {', '.join(near)}."
    picture = Picture(figsize=(6.5, 3.2), alt=alt)
    axes = picture.add_subplot()
    for (label, values), colour in zip(similarities.items(), colours(len(similarities)), strict=True):
        axes.plot(np.arange(len(values)), values, color=colour, marker=".", label=label)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("distance in positions")
    axes.set_ylabel("mean cosine")
    axes.set_title("How alike position vectors are")
    axes.legend(frameon=False)
    return picture


def in_words(title, accuracies, rows):
    """The alternative text of a picture of accuracies (C, S, ...)."""
    seeds = len(accuracies[0])
    return f"{title}. Accuracy, mean (lowest to highest) of {seeds} {noun(seeds, 'seed')}. {rows}."


def describe_bars(labels, accuracies):
    """Mean and range of accuracies (C, S) in words; a condition with no finished run says so."""
    mean, errors = mean_and_range(np.asarray(accuracies, dtype=float)[:, :, None])
    return "; ".join(f"{label}: {spoken(mean[row, 0], errors[:, row, 0])}" for row, label in enumerate(labels))


def describe_lengths(labels, lengths, accuracies):
    """Mean and range of accuracies (C, S, L) at each length in words."""
    mean, errors = mean_and_range(np.asarray(accuracies, dtype=float))
    rows = []
    for row, label in enumerate(labels):
        at = (f"{spoken(mean[row, n], errors[:, row, n])} at {length}" for n, length in enumerate(lengths))
        rows.append(f"{label}: {', '.join(at)}")
    return "; ".join(rows)


def spoken(mean, errors):
    """A mean and its distances to lowest and highest, as "0.24 (0.23 to 0.25)" or "1.00" when they agree."""
    if np.isnan(mean):
        return "no finished run"
    lowest, highest = f"{mean - errors[0]:.2f}", f"{mean + errors[1]:.2f}"
    return f"{mean:.2f}" if lowest == highest else f"{mean:.2f} ({lowest} to {highest})"
