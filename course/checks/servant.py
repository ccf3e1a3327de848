"""The student's side of an exam in two processes: it does what a request says, and answers with plain values.

A request names a method of ``Candidate`` or ``Layer`` and its arguments; the answer is the result, or
what a check would have said. The layers that were built stay here, by number.
"""

import importlib
import os
import socket
import sys

from course.checks import frames, wire
from course.checks.candidate import Candidate
from course.checks.exceptions import sentence
from course.checks.failure import CheckFailed
from course.checks.layer import Layer

ASKABLE = {
    Candidate: (
        "__call__",
        "observe",
        "once_more",
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
        "once_more",
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


def begin():
    """Forget the layers of the exam before."""
    _layers.clear()


def serve(descriptor):
    """Answer what one exam asks through the socket ``descriptor`` about the notebook's names; an empty text ends it."""
    begin()
    namespace = vars(sys.modules["__main__"])
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        while request := frames.receive(connection):
            frames.send(connection, handle(namespace, request))


def handle(namespace, request):
    """Answer one request, JSON text, about the names of ``namespace``; returns JSON text."""
    order = wire.loads(request)
    asked, hint = f"what {order['name']} returned", "Return what the docstring says, of that very type."
    if order["method"] == "value":
        asked, hint = order["name"], "Give it what its cell asks for, and no more."
    try:
        reply = wire.dumps(answer(namespace, order))
        if len(reply) <= frames.LARGEST:
            return reply
        size, most = len(reply) // 2**20, frames.LARGEST // 2**20
        failure = CheckFailed(f"{asked} is too large: it takes {size} MiB, and at most {most} can be looked at.", hint)
    except CheckFailed as check:
        failure = check
    except KeyboardInterrupt:  # the answer's own: where the time is up, nobody reads this
        failure = CheckFailed(f"{order['name']} raised KeyboardInterrupt.", "Take out what raises it.")
    except BaseException as error:  # a result so odd that looking at it raises, whatever it likes
        failure = CheckFailed(f"{asked} cannot be examined ({sentence(error)}).", hint)
    return wire.dumps({"failure": (failure.seen, failure.hint, failure.general)})


def answer(namespace, order):
    """{"result": value}, or {"layer": number} for a layer that was built."""
    name = order["name"]
    if order["method"] == "value":
        return {"result": {name: namespace[name]} if name in namespace else {}}
    candidate = Candidate(name, namespace, order["from_scratch"])
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
