"""What can be moved in an explorer, and which values it may take.

Every kind of parameter has ``name``, ``label``, ``default`` and ``check(value)``, which returns the
value in its own type or raises ValueError with one sentence, and ``nearest(value)``, what a control
shows for any value at all. Nothing here knows of widgets.
"""

import math
import numbers
import operator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

LONGEST = 60  # characters of a bad value that a sentence repeats


def written(value):
    """A value as code, on one line and cut where it is long."""
    try:
        return cut(repr(value))
    except Exception:  # a number of thousands of digits, an object that cannot be shown
        return f"of type {type(value).__name__}"


def cut(text):
    """The text on one line, as much of it as a sentence repeats."""
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 2].rstrip()} …"


class Parameter:
    def nearest(self, value):
        """The value where it is a good one, otherwise the default."""
        try:
            return self.check(value)
        except ValueError:
            return self.default


@dataclass(frozen=True)
class Whole(Parameter):
    """A whole number from low to high; a slider moves it by step."""

    name: str
    label: str
    default: int
    low: int
    high: int
    step: int = 1

    def check(self, value):
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise ValueError(f"{self.name} {written(value)} is not a whole number: choose {self.low} to {self.high}.")
        if not self.low <= value <= self.high:
            side = "below" if value < self.low else "above"
            limit = self.low if value < self.low else self.high
            raise ValueError(f"{self.name} {written(int(value))} is {side} {limit}: choose {self.low} to {self.high}.")
        return int(value)

    def nearest(self, value):
        if isinstance(value, numbers.Integral):
            return min(max(int(value), self.low), self.high)
        return self.default


@dataclass(frozen=True)
class Choice(Parameter):
    """One of a few named options."""

    name: str
    label: str
    default: object
    options: tuple

    def check(self, value):
        with suppress(ValueError, RuntimeError):  # of an array and a tensor, too, which are equal to nothing
            return self.options[self.options.index(value)]
        names = ", ".join(map(repr, self.options))
        raise ValueError(f"{self.name} {written(value)} is not known: choose one of {names}.")


@dataclass(frozen=True)
class Flag(Parameter):
    """Yes or no."""

    name: str
    label: str
    default: bool = False

    def check(self, value):
        if not isinstance(value, bool | np.bool_):
            raise ValueError(f"{self.name} {written(value)} is not a yes or no: give True or False.")
        return bool(value)


@dataclass(frozen=True)
class Row(Parameter):
    """A row of weights from 0 to 1, one for each of the labelled entries; None means nothing filled in."""

    name: str
    label: str
    entries: tuple
    default: tuple = None

    def check(self, value):
        if value is None:
            return None
        wanted = f"give {len(self.entries)} weights from 0 to 1"
        value = getattr(value, "detach", lambda: value)()  # torch warns of reading a number that wants its gradient
        try:
            row = tuple(float(weight) for weight in (value if not isinstance(value, str) else None))
        except (TypeError, ValueError, RuntimeError):  # the last of a tensor with more axes
            raise ValueError(f"{self.name} {written(value)} is not a row of numbers: {wanted}.") from None
        if len(row) != len(self.entries):
            raise ValueError(f"{self.name} has {len(row)} weights: {wanted}.")
        for weight in row:
            if not (math.isfinite(weight) and 0 <= weight <= 1):
                raise ValueError(f"{self.name} has the weight {weight:g}: {wanted}.")
        return row


@dataclass(frozen=True)
class Order(Parameter):
    """Positions in the order in which they are to be read, as numbers or as text; None or "" leaves it open."""

    name: str
    label: str
    default: tuple = None

    def check(self, value):
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        wanted = "write every position once, for instance 1 0 2"
        try:
            typed = isinstance(value, str)
            order = tuple(map(int, value.replace(",", " ").split()) if typed else map(operator.index, value))
        except (TypeError, ValueError):
            raise ValueError(f"{self.name} {written(value)} is not a row of positions: {wanted}.") from None
        if sorted(order) != list(range(len(order))):
            row = cut(" ".join(map(str, order)))
            raise ValueError(f"{self.name} {row} leaves out or repeats a position: {wanted}.")
        return order

    def nearest(self, value):
        return value if isinstance(value, str) else super().nearest(value)  # what was typed is there to be mended


def start(parameters, initial):
    """The state (a dict) that an explorer starts from; TypeError for names that it does not have."""
    state = {parameter.name: parameter.default for parameter in parameters}
    return changed(parameters, state, initial)


def changed(parameters, state, changes):
    """The state after changes: good values in their own type, bad ones as they came, unknown names a TypeError."""
    unknown = sorted(set(changes) - set(state))
    if unknown:
        raise TypeError(f"no parameter {', '.join(unknown)}: this explorer has {', '.join(state)}")
    result = state | changes
    for parameter in parameters:
        with suppress(ValueError):  # the explorer shows what is wrong with it
            result[parameter.name] = parameter.check(result[parameter.name])
    return result


def checked(parameters, state):
    """The state with every value in its own type; ValueError with one sentence about the first bad one."""
    return {parameter.name: parameter.check(state[parameter.name]) for parameter in parameters}


def mended(parameters, state):
    """The state with the default or the nearest value in place of every bad one."""
    good = {}
    for parameter in parameters:
        try:
            good[parameter.name] = parameter.check(state[parameter.name])
        except ValueError:
            near = parameter.nearest(state[parameter.name])
            good[parameter.name] = parameter.default if isinstance(near, str) else near
    return good
