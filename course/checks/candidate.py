"""The student's function or class under examination: found by name, called with copies, kept quiet.

A call gives a result or fails with one sentence; whatever the student's code prints, warns or changes
stays inside. Tests reach student code through this module alone.
"""

import contextlib
import linecache
from inspect import unwrap

import torch
from torch import nn

from course.checks import scratch
from course.checks.calls import copies, gradients_of, independent, overwrite
from course.checks.compare import kind_of
from course.checks.exceptions import hint_for, in_brackets, sentence
from course.checks.failure import CheckFailed
from course.checks.layer import Layer
from course.checks.state import fresh_state, later_state
from course.encoding import sinusoidal_encoding
from course.stopped import Stopped
from course.wording import words_of

LENT = {"positional_encoding": sinusoidal_encoding}  # what an answer may build on, by the name it has there
OWN_ERROR = "This input is allowed, and your own error refuses it: look at the condition in front of it."
LONGEST_LINE = 60  # characters of a line of code in a sentence
_KEPT, _MISSING = "__kept__", object()


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
        except KeyboardInterrupt as stop:
            raise self.stopped(stop) from None
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
        except CheckFailed:
            raise
        except KeyboardInterrupt as stop:
            raise self.stopped(stop) from None
        except BaseException as error:
            self.refuse_stub(error)
            return error
        return None

    def stopped(self, stop):
        """The interrupt of somebody who stops the kernel while the student's code runs, with a sentence."""
        return Stopped(f"{self.name} was stopped{self.place(stop)}: look for a loop that does not end.")

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
        own = unwrap(self.object)  # @torch.no_grad() puts a function of torch's around it
        home = getattr(own, "__globals__", None) or self.namespace
        while trace is not None:
            if trace.tb_frame.f_globals is home:
                found = trace
            trace = trace.tb_next
        if found is None:
            return ""
        text = linecache.getline(found.tb_frame.f_code.co_filename, found.tb_lineno).strip()
        text = text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"
        return f" (line {found.tb_lineno} of the cell{f': {text}' if text else ''})"

    def build(self, *arguments, **keywords):
        """An instance of the student's class, an nn.Module, as a Layer."""
        if not isinstance(self.object, type) or not issubclass(self.object, nn.Module):
            raise CheckFailed(
                f"{self.name} is not a class made from nn.Module.",
                f"Write class {self.name}(nn.Module): and call super().__init__() first.",
            )
        return Layer(self, self.guard(self.object, *arguments, **keywords))
