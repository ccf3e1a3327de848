"""A layer of a student's class under examination: its parameters as plain tensors, its calls guarded."""

import torch

from course.checks.calls import copies, gradients_of, independent
from course.checks.failure import CheckFailed
from course.checks.state import later_state


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
