"""The student's function or class under examination: found by name, called with copies, kept quiet.

A call gives a result or fails with one sentence; whatever the student's code prints, warns or changes
stays inside. Tests reach student code through this module alone.
"""

import contextlib
import copy
import linecache
import sys

import numpy as np
import torch
from torch import nn

from course.checks import scratch
from course.checks.compare import kind_of
from course.checks.exceptions import hint_for, in_brackets, sentence
from course.checks.failure import CheckFailed
from course.checks.state import fresh_state, later_state
from course.encoding import sinusoidal_encoding
from course.wording import words_of

LENT = {"positional_encoding": sinusoidal_encoding}  # what an answer may build on, by the name it has there
OWN_ERROR = "This input is allowed, and your own error refuses it: look at the condition in front of it."
_KEPT, _MISSING = "__kept__", object()


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


class Candidate:
    """What the notebook calls ``name``; ``from_scratch`` refuses ready-made attention and ``course``."""

    def __init__(self, name, namespace, from_scratch=False):
        self.name, self.from_scratch = name, from_scratch
        if name not in namespace:
            raise CheckFailed(
                f"{name} is not defined.", "Run the cell that defines it, and keep the name it was given."
            )
        self.object = namespace[name]
        self.namespace = namespace

    def __call__(self, *arguments, **keywords):
        """Result for copies of the arguments. CheckFailed when the student's code raises."""
        return self.observe(*arguments, **keywords)[0]

    def observe(self, *arguments, **keywords):
        """(result, arguments as the call left them)."""
        self.check_callable()
        arguments, keywords = copies(arguments, keywords)
        return self.guard(self.object, *arguments, **keywords), arguments

    def once_more(self, *arguments, **keywords):
        """As a call, with the random generators where no call before found them."""
        with later_state():
            return self(*arguments, **keywords)

    def after_overwriting(self, *arguments):
        """(result of a second call, arguments) after a first call's result was written over, as its owner may do.

        The arguments differ from those given where the first result shares memory with them.
        """
        self.check_callable()
        first_arguments = independent(arguments)
        first = self.guard(self.object, *first_arguments)
        overwrite(first)
        second = self(*arguments)
        overwrite(first)  # once more: the second call may have filled the same memory anew
        return second, first_arguments

    def mixes_devices(self, *arguments):
        """Whether a call with its tensors on another device meets one that is not there, or gives a result elsewhere.

        The other device is torch's "meta", which has shapes and no numbers, and which every machine has.
        """
        moved = [value.to("meta") if isinstance(value, torch.Tensor) else value for value in arguments]
        error = self.raised_by(*moved)
        if error is not None:  # other errors come from the missing numbers
            return any(words in words_of(error) for words in ("expected device", "same device"))
        result = self(*moved)
        return isinstance(result, torch.Tensor) and result.device.type != "meta"

    def lend(self, name):
        """Until give_back, put the course's own ``name`` among the student's: no mistake made there counts here."""
        self.namespace.setdefault(_KEPT, {})[name] = self.namespace.get(name, _MISSING)
        self.namespace[name] = LENT[name]

    def give_back(self, name):
        """Put back what the student's names held before lend."""
        own = self.namespace[_KEPT].pop(name)
        if own is _MISSING:
            del self.namespace[name]
        else:
            self.namespace[name] = own

    def seen_as(self, view, *arguments):
        """What ``view``, a function of the course, makes of the result: plain data about an object.

        ``view.around``, where there is one, is a context that the call runs in; view gets what it yields as well.
        """
        if not hasattr(view, "around"):
            return view(self(*arguments))
        with view.around() as watched:
            return view(self(*arguments), watched)

    def gradients(self, cotangent, *arguments, output=0, **keywords):
        """Gradients of sum(cotangent * result) for the positional arguments that ask for one, as a list.

        ``output`` picks the item of a tuple. None marks an argument that no gradient reaches.
        """
        self.check_callable()
        arguments, keywords = copies(arguments, keywords)
        result = self.guard(self.object, *arguments, **keywords)
        result = result[output] if isinstance(result, tuple | list) else result
        named = {
            str(i): value
            for i, value in enumerate(arguments)
            if isinstance(value, torch.Tensor) and value.requires_grad
        }
        return list(self.guard(gradients_of, result, cotangent, named).values())

    def guard(self, function, *arguments, **keywords):
        """Call into the student's code; an exception becomes a sentence with the line that raised it."""
        try:
            with fresh_state(), self.watch():
                return function(*arguments, **keywords)
        except CheckFailed:
            raise
        except KeyboardInterrupt:  # somebody stops the kernel
            raise
        except BaseException as error:
            self.refuse_stub(error)
            place = self.place(error)
            on_purpose = isinstance(error, ValueError) and "raise " in place
            hint = OWN_ERROR if on_purpose else hint_for(error)
            seen = f"{self.name}{in_brackets(arguments)} raised {sentence(error)}{place}."
            raise CheckFailed(seen, hint, general=True) from None

    def raised_by(self, *arguments, **keywords):
        """The exception that a call raises, or None. CheckFailed when it is the stub's own."""
        self.check_callable()
        return self.error_of(self.object, *arguments, **keywords)

    def error_of(self, function, *arguments, **keywords):
        """As raised_by, for any function of the student's: a layer that was built, for instance."""
        arguments, keywords = copies(arguments, keywords)
        try:
            with fresh_state(), self.watch():
                function(*arguments, **keywords)
        except (CheckFailed, KeyboardInterrupt):
            raise
        except BaseException as error:
            self.refuse_stub(error)
            return error
        return None

    def check_callable(self):
        """Fail unless the name stands for something that can be called."""
        if not callable(self.object):
            raise CheckFailed(
                f"{self.name} is {kind_of(self.object)}, not a function.",
                f"Write def {self.name}(...) again, and give no other value the same name.",
            )

    def refuse_stub(self, error):
        """Fail when error comes from the stub's line, which raises NotImplementedError without a text."""
        if isinstance(error, NotImplementedError) and not words_of(error):
            raise CheckFailed(
                f"{self.name} raises NotImplementedError.",
                "Write your answer in its cell, delete the line that raises, and run the cell.",
            ) from None

    def watch(self):
        """What looks on while the student's code runs."""
        return scratch.refusing() if self.from_scratch else contextlib.nullcontext()

    def place(self, error):
        """' (line 3: code)' of the last line of the student's own code in the traceback, or ''."""
        trace, found = error.__traceback__, None
        home = getattr(self.object, "__globals__", None) or self.namespace
        while trace is not None:
            if trace.tb_frame.f_globals is home:
                found = trace
            trace = trace.tb_next
        if found is None:
            return ""
        text = linecache.getline(found.tb_frame.f_code.co_filename, found.tb_lineno).strip()
        return f" (line {found.tb_lineno} of the cell{f': {text[:60]}' if text else ''})"

    def build(self, *arguments, **keywords):
        """An instance of the student's class, an nn.Module, as a Layer."""
        if not isinstance(self.object, type) or not issubclass(self.object, nn.Module):
            raise CheckFailed(
                f"{self.name} is not a class made from nn.Module.",
                f"Write class {self.name}(nn.Module): and call super().__init__() first.",
            )
        return Layer(self, self.guard(self.object, *arguments, **keywords))


