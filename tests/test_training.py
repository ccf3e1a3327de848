import dataclasses

import pytest
import torch

from course import tasks
from course.training import GRADING_STEPS, accuracy, new_model, share_right, train, warm_up_and_decay


@pytest.fixture
def task():
    return tasks.previous_token(seq_len=4, num_symbols=4)


def test_a_run_learns_and_reports_each_step(task, capsys):
    model = new_model(task, d_model=16)
    before = accuracy(model, task)
    run = train(model, task, steps=120)
    assert accuracy(model, task) > before + 0.4
    assert len(run.losses) == len(run.accuracies) == 120
    assert run.losses[-1] < run.losses[0]
    out, err = capsys.readouterr()
    assert "120/120" in out
    assert err == ""


def test_the_same_seed_gives_the_same_run_and_global_randomness_is_left_alone(task):
    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    first, again = (train(new_model(task, seed=3), task, steps=5, seed=3) for _ in range(2))
    other = train(new_model(task, seed=4), task, steps=5, seed=4)
    assert first.losses == again.losses
    assert first.losses != other.losses
    assert torch.equal(state, torch.random.get_rng_state())
    assert threads == torch.get_num_threads()


def interrupted_after(draw, steps):
    """The drawing function, interrupted as by the stop button once it has been called ``steps`` times."""
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) > steps:
            raise KeyboardInterrupt
        return draw(*arguments)

    return interrupted


@pytest.mark.parametrize("steps", [0, 3])
def test_interrupting_keeps_the_model_and_says_how_far_it_came(task, steps, capsys):
    stopped = tasks.Task(*(task.name, 4, 4, 4), interrupted_after(task.draw, steps), task.draw_held_out)
    threads = torch.get_num_threads()
    model = new_model(task)
    run = train(model, stopped, steps=50)
    assert run.interrupted
    assert len(run.losses) == steps
    assert not model.training
    assert threads == torch.get_num_threads()
    assert 0 <= accuracy(model, task) <= 1
    assert ("after 3 of 50 steps" if steps else "before the first step") in capsys.readouterr().out


def test_a_finished_run_says_what_it_reached(task):
    run = train(new_model(task), task, steps=2)
    assert run.summary().startswith("2 steps in ")
    assert f"loss {run.losses[-1]:.2f}, accuracy {sum(run.accuracies) / 2:.2f} on the last batches." in run.summary()


@pytest.mark.parametrize(("steps", "batch"), [(-1, 4), (3, 0)])
def test_a_run_that_cannot_be_is_refused_before_it_touches_the_model(task, steps, batch):
    model = new_model(task)
    before = [parameter.clone() for parameter in model.parameters()]
    with pytest.raises(ValueError, match=f"steps {steps} and batch {batch}: take 0 or more steps, with 1 example"):
        train(model, task, steps=steps, batch=batch)
    assert all(map(torch.equal, before, model.parameters()))


def test_a_length_of_none_is_the_task_s_and_a_length_of_0_is_not(task):
    asked = []
    recorded = dataclasses.replace(task, draw_held_out=lambda *sizes: asked.append(sizes[1]) or task.draw(*sizes))
    model = new_model(task)
    assert 0 <= accuracy(model, recorded) <= 1
    accuracy(model, recorded, seq_len=0)
    assert asked == [4, 0]


@pytest.mark.parametrize("make", [tasks.who_acts, tasks.which_came_first, tasks.reversing])
def test_a_learner_s_own_defaults_change_no_run(make):
    def reached():
        task = make()
        model = new_model(task)
        return train(model, task, steps=2).losses, accuracy(model, task, examples=20)

    wanted = reached()
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        assert reached() == wanted
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)


def test_a_run_of_no_steps_was_not_interrupted(task):
    assert train(new_model(task), task, steps=0).summary() == "No step: the model is as it was."


def test_a_run_shortens_itself_while_nbgrader_grades(task, monkeypatch, capsys):
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    run = train(new_model(task), task, steps=100_000)
    assert len(run.losses) == GRADING_STEPS
    assert capsys.readouterr() == ("", "")


def noting(draw, asked):
    """The drawing function, which notes the size and the length of each batch that it is asked for."""

    def noted(batch, seq_len, generator):
        asked.append((batch, seq_len))
        return draw(batch, seq_len, generator)

    return noted


def test_training_draws_what_it_is_told_and_accuracy_from_what_was_held_out(task):
    trained, tested = [], []
    watched = dataclasses.replace(task, draw=noting(task.draw, trained), draw_held_out=noting(task.draw, tested))
    model = new_model(task)
    train(model, watched, steps=3, batch=5)
    assert (trained, tested) == ([(5, 4)] * 3, [])
    accuracy(model, watched, seq_len=7, examples=11)
    assert (len(trained), tested) == (3, [(11, 7)])


def test_ignored_positions_do_not_count():
    logits = torch.eye(3)[None]  # position t answers t
    assert share_right(logits, torch.tensor([[tasks.IGNORE, 1, 0]])) == 0.5


@pytest.mark.parametrize("steps", [1, 4, 200])
def test_the_learning_rate_rises_falls_and_stays_positive(steps):
    factors = [warm_up_and_decay(step, steps) for step in range(steps)]
    peak = factors.index(max(factors))
    assert all(0 < factor <= 1 for factor in factors)
    assert factors[: peak + 1] == sorted(factors[: peak + 1])
    assert factors[peak:] == sorted(factors[peak:], reverse=True)
