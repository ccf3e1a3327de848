"""The student's side of an exam in two processes: it does what a request says, and answers with plain values.

A request names a method of ``Candidate`` or ``Layer`` and its arguments; the answer is the result, or
what a check would have said. The layers that were built stay here, by number.
"""

import importlib
import os
import socket
import sys

from course.checks import frames, wire
from course.checks.candidate import Candidate, Layer
from course.checks.exceptions import sentence
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


def serve(descriptor):
    """Answer what one exam asks through the socket ``descriptor`` about the notebook's names; an empty text ends it."""
    _layers.clear()
    namespace = vars(sys.modules["__main__"])
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        while request := frames.receive(connection):
            frames.send(connection, handle(namespace, request))


def handle(namespace, request):
    """Answer one request, JSON text, about the names of ``namespace``; returns JSON text."""
    order = wire.loads(request)
    try:
        reply = wire.dumps(answer(namespace, order))
        if len(reply) > frames.LARGEST:
            raise ValueError(f"it takes {len(reply) // 2**20} MiB, at most {frames.LARGEST // 2**20} can be looked at")
    except CheckFailed as failure:
        reply = wire.dumps({"failure": (failure.seen, failure.hint)})
    except Exception as error:  # a result so odd that looking at it raises
        seen = f"what {order['name']} returned cannot be examined ({sentence(error)})."
        reply = wire.dumps({"failure": (seen, "Return what the docstring says, of that very type.")})
    return reply


def answer(namespace, order):
    """{"result": value}, or {"layer": number} for a layer that was built."""
    candidate = Candidate(order["name"], namespace, order["from_scratch"])
    if order["method"] == "value":
        return {"result": candidate.object}
    target = candidate if order["layer"] is None else _layers[order["layer"]]
    if order["method"] not in ASKABLE[type(target)]:
        raise ValueError(f"{order['method']} cannot be asked for")
    arguments = list(order["arguments"])
    if order["method"] == "seen_as":
        arguments[0] = view(arguments[0])
    result = getattr(target, order["method"])(*arguments, **order["keywords"])
    if not isinstance(result, Layer):
        return {"result": result}
    if result is target:  # train, eval and to give back the layer itself
        return {"result": None}
    _layers[len(_layers)] = result
    return {"layer": len(_layers) - 1}


def view(name):
    """The function of course.checks that a request names, ``"figures.describe"``."""
    module, _, function = name.rpartition(".")
    return getattr(importlib.import_module(f"course.checks.{module}"), function)
