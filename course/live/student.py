"""A student's function, called so that whatever it does ends in a result or in one sentence."""

import copy
import threading
import traceback
from contextlib import contextmanager

import numpy as np
import torch

from course.defaults import torch_defaults
from course.live.deadline import DidNotEnd, deadline
from course.live.parameters import written
from course.stopped import Stopped
from course.wording import words_of

CLOSE = 1e-5  # a gap below this is rounding in float32
LONGEST_CALL = 10  # seconds of a call that a slider causes
NO_END = "look for a loop that does not end."
_one_at_a_time = threading.RLock()


class Complaint(ValueError):
    """One sentence about a student's function."""


@contextmanager
def computing():
    """No gradients, one BLAS thread, and torch's own defaults: new tensors are float32 and on the CPU.

    Front ends may run callbacks on a thread of their own: torch's gradient mode does not carry over
    to it, and a fresh team of BLAS threads there can make a small product a hundred times slower.
    The defaults may have been changed by a learner who went on to float64 or to a GPU. The lock keeps what
    belongs to the whole process from being restored wrongly.
    """
    with _one_at_a_time:
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch_defaults(), torch.no_grad(), np.errstate(all="ignore"):
                yield
        finally:
            torch.set_num_threads(threads)


def pick(function, *known):
    """Which of the known exercises a function answers: the one of its name, otherwise the first."""
    name = getattr(function, "__name__", None)
    return name if name in known else known[0]


def ask(function, *arguments):
    """What the function returns; a Complaint in place of its exception. Arguments go in as copies."""
    if not callable(function):
        raise Complaint(
            f"explore was given {written(function)} as your function: give the function's name without brackets, "
            "and parameters by their names."
        )
    try:
        with deadline(LONGEST_CALL):
            return function(*map(copy.deepcopy, arguments))
    except NotImplementedError as error:
        raise Complaint(f"Your {title(function)} is not written yet: write it, run its cell, then this one.") from error
    except KeyboardInterrupt as stop:  # the stop button: whoever runs the cell wants to be rid of it
        raise Stopped(f"Your {title(function)} was stopped{place(stop)}: {NO_END}") from None
    except DidNotEnd as end:
        raise Complaint(f"Your {title(function)} did not end within {LONGEST_CALL} s{place(end)}: {NO_END}") from None
    except BaseException as error:
        raise Complaint(f"Your {title(function)} raised {describe(error)}.") from error


def title(function):
    return getattr(function, "__name__", type(function).__name__)


def describe(error):
    """``ValueError: d_model 10 … (line 3)``: the error's first line, and where the student wrote it."""
    message = words_of(error).strip().split("\n")[0][:200].rstrip(".")
    return f"{type(error).__name__}{': ' * bool(message)}{message}{place(error)}"


def place(error):
    """``" (line 3)"``, the line of the student's own that an error came from, or nothing."""
    frames = traceback.extract_tb(error.__traceback__)[1:]  # the first is the call in ask
    return f" (line {frames[0].lineno})" if frames else ""


def pair(function, result):
    """The result as (out, weights); a Complaint where it is anything else."""
    if result is None:
        raise Complaint(f"Your {title(function)} returned None: does it end with return out, weights?")
    if not isinstance(result, tuple | list) or len(result) != 2 or any(part is None for part in result):
        kind = type(result).__name__
        if isinstance(result, tuple | list):
            kind += f" of {', '.join(type(part).__name__ for part in result) or 'nothing'}"
        raise Complaint(f"Your {title(function)} returned {kind}: the pair (out, weights) was wanted.")
    return result


def arrays(function, result, out_shape, weights_shape, finite=slice(None)):
    """The result as the pair (out, weights) of arrays of these shapes, by ``pair`` and ``numbers``."""
    named = zip(pair(function, result), (out_shape, weights_shape), ("out", "weights"), strict=True)
    return tuple(numbers(function, part, shape, finite, name) for part, shape, name in named)


