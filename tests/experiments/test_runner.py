import dataclasses

import numpy as np
import pytest
from torch import nn

from course import tasks
from course.experiments import SEEDS, Condition, Experiment, Result, run
from course.experiments.runner import saved_path


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.fixture
def experiment():
    task = dataclasses.replace(tasks.reversing(seq_len=4, num_symbols=3), steps=2)
    conditions = tuple(Condition(name, task, {"encoding": name, "d_model": 8}) for name in ("none", "sinusoidal"))
    return Experiment("tiny", "A tiny comparison", "Order matters.", "It does.", conditions, lengths=(4, 6))


def interrupt_draws(experiment, after):
    """The experiment, interrupted as by the stop button once its tasks have been drawn from ``after`` times."""
    calls = []

    def interrupting(draw):
        def interrupted(*arguments):
            calls.append(arguments)
            if len(calls) > after:
                raise KeyboardInterrupt
            return draw(*arguments)

        return interrupted

    conditions = tuple(
        dataclasses.replace(c, task=dataclasses.replace(c.task, draw=interrupting(c.task.draw)))
        for c in experiment.conditions
    )
    return dataclasses.replace(experiment, conditions=conditions)


def test_every_condition_is_tested_for_every_seed_at_every_length(experiment, capsys):
    result = run(experiment)
    assert result.accuracies.shape == (2, len(SEEDS), 2)
    assert result.is_complete()
    out, err = capsys.readouterr()
    assert err == ""
    assert "The lesson says: “Order matters.” It does." in out


def test_a_finished_result_is_shown_again_without_training(experiment, capsys):
    first = run(experiment)
    capsys.readouterr()
    again = run(interrupt_draws(experiment, after=0))  # would be empty if it trained
    np.testing.assert_array_equal(first.accuracies, again.accuracies)
    out = capsys.readouterr().out
    assert "Shown from the saved result" in out
    assert first.numbers() in out


def test_again_trains_anew_and_reaches_the_same(experiment, capsys):
    first = run(experiment)
    capsys.readouterr()
    again = run(experiment, again=True)
    np.testing.assert_array_equal(first.accuracies, again.accuracies)
    assert "saved result" not in capsys.readouterr().out


def with_tasks(experiment, **changes):
    conditions = tuple(
        dataclasses.replace(c, task=dataclasses.replace(c.task, **changes)) for c in experiment.conditions
    )
    return dataclasses.replace(experiment, conditions=conditions)


def longer(experiment):
    return with_tasks(experiment, steps=3)


def elsewhere(experiment):
    return dataclasses.replace(experiment, lengths=(4, 8))


def described_otherwise(experiment):
    return dataclasses.replace(experiment, finding="It does not.")


def of_more_symbols(experiment):
    return with_tasks(experiment, num_symbols=4, num_classes=4)


def faster(experiment):
    return with_tasks(experiment, learning_rate=0.1)


def wider(experiment):
    conditions = tuple(dataclasses.replace(c, settings=c.settings | {"d_model": 12}) for c in experiment.conditions)
    return dataclasses.replace(experiment, conditions=conditions)


@pytest.mark.parametrize("change", [longer, elsewhere, described_otherwise, of_more_symbols, faster, wider])
def test_a_saved_result_of_another_setting_is_not_shown(experiment, change, capsys):
    run(experiment)
    capsys.readouterr()
    run(change(experiment))
    assert "saved result" not in capsys.readouterr().out


def test_a_saved_result_of_other_seeds_is_not_shown(experiment, capsys):
    run(experiment)
    capsys.readouterr()
    assert run(experiment, seeds=(3, 4, 5)).seeds == [3, 4, 5]
    assert "saved result" not in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "{}", "[1, 2]", '{"title": 3'])
def test_a_damaged_saved_result_is_made_anew(experiment, text):
    first = run(experiment)
    saved_path("tiny").write_text(text, encoding="utf-8")
    np.testing.assert_array_equal(run(experiment).accuracies, first.accuracies)


def test_a_cache_that_cannot_be_written_costs_one_sentence(experiment, monkeypatch, tmp_path, capsys):
    blocker = tmp_path / "file"
    blocker.write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocker))
    assert run(experiment).is_complete()
    assert "could not be saved" in capsys.readouterr().out


def test_interrupting_shows_the_runs_that_were_finished_and_saves_nothing(experiment, capsys):
    result = run(interrupt_draws(experiment, after=5))  # two runs of two steps, and half of a third
    assert result.finished_runs() == 2
    assert np.isfinite(result.accuracies[:, 0]).all()
    assert "Interrupted: 2 of 6 runs were finished" in capsys.readouterr().out
    assert not saved_path("tiny").exists()


def test_interrupting_before_anything_was_reached_leaves_a_result(experiment, capsys):
    result = run(interrupt_draws(experiment, after=0))
    assert result.finished_runs() == 0
    assert "no finished run" in capsys.readouterr().out
    result.figure()


def test_grading_takes_one_seed_and_claims_nothing(experiment, monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    result = run(with_tasks(experiment, steps=100_000))
    assert result.accuracies.shape[1] == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "It does." not in out
    assert "Shortened" in out
    assert not saved_path("tiny").exists()


def test_an_encoding_of_your_own_is_made_afresh_per_run_and_never_taken_from_the_cache(experiment):
    made = []

    def make():
        made.append(nn.Identity())
        return made[-1]

    mine = dataclasses.replace(experiment.conditions[0], label="mine", own_encoding=make)
    mixed = dataclasses.replace(experiment, conditions=(*experiment.conditions, mine))
    run(mixed)
    run(mixed)
    assert len(made) == 2 * len(SEEDS)
    assert not saved_path("tiny").exists()


def test_a_saved_result_reads_back_with_its_gaps(experiment, tmp_path):
    result = run(interrupt_draws(experiment, after=5))
    result.save(tmp_path / "kept.json")
    loaded = Result.load(tmp_path / "kept.json")
    np.testing.assert_array_equal(loaded.accuracies, result.accuracies)
    assert loaded.numbers() == result.numbers()


def test_the_mean_is_that_of_the_finished_runs_and_silent_without_one(experiment, recwarn):
    result = run(interrupt_draws(experiment, after=5))
    finished = result.accuracies[0, 0]
    assert result.mean("none") == finished[0] and result.mean("none", 6) == finished[1]
    result.accuracies[:] = np.nan
    assert np.isnan(result.mean("none"))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nonsense",), "no label 'nonsense': choose one of 'none', 'sinusoidal'"),
        (("none", 5), "no length 5: choose one of 4, 6"),
    ],
)
def test_a_mean_that_is_not_there_is_refused_with_those_that_are(experiment, arguments, message):
    with pytest.raises(ValueError, match=message):
        run(experiment).mean(*arguments)


def test_seeds_of_numpy_s_are_saved_like_others(experiment, capsys):
    run(experiment, seeds=np.arange(2))
    capsys.readouterr()
    run(experiment, seeds=(0, 1))
    assert "Shown from the saved result" in capsys.readouterr().out


def test_a_run_of_no_seeds_is_refused(experiment):
    with pytest.raises(ValueError, match="seeds is empty: give one or more"):
        run(experiment, seeds=())


@pytest.mark.parametrize(("own", "came"), [(nn.Identity(), "a module, Identity"), ("sinusoidal", "no function, str")])
def test_an_own_encoding_that_is_not_a_function_is_refused_before_anything_trains(experiment, own, came):
    with pytest.raises(TypeError, match=f"'mine' is {came}: give a function that makes the module"):
        dataclasses.replace(experiment.conditions[0], label="mine", own_encoding=own)
