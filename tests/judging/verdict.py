"""The verdict on one answer: which test cells fail, and what they say."""

import contextlib
import io
import linecache
import warnings
from dataclasses import dataclass, field

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import torch

from course.checks import CheckFailed

matplotlib.use("Agg")


@dataclass
class Verdict:
    """What came of an answer: message of every test cell that failed, by grade id, and what was printed."""

    failures: dict[str, str] = field(default_factory=dict)
    printed: dict[str, str] = field(default_factory=dict)
    unexpected: dict[str, BaseException] = field(default_factory=dict)
    stderr: str = ""


def judge(lesson, exercise, answer, tests=None):
    """Run an answer, a cell's text, and the exercise's test cells as a notebook would, in process.

    The cells see the lesson's imports and the reference solutions of the other exercises.
    """
    verdict, stderr = Verdict(), io.StringIO()
    with everything_put_back(), contextlib.redirect_stderr(stderr):
        namespace = {"__name__": "__main__"}
        _run(lesson.setup, "setup", namespace)
        for other in lesson.exercises.values():
            if other is not exercise:
                _run(other.solution, other.name, namespace)
        with contextlib.redirect_stdout(io.StringIO()):
            try:
                _run(answer, "answer", namespace)
            except Exception as error:
                verdict.unexpected["answer"] = error
        for test_id, test in (tests or exercise.tests).items():
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                try:
                    _run(test, test_id, namespace)
                except CheckFailed as failure:
                    verdict.failures[test_id] = str(failure)
                except Exception as error:
                    verdict.failures[test_id] = f"{type(error).__name__}: {error}"
                    verdict.unexpected[test_id] = error
            verdict.printed[test_id] = printed.getvalue()
    verdict.stderr = stderr.getvalue()
    return verdict


def _run(source, name, namespace):
    filename = f"<{name}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    exec(compile(source, filename, "exec"), namespace)


@contextlib.contextmanager
def everything_put_back():
    """Undo what an answer may have changed for the next one."""
    dtype, grad, torch_state, numpy_state = (
        torch.get_default_dtype(),
        torch.is_grad_enabled(),
        torch.get_rng_state(),
        np.random.get_state(),
    )
    patched = [(np, "allclose"), (torch, "allclose"), (np.testing, "assert_allclose"), (plt, "show"), (plt, "title")]
    originals = [getattr(module, name) for module, name in patched]
    try:
        with warnings.catch_warnings():
            yield
    finally:
        for (module, name), original in zip(patched, originals, strict=True):
            setattr(module, name, original)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(grad)
        torch.set_rng_state(torch_state)
        np.random.set_state(numpy_state)
        plt.close("all")
