"""What goes into a call of a student's code and what comes out of it: copies, gradients, memory written over."""

import contextlib
import copy

import numpy as np
import torch


def independent(value):
    """A deep copy; a tensor becomes a leaf that keeps its wish for a gradient, and the order of its axes in memory."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, tuple | list):
        return type(value)(independent(item) for item in value)
    return copy.deepcopy(value)


def copies(arguments, keywords):
    """The arguments and keywords of a call, each an independent copy."""
    return independent(arguments), {key: independent(value) for key, value in keywords.items()}


def gradients_of(result, cotangent, inputs):
    """Gradient of sum(cotangent * result) for each named input; None where the graph is cut."""
    wanted = {name: value for name, value in inputs.items() if value.requires_grad}
    if not isinstance(result, torch.Tensor) or not result.requires_grad:
        return dict.fromkeys(inputs)
    found = torch.autograd.grad((result * cotangent).sum(), list(wanted.values()), allow_unused=True)
    return {**dict.fromkeys(inputs), **dict(zip(wanted, found, strict=True))}


def overwrite(value):
    """Write another number over every entry of an array or a tensor, unless it is read-only."""
    with contextlib.suppress(RuntimeError, ValueError), torch.no_grad():
        if isinstance(value, torch.Tensor):
            value.fill_(77)
        elif isinstance(value, np.ndarray):
            value[...] = 77
