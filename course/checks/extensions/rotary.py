"""Checks of rotate, the rotary encoding of x (B, H, T, d_head) with interleaved pairs.

``shape`` and ``sizes`` are (B, H, T, d_head), all four different.
"""

import numpy as np
import torch

from course.checks.compare import (
    agrees,
    as_array,
    check_close,
    check_shape,
    check_tensor,
    check_true,
    dtype_name,
    likeliest,
)
from course.checks.exam import check
from course.checks.exceptions import message_in
from course.checks.failure import CheckFailed
from course.checks.gradients import check_gradient_of_own
from course.checks.inputs import normal
from course.encoding import BASE, frequencies, rotate, sinusoidal_encoding

_PAIR = (
    "At position p pair i turns by a = p / 10000**(2*i/d_head): "
    "its features (x, y) become (x cos a - y sin a, x sin a + y cos a)."
)
_ANGLES = (
    "One angle for each position and each pair: (T, 1) positions and (d_head/2,) frequencies make (T, d_head/2), "
    "with T = x.shape[-2]."
)
_GRAPH = "Stay in torch from x to the result: no detach, no no_grad, no way through NumPy."


@check("shape")
def rotary_shape(candidate, sizes):
    for shape in sizes:
        _turned(candidate, normal(*shape))


@check("numbers by hand")
def rotary_by_hand(candidate, x, expected):
    """x and expected are the rows (T, d_head) of one head of one item."""
    result, expected = _turned(candidate, torch.tensor([[x]])), torch.tensor([[expected]])
    if not agrees(result, expected):
        check_close(result, expected, _cause(candidate) or _PAIR, atol=1e-5)


@check("values")
def rotary_values(candidate, sizes):
    """float32, also where x is a view with its axes in another order in memory."""
    for seed, shape in enumerate(sizes):
        x = normal(*shape, seed=seed)
        strided = normal(shape[0], shape[2], shape[1], shape[3], seed=seed + 50).transpose(1, 2)
        for given in (x, strided):
            check_close(_turned(candidate, given), rotate(given), _PAIR, atol=1e-5, suspects=mistaken_turns(given))


@check("precision, dtype and device")
def rotary_keeps_kind(candidate, shape):
    """The dtype of x; 1e-8 in float64 where float32 is right, else agreement of the two with each other."""
    x = normal(*shape, dtype=torch.float64)
    single, double = candidate(x.float()), candidate(x)
    for result, dtype in ((single, torch.float32), (double, torch.float64)):
        check_tensor(result)
        check_true(
            result.dtype == dtype,
            f"the result is {dtype_name(result)} for x in {str(dtype).removeprefix('torch.')}.",
            "A NumPy table is float64 and torch makes float32: give cosines and sines the dtype of x.",
        )
    hint = "Compute the angles in the precision of x, or in float64, and convert the cosines and sines at the end."
    if agrees(single, rotate(x.float())):
        check_close(double, rotate(x), hint)
    else:
        check_close(double, single.double(), hint, atol=1e-2)  # wrong angles may be large, and coarse in float32
    check_true(
        not candidate.mixes_devices(x.float()),
        "the angles are not on the device of x.",
        "On a GPU this fails: make the angles with device=x.device, or move them with .to(x.device).",
    )


@check("a new tensor, x unchanged, gradients")
def rotary_keeps_x(candidate, shape):
    x = normal(*shape)
    _, (after,) = candidate.observe(x)
    check_true(torch.equal(x, after), "x was changed in place.", "Make new tensors: x[..., 0::2] = ... writes into x.")
    check_gradient_of_own(candidate, (x,), 0, _GRAPH)


def _turned(candidate, x):
    """The student's result, of x's shape; whether it is a tensor, is for rotary_keeps_kind to judge."""
    try:
        result = candidate(x)
    except CheckFailed as failure:
        hint = _ANGLES if "must match" in message_in(failure.seen) else failure.hint
        raise CheckFailed(failure.seen, hint, general=failure.general) from None
    if isinstance(result, tuple | list):
        raise CheckFailed(f"the result is a tuple of {len(result)}.", "Return the turned x alone.")
    as_array(result)  # says so when it is no array
    check_shape(result, x.shape, "Turning changes no shape: put the two halves of every pair back to where they were.")
    return result


def _cause(candidate):
    """The hint of the slip that the candidate shows in a case where every slip gives another result, or None."""
    for dtype in (torch.float32, torch.float64):  # large angles are exact enough in float64 alone
        x = normal(3, 4, 7, 14, seed=3, dtype=dtype)
        if cause := likeliest(_turned(candidate, x), mistaken_turns(x)):
            return cause
    return None


def turned(x, angles, sign=1):
    """x (..., d_head) with its interleaved pairs turned by angles that broadcast to (..., d_head/2)."""
    cos, sin = (torch.as_tensor(f(angles), dtype=x.dtype) for f in (np.cos, np.sin))
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - sign * odd * sin, sign * even * sin + odd * cos), dim=-1).flatten(-2)