def attention(function, q, k, mask=None):
    """A student's attention from q (B, H, T, d) to k (B, H, S, d), which are the values too: arrays (out, weights).

    Under a mask (1, 1, T, S) the rows that may attend to nothing may be NaN.
    """
    arguments, finite = (q, k, k), slice(None)
    if mask is not None:
        arguments, finite = (*arguments, mask), np.flatnonzero(mask[0, 0].any(-1))
    return arrays(function, ask(function, *arguments), tuple(q.shape), (*q.shape[:-1], k.shape[-2]), finite)


def numbers(function, result, shape, finite=slice(None), part=""):
    """The result as a float64 array of this shape; a Complaint where it is anything else, or not finite.

    ``finite`` selects the rows, on the last axis but one, in which NaN and infinity are refused. ``part`` names what
    the result is of all that the function returned.
    """
    came = f"Your {title(function)} returned {part}{' of ' if part else ''}"
    wanted = f"an array of shape {shape} was wanted" if shape else "a number was wanted"
    if result is None:
        raise Complaint(f"{came}None: does it end with return?")
    try:
        array = as_array(result)
    except ValueError:  # lists of different lengths
        raise Complaint(f"{came}rows of different lengths: {wanted}.") from None
    except Exception as error:  # a sparse tensor, a list of tensors that want gradients
        kind = type(result).__name__
        raise Complaint(f"{came}{kind} that cannot be read as an array: {wanted}.") from error
    if array.dtype.kind not in "biuf":
        kind = f"{array.dtype} numbers" if array.dtype.kind == "c" else type(result).__name__
        raise Complaint(f"{came}{kind}: {wanted}.")
    if array.shape != shape:
        raise Complaint(f"{came}shape {array.shape}: {wanted}.")
    array = array.astype(np.float64)
    bad = np.zeros(shape, dtype=bool)
    judged = (..., finite, slice(None)) if len(shape) > 1 else ...
    bad[judged] = ~np.isfinite(array[judged])
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        place = (
            f"{' in ' if part else ''}{part} at {list(where)}: every entry should be a number"
            if where
            else f": {wanted}"
        )
        raise Complaint(f"Your {title(function)} returned {array[where]}{place}.")
    return array


def as_array(result):
    """The result as an array: float64 of a tensor that is not complex, otherwise of its own type."""
    if isinstance(result, torch.Tensor):
        result = result.detach().cpu()
        result = (result if result.is_complex() else result.double()).resolve_conj().numpy()
    return np.asarray(result)


def tensor(function, result, shape):
    """``numbers``, as a float32 tensor."""
    return torch.as_tensor(numbers(function, result, shape), dtype=torch.float32)


def comparison(function, mine, theirs, part=""):
    """One sentence on how far a student's array is from the course's, both of one shape."""
    if agree(mine, theirs):
        return f"Your {title(function)} agrees with the course's."
    gap = np.abs(np.asarray(mine) - np.asarray(theirs))
    where = np.unravel_index(gap.argmax(), gap.shape)
    by = f"up to {gap.max():.3g}, at {[int(i) for i in where]}" if gap.ndim else f"{gap:.3g}"
    return (
        f"Your {title(function)} differs from the course's {f'in {part} ' if part else ''}by {by}: "
        f"{np.asarray(theirs)[where]:.3g} where {np.asarray(mine)[where]:.3g} is right."
    )


def comparison_of_pair(function, mine, theirs):
    """``comparison`` of two pairs (out, weights): of the weights where they differ, otherwise of what comes out."""
    if agree(mine[1], theirs[1]):
        return comparison(function, mine[0], theirs[0], "out")
    return comparison(function, mine[1], theirs[1], "weights")


def agree(mine, theirs):
    """Whether two arrays of one shape are the same up to rounding."""
    return bool(np.all(np.abs(np.asarray(mine) - np.asarray(theirs)) < CLOSE))
