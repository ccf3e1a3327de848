import numpy as np
import pytest

from course import experiment_plots as plots

THREE_SEEDS = np.array([[0.2, 0.3, 0.25], [1.0, 1.0, 1.0]])


def test_bars_show_mean_range_and_every_seed():
    axes = plots.plot_bars(["without", "with"], THREE_SEEDS, guessing=0.25).axes[0]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx([0.25, 1.0])
    whisker = axes.collections[0].get_segments()[0]
    assert whisker[:, 1] == pytest.approx([0.2, 0.3])
    dots = np.concatenate([c.get_offsets()[:, 1] for c in axes.collections[1:]])
    assert sorted(dots) == pytest.approx(sorted(THREE_SEEDS.ravel()))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["without", "with"]
    assert axes.get_ylabel() == "accuracy"


def test_lines_show_the_mean_at_each_length_with_whiskers():
    accuracies = np.array([[[1.0, 0.5], [0.8, 0.1]]])
    axes = plots.plot_lengths(["sines"], [16, 32], accuracies, trained_at=16).axes[0]
    line, whiskers, _ = axes.containers[0][0], axes.containers[0][2][0], None
    assert line.get_xydata().ravel() == pytest.approx([16, 0.9, 32, 0.3])
    assert whiskers.get_segments()[1][:, 1] == pytest.approx([0.1, 0.5])
    assert axes.get_legend().get_texts()[0].get_text() == "sines"


def test_runs_that_were_not_made_are_left_out_and_said():
    some = np.array([[0.4, np.nan], [np.nan, np.nan]])
    assert plots.plot_bars(["a", "b"], some).png()
    assert plots.describe_bars(["a", "b"], some) == "a: 0.40; b: no finished run"


def test_words_give_the_mean_and_the_range_where_seeds_differ():
    assert plots.describe_bars(["without", "with"], THREE_SEEDS) == "without: 0.25 (0.20 to 0.30); with: 1.00"
    lengths = plots.describe_lengths(["sines"], [16, 32], np.array([[[1.0, 0.5], [1.0, 0.1]]]))
    assert lengths == "sines: 1.00 at 16, 0.30 (0.10 to 0.50) at 32"


def test_curves_are_averaged_over_the_last_steps():
    assert plots.smoothed([1.0, 0.0]) == pytest.approx([1.0, 0.5])
    assert plots.smoothed(np.arange(30.0))[-1] == pytest.approx(np.arange(20, 30).mean())
    curves = {"none": [0.5] * 20, "sinusoidal": [1.0] * 12}
    axes = plots.plot_curves(curves).axes[0]
    assert [len(line.get_xdata()) for line in axes.lines] == [20, 12]
    assert plots.plot_curves(curves).alt.endswith("none 0.50 after 20 steps, sinusoidal 1.00 after 12 steps.")


def test_the_alternative_text_holds_title_seeds_and_numbers():
    assert plots.plot_bars(["without", "with"], THREE_SEEDS, title="Reversing").alt == (
        "Reversing. Accuracy, mean (lowest to highest) of 3 seeds. without: 0.25 (0.20 to 0.30); with: 1.00."
    )
    lengths = plots.plot_lengths(["sines"], [16, 32], np.array([[[1.0, 0.5]]]), trained_at=16, title="Longer")
    assert lengths.alt == "Longer. Accuracy, mean (lowest to highest) of 1 seed. sines: 1.00 at 16, 0.50 at 32."


def test_similarities_are_drawn_against_distance():
    picture = plots.plot_similarity({"learned": np.array([1.0, 0.9, 0.6]), "sinusoidal": np.array([1.0, 0.8, 0.7])})
    assert picture.axes[0].lines[0].get_ydata() == pytest.approx([1.0, 0.9, 0.6])
    assert "learned 0.90 at distance 1, sinusoidal 0.80 at distance 1" in picture.alt


def test_curves_can_be_shown_before_the_first_step(recwarn):
    assert plots.plot_curves({}).png()
    assert not recwarn.list
    assert plots.plot_curves({}).alt == "Accuracy while training: no step yet."