def mistaken_turns(x):
    """(hint, tensor) for what people return instead of the rotary encoding of x (B, H, T, d_head)."""
    _, num_heads, time, d_head = x.shape
    position, pairs = np.arange(time)[:, None], np.arange(d_head // 2)
    angles, right = position * frequencies(d_head), rotate(x)

    def power(exponent, base=float(BASE), start=0):
        return turned(x, (position + start) / base**exponent)

    yield "This is x as it came: return what was turned.", x
    yield "It turns the other way: the first of a pair becomes x cos a - y sin a.", turned(x, angles, sign=-1)
    yield "Pairs are neighbouring features, 2i and 2i+1; here they are half the width apart.", _by_halves(x, angles)
    yield "Positions count from 0: the first token is not turned.", power(2 * pairs / d_head, start=1)
    yield "Pair i has the exponent 2*i/d_head; here it is i/d_head, or the base is 100.", power(pairs / d_head)
    yield "The exponent is doubled once too often.", power(4 * pairs / d_head)
    yield "Pairs count from 0: the first turns by the position itself.", power(2 * (pairs + 1) / d_head)
    yield "Divide 2*i by d_head; here the last pair turns at exactly 1/10000.", power(pairs / max(len(pairs) - 1, 1))
    yield "Every pair has its own frequency; here all have the first one's.", power(0 * pairs)
    yield "Divide the position by 10000**(2*i/d_head); here it is multiplied by it.", power(-2 * pairs / d_head)
    yield (
        "Divide 2*i by d_head, the width of a head; here it is divided by H * d_head.",
        power(2 * pairs / (num_heads * d_head)),
    )
    for base in (1000.0, 100_000.0):
        yield f"The base of the power is 10000; here it is {base:.0f}.", power(2 * pairs / d_head, base)
    yield "np.sin takes radians: no conversion from degrees.", turned(x, np.deg2rad(angles))
    yield "Every token turns once: here the angle is there twice.", turned(x, 2 * angles)
    yield "Sine and cosine have changed places.", turned(x, np.pi / 2 - angles)
    yield "There is no 2*pi in the angle.", turned(x, 2 * np.pi * angles)
    yield "The slowest pair comes last; here the pairs are in reverse.", turned(x, angles[:, ::-1].copy())
    yield "Positions count upwards: here the last token is not turned.", turned(x, angles[::-1].copy())
    if time > 1:
        yield "Every token turns by its own position; here all turn by the same angle.", turned(x, angles[1:2])
    for axis, name in ((0, "batch"), (1, "heads")):
        along = np.arange(x.shape[axis]).reshape([-1 if i == axis else 1 for i in range(4)]) * frequencies(d_head)
        yield f"Positions run along T, the last axis but one; here they run along the {name}.", turned(x, along)
    even, odd = right[..., 0::2], right[..., 1::2]
    yield (
        "The turned pairs go back to columns 2i and 2i+1; here all the first ones come first.",
        torch.cat((even, odd), -1),
    )
    yield (
        "The turned pairs go back to columns 2i and 2i+1; here they changed places.",
        torch.stack((odd, even), -1).flatten(-2),
    )
    yield (
        "Turning keeps the length of a pair: one of the two sines has a minus, here neither has.",
        _with_signs(x, angles, 1, 1),
    )
    yield (
        "Turning keeps the length of a pair: one of the two sines has a minus, here both have.",
        _with_signs(x, angles, -1, -1),
    )
    yield (
        "The second of a pair becomes x sin a + y cos a; here it is x sin a - y cos a.",
        torch.stack((even, _with_signs(x, angles, 1, -1)[..., 1::2] * -1), -1).flatten(-2),
    )
    halves = _by_halves(x, angles)
    yield (
        "Pairs are neighbours, x[..., 0::2] and x[..., 1::2]; here they are taken from the two halves of x.",
        torch.stack(halves.chunk(2, -1), -1).flatten(-2),
    )
    changed = even * torch.as_tensor(np.sin(angles), dtype=x.dtype)
    changed = changed + x[..., 1::2] * torch.as_tensor(np.cos(angles), dtype=x.dtype)
    yield (
        "The second of a pair needs the first as it was, not as it was turned already.",
        torch.stack((even, changed), -1).flatten(-2),
    )
    table = torch.as_tensor(sinusoidal_encoding(time, d_head), dtype=x.dtype)
    yield "Rotary encoding turns x; here the sinusoids are added to it.", x + table
    yield "Rotary encoding turns pairs; here x is multiplied by the sinusoids.", x * table
    cos = torch.as_tensor(np.repeat(np.cos(angles), 2, -1), dtype=x.dtype)
    yield "The sines are missing: this is x times the cosines.", x * cos
    yield "Only the first item of the batch was turned.", torch.cat((right[:1], x[1:]))
    yield "Only the first head was turned: every head is.", torch.cat((right[:, :1], x[:, 1:]), 1)
    yield "Only the first pair was turned.", torch.cat((right[..., :2], x[..., 2:]), -1)
    tiled = np.concatenate((angles, angles), -1)  # cosines as for halves, pairs as for neighbours
    yield (
        "The angles are laid out for pairs half the width apart: repeat each one twice in a row.",
        x * torch.as_tensor(np.cos(tiled), dtype=x.dtype)
        + _quarter_turn(x) * torch.as_tensor(np.sin(tiled), dtype=x.dtype),
    )


def _by_halves(x, angles):
    """Rotary encoding with the pairs (i, i + d_head/2)."""
    cos, sin = (torch.as_tensor(f(angles), dtype=x.dtype) for f in (np.cos, np.sin))
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)


def _with_signs(x, angles, above, below):
    """Each pair (x, y) as (x cos + above * y sin, below * x sin + y cos)."""
    cos, sin = (torch.as_tensor(f(angles), dtype=x.dtype) for f in (np.cos, np.sin))
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos + above * odd * sin, below * even * sin + odd * cos), -1).flatten(-2)


def _quarter_turn(x):
    """Each pair (x, y) as (-y, x)."""
    return torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)
