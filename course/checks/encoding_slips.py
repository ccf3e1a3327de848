"""What people write instead of the sinusoidal encoding: pairs (hint, wrong value), computed when asked for.

p counts positions (rows), j columns and ``pair = j // 2`` the (sine, cosine) pairs.
"""

import numpy as np
import torch

from course.encoding import BASE, sinusoidal_encoding


def waves(angle, sine):
    """Sines of angle (T, d) in the columns where sine holds, cosines in the others."""
    return np.where(sine, np.sin(angle), np.cos(angle))


def mistaken_tables(seq_len, d_model):
    """(hint, table): every table has the right shape (seq_len, d_model) and wrong numbers."""
    p, j = np.arange(seq_len)[:, None], np.arange(d_model)
    pair, even = j // 2, j % 2 == 0
    exponent, right = 2 * pair / d_model, sinusoidal_encoding(seq_len, d_model)
    angle = p / BASE**exponent

    def power(wrong_exponent, base=float(BASE), start=0):
        return waves((p + start) / base**wrong_exponent, even)

    yield "Positions count from 0: row 0 is sin(0), cos(0), sin(0), and so on.", power(exponent, start=1)
    yield "Even columns are sines and odd ones cosines; here they are the other way round.", waves(angle, ~even)
    yield (
        "Sine and cosine of a pair share the exponent of the even column, 2*(j//2)/d_model; here it is j/d_model.",
        power(j / d_model),
    )
    yield "Pair i has the exponent 2*i/d_model; here it is i/d_model, or the base is 100.", power(pair / d_model)
    yield (
        "The exponent is doubled once too often: an even column's number is 2*i already.",
        power(4 * pair / d_model),
    )
    yield "The exponent of column j is 2*(j//2)/d_model; here it is 2*j/d_model.", power(2 * j / d_model)
    from_one = j + 1
    yield (
        "Columns count from 0: column 0 is the sine of p; here they count from 1.",
        waves(p / float(BASE) ** (2 * (from_one // 2) / d_model), from_one % 2 == 0),
    )
    yield "Pairs count from 0, so column 0 is sin(p): its exponent is 0.", power(2 * (pair + 1) / d_model)
    yield from _mistaken_columns(angle, even, pair, right)
    yield "Divide the position by 10000**(2*i/d_model); here it is multiplied by it.", power(-exponent)
    for base in (1000.0, 100_000.0):
        yield f"The base of the power is 10000; here it is {base:.0f}.", power(exponent, base)
    yield "Divide the position with /: // cuts off the fractions of the angle.", waves(np.floor(angle), even)
    for log in (np.log10, np.log2):
        yield (
            f"exp goes with the natural logarithm, np.log; here it is {log.__name__}.",
            power(exponent, np.exp(log(BASE))),
        )
    yield "Divide 2*i by d_model: the exponent is 2*i/d_model.", power(np.minimum(2.0 * pair, 70))
    yield "exp(-2*i/d_model) lacks the factor log(10000) in its exponent.", power(exponent, np.e)
    hint = "Every angle is p / 10000: the power is missing, which is written ** (2*i/d_model); ^ is another operator."
    yield hint, waves(p / BASE + 0 * j, even)
    yield "Every column has the same frequency: divide 2*i by d_model with /, not //.", power(0 * pair)
    yield (
        "Brackets: 10000 ** (2*i / d_model). Without them the power is taken first, and divided by d_model after.",
        waves(p / BASE ** np.minimum(2.0 * pair, 70) / d_model, even),
    )
    yield (
        "Brackets: p / (10000 ** (2*i / d_model)). Here p / 10000 is raised to the power.",
        waves((p / BASE) ** exponent, even),
    )
    yield (
        "Divide 2*i by d_model; here the frequencies are spread so that the last is exactly 1/10000.",
        power(pair / max(-(-d_model // 2) - 1, 1)),
    )
    for width in (64, 128, 256, 512, 1024):
        if width != d_model:
            yield f"Divide 2*i by the d_model that is asked for; here it is {width} always.", power(2 * pair / width)
    yield "Divide 2*i by d_model, the width; here it is divided by seq_len.", power(2 * pair / seq_len)
    yield "Divide 2*i by d_model; here it is divided by d_model - 1.", power(2 * pair / max(d_model - 1, 1))
    yield "Divide 2*i by d_model; here it is divided by d_model + 1.", power(2 * pair / (d_model + 1))
    yield "np.sin takes radians: no conversion from degrees.", waves(np.deg2rad(angle), even)
    yield "The position enters as it is; here it is divided by seq_len.", waves(angle / seq_len, even)
    yield "The position enters as it is; here it is divided by seq_len - 1.", waves(angle / max(seq_len - 1, 1), even)
    yield "There is no 2*pi in the angle: it is p / 10000**(2*i/d_model).", waves(2 * np.pi * angle, even)
    yield "These are the angles: take sine and cosine of them.", angle
    yield "Sines and cosines enter as they are, without a factor.", right * np.sqrt(d_model)
    yield "Sines and cosines enter as they are, without a factor.", right / np.sqrt(d_model)
    yield (
        "Sines and cosines enter as they are: no row is brought to length 1.",
        right / np.linalg.norm(right, axis=1, keepdims=True).clip(1e-9),
    )
    yield "The rows are in reverse: row 0 is position 0.", right[::-1]
    for digits in range(1, 5):
        yield "Sines and cosines enter as they are: here they are rounded.", right.round(digits)
    yield (
        "Row and column are exchanged: p is the row, and the frequency depends on the column.",
        waves(np.arange(d_model) / float(BASE) ** (2 * (p // 2) / d_model), p % 2 == 0),
    )


def _mistaken_columns(angle, even, pair, right):
    """Right angles in wrong places, or in too few."""
    d_model, half = len(even), -(-len(even) // 2)
    position, first_half = np.arange(len(right))[:, None], np.arange(d_model) < half
    shared = "Sine and cosine of a pair share the angle of the even column; here the cosine "
    step = angle[:, :1] / float(BASE) ** (2 * (pair + 1) / d_model)
    yield f"{shared}has that of the next pair.", np.where(even, right, np.cos(step))
    yield (
        "The cosine is taken of the sine: keep the angles, and take both of them.",
        np.where(even, right, np.cos(right[:, 2 * pair])),
    )
    yield (
        "The column chooses between sine and cosine; here the position does.",
        waves(angle, position % 2 == 0),
    )
    yield "The pairs are in reverse: the first one turns fastest.", waves(angle[:, ::-1], even)
    side_by_side = np.zeros_like(right)
    for i in range(d_model // 2):
        side_by_side[:, i : i + 2] = right[:, 2 * i : 2 * i + 2]
    yield (
        "Pair i has the columns 2*i and 2*i + 1; here it has i and i + 1, and overwrites the one before.",
        side_by_side,
    )
    blocks = angle[:, np.where(first_half, 2 * np.arange(d_model), 2 * (np.arange(d_model) - half))]
    yield "Interleave: sine, cosine, sine, cosine; here all sines come first.", waves(blocks, first_half)
    yield "Interleave: sine, cosine, sine, cosine; here all cosines come first.", waves(blocks, ~first_half)
    yield (
        "Even columns are sines and odd ones cosines; here the first half is sines, the second cosines.",
        waves(angle, np.arange(d_model) < d_model // 2),
    )
    yield "Odd columns are cosines; here every column is a sine.", np.sin(angle)
    own = position / float(BASE) ** (np.arange(d_model) / d_model)
    yield "A loop over pairs goes in steps of 2: in steps of 1 each sine writes over the cosine before it.", np.sin(own)
    yield "Even columns are sines; here every column is a cosine.", np.cos(angle)
    yield "The table was made and never filled.", right * 0
    yield "The cosines of the odd columns are missing.", np.where(even, right, 0)
    yield "The cosines of the odd columns are missing.", np.where(even, right, 1)
    yield "The last pair is missing: the loop ends too early.", np.where(pair == pair[-1], 0, right)
    last = np.arange(d_model) == d_model - 1
    yield "The last cosine is missing: its pair has two columns, like every other.", np.where(last, 0, right)
    if d_model > 1:
        repeated = right[:, np.minimum(np.arange(d_model), d_model - 2)]
        yield "The last column repeats the one before it: it has a wave of its own.", repeated
    yield "The sines of the even columns are missing.", np.where(even, 0, right)
    first_row = position == 0
    yield "Only the first row is filled: return after the loops, not inside.", np.where(first_row, right, 0)
    yield "Only the first pair is filled: return after the loops, not inside.", np.where(pair == 0, right, 0)
    yield "Row 0 is not filled: p runs from 0 to seq_len - 1.", np.where(first_row, 0, right)
    yield "The last row is not filled: p runs from 0 to seq_len - 1.", np.concatenate((right[:-1], 0 * right[-1:]))


def mistaken_odd_tables(seq_len, d_model):
    """(hint, table) for slips that only an odd d_model shows; most touch nothing but the last column."""
    right = sinusoidal_encoding(seq_len, d_model)
    angle = np.arange(seq_len)[:, None] / float(BASE) ** ((d_model - 1) / d_model)

    def ending(column):
        return np.concatenate((right[:, :-1], column), axis=1)

    yield "The last column stays 0: an odd d_model has one sine more than cosines.", ending(0 * angle)
    yield "The last column stays 1: it is a sine, with a frequency of its own.", ending(0 * angle + 1)
    yield "The last column of an odd d_model is a sine; here it is a cosine.", ending(np.cos(angle))
    if d_model > 1:
        yield "The last column repeats the cosine before it: it is a sine of its own.", ending(right[:, -2:-1])
        yield "The last column repeats the sine before it: it has a frequency of its own.", ending(right[:, -3:-2])
    rounded_up = sinusoidal_encoding(seq_len, d_model + 1)[:, :-1]
    yield "Divide by d_model itself in the exponent; here it was rounded up to an even number.", rounded_up
    j = np.arange(d_model)
    rounded_down = np.arange(seq_len)[:, None] / float(BASE) ** (2 * (j // 2) / max(d_model - 1, 1))
    rounded_down, last = waves(rounded_down, j % 2 == 0), j == d_model - 1
    for wrong in (rounded_down, np.where(last, 0, rounded_down)):
        yield "Divide by d_model itself in the exponent; here it was rounded down.", wrong
    later = np.arange(seq_len)[:, None] / float(BASE) ** ((j + 1) / d_model)
    yield (
        "The cosines leave out the last frequency; here they leave out the first.",
        np.where(j % 2, np.cos(later), right),
    )


def mistaken_sums(x):
    """(hint, tensor) for what people return instead of x (B, T, E) plus the encoding of its T positions."""
    batch, time, width = x.shape

    def table(rows):
        return torch.as_tensor(sinusoidal_encoding(rows, width), dtype=x.dtype)

    pe = table(time)
    once = "Add the encoding once, to x as it is, without a factor."
    yield "This is x as it came: the encoding was computed and not added.", x
    yield "This is the encoding alone: add it to x.", pe.expand_as(x)
    yield "Positions run along T, the second axis; here they run along the batch.", x + table(batch)[:, None]
    yield (
        "Every item of the batch starts at position 0; here the count runs on from item to item.",
        x + table(batch * time).reshape(x.shape),
    )
    yield "Only the first item of the batch got its positions.", torch.cat((x[:1] + pe, x[1:]))
    yield "Positions count from 0: the first token gets row 0.", x + table(time + 1)[1:]
    sideways = torch.as_tensor(sinusoidal_encoding(width, time).T, dtype=x.dtype)
    yield "The encoding is asked for T rows and E columns, in that order; here they are exchanged.", x + sideways
    yield "Add the encoding; here it is subtracted.", x - pe
    yield "Add the encoding; here it multiplies x.", x * pe
    yield "Add the encoding once; here it is there twice.", x + 2 * pe
    yield (
        "The paper multiplies x by the square root of E before it adds; this exercise adds to x as it is.",
        x * width**0.5 + pe,
    )
    yield "Each token gets the row of its own position; here all get row 0.", x + pe[:1]
    yield "Each token gets the row of its own position; here all get the last row.", x + pe[-1:]
    yield "The rows are in reverse: the first token gets row 0.", x + pe.flip(0)
    yield (
        "Of the encoding only row 0 arrives: whole numbers cut the others off, and so does a return inside the loop.",
        x + pe.trunc(),
    )
    yield (
        "This adds the position itself: add its encoding, sines and cosines of it.",
        x + torch.arange(time).to(x)[:, None],
    )
    yield once, (x + pe) / 2
    yield once, x + pe / width**0.5
    yield once, x + pe * width**0.5
    yield "The sum is returned as it is: no normalisation behind it.", torch.nn.functional.layer_norm(x + pe, (width,))
    yield once, torch.nn.functional.normalize(x, dim=-1) + pe
    for hint, wrong in (*mistaken_tables(time, width), *(mistaken_odd_tables(time, width) if width % 2 else ())):
        yield f"In the encoding: {hint}", x + torch.as_tensor(wrong.copy(), dtype=x.dtype)