class Layer:
    """An instance of the student's class: parameters as plain tensors, calls guarded."""

    def __init__(self, candidate, module):
        self.candidate, self.module = candidate, module

    def parameters(self):
        """Trainable and frozen parameters by name, as copies."""
        return {name: value.detach().clone() for name, value in self.module.named_parameters()}

    def trainable(self):
        """Names of the parameters that ask for a gradient."""
        return [name for name, value in self.module.named_parameters() if value.requires_grad]

    def buffers(self):
        """Buffers by name, as copies."""
        return {name: value.detach().clone() for name, value in self.module.named_buffers()}

    def find(self, kind):
        """Dotted names of the submodules that are instances of the class called kind, own subclasses included."""
        return [
            name
            for name, part in self.module.named_modules()
            if any(ancestor.__name__ == kind for ancestor in type(part).__mro__)
        ]

    def load(self, values):
        """Overwrite parameters by name. CheckFailed when the layer has no such parameter of that shape."""
        parameters = dict(self.module.named_parameters())
        for name, value in values.items():
            if name not in parameters or parameters[name].shape != value.shape:
                found = tuple(parameters[name].shape) if name in parameters else "missing"
                raise CheckFailed(
                    f"parameter {name} of {self.candidate.name} is {found}, wanted shape {tuple(value.shape)}.",
                    "Compare the names and the sizes of the layers in __init__ with the docstring.",
                )
        with torch.no_grad():
            for name, value in values.items():
                parameters[name].copy_(value)

    def train(self, mode=True):
        self.candidate.guard(self.module.train, mode)
        return self

    def eval(self):
        return self.train(False)

    def to(self, dtype):
        self.candidate.guard(self.module.to, dtype)
        return self

    def __call__(self, *arguments, **keywords):
        """Output for copies of the arguments."""
        return self.observe(*arguments, **keywords)[0]

    def observe(self, *arguments, **keywords):
        """(output, arguments as the call left them)."""
        arguments, keywords = copies(arguments, keywords)
        return self.candidate.guard(self.module, *arguments, **keywords), arguments

    def once_more(self, *arguments, **keywords):
        """As the candidate's own."""
        with later_state():
            return self(*arguments, **keywords)

    def raised_by(self, *arguments, **keywords):
        """The exception that a call raises, or None."""
        return self.candidate.error_of(self.module, *arguments, **keywords)

    def gradients(self, cotangent, *arguments, output=0, **keywords):
        """Gradients of sum(cotangent * result) for the parameters, by name, and for the first argument ('x').

        ``output`` picks the item of a tuple. A value None marks a gradient that does not arrive.
        """
        arguments = independent(arguments)
        x = arguments[0].requires_grad_()
        result = self.candidate.guard(self.module, *arguments, **keywords)
        result = result[output] if isinstance(result, tuple | list) else result
        named = dict(self.module.named_parameters())
        return self.candidate.guard(gradients_of, result, cotangent, {"x": x, **named})


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


def student_namespace(depth=2):
    """Globals of the cell that made the exam, where the student's names are."""
    return sys._getframe(depth).f_globals


def enrol(exam):
    """Name an exam to the examiner that runs it from another process: to earn points it must have held."""
    student = exam.namespace.get("__student__")
    if student is not None:
        student.exams.append(exam)
