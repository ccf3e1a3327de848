"""The student's side of an exam in two processes: it does what a request says, and answers with plain values.

A request names a method of ``Candidate`` or ``Layer`` and its arguments; the answer is the result, or
what a check would have said. The layers that were built stay here, by number.
"""

import importlib

from course.checks import wire
from course.checks.candidate import Candidate, Layer
from course.checks.failure import CheckFailed

ASKABLE = {
    Candidate: (
        "__call__",
        "observe",
        "raised_by",
        "gradients",
        "seen_as",
        "build",
        "after_overwriting",
        "mixes_devices",
        "lend",
        "give_back",
    ),
    Layer: (
        "__call__",
        "observe",
        "raised_by",
        "parameters",
        "trainable",
        "buffers",
        "find",
        "load",
        "train",
        "eval",
        "to",
        "gradients",
    ),
}
_layers = {}


def handle(namespace, request):
    """Answer one request, JSON text, about the names of ``namespace``; returns JSON text."""
    order = wire.loads(request)
    try:
        candidate = Candidate(order["name"], namespace, order["from_scratch"])
        if order["method"] == "value":
            return wire.dumps({"result": candidate.object})
        target = candidate if order["layer"] is None else _layers[order["layer"]]
        if order["method"] not in ASKABLE[type(target)]:
            raise ValueError(f"{order['method']} cannot be asked for")
        arguments = list(order["arguments"])
        if order["method"] == "seen_as":
            arguments[0] = view(arguments[0])
        result = getattr(target, order["method"])(*arguments, **order["keywords"])
    except CheckFailed as failure:
        return wire.dumps({"failure": (failure.seen, failure.hint)})
    if isinstance(result, Layer):
        if result is target:  # train, eval and to give back the layer itself
            return wire.dumps({"result": None})
        _layers[len(_layers)] = result
        return wire.dumps({"layer": len(_layers) - 1})
    return wire.dumps({"result": result})


def view(name):
    """The function of course.checks that a request names, ``"figures.describe"``."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"course.checks.{module}"), function)
