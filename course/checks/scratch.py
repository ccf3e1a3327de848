"""The rule of exercises that are written from scratch: no ready-made attention, nothing from ``course``."""

import contextlib
import functools
import inspect
import sys
import threading

import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from course.checks.failure import CheckFailed

# Parts of the names of torch's functions and operators. TAKEN_APART is what remains of
# scaled_dot_product_attention when torch takes it to pieces before it runs.
TAKEN_APART = "_safe_softmax"
READY_MADE = ("scaled_dot_product", "multi_head_attention", "_transformer_encoder_layer_fwd", TAKEN_APART)
_READY_MADE_CODE = {
    nn.MultiheadAttention.__init__.__code__: "nn.MultiheadAttention",
    nn.MultiheadAttention.forward.__code__: "nn.MultiheadAttention",
    F.multi_head_attention_forward.__code__: "F.multi_head_attention_forward",
    nn.TransformerEncoderLayer.__init__.__code__: "nn.TransformerEncoderLayer",
    nn.TransformerEncoderLayer.forward.__code__: "nn.TransformerEncoderLayer",
}
_EXAMINER = ("course.checks.calls", "course.checks.scratch", "course.checks.state", "course.checks.probes")


class _Watch(TorchDispatchMode):
    """Notes the first call that is not allowed, under whatever name it was imported.

    The profile hook sees calls of Python and of built-in functions; the dispatch mode sees the
    operators that run, also those called through ``torch.ops`` or from a scripted function.
    """

    def __init__(self):
        super().__init__()
        self.found = None

    def note(self, what):
        self.found = self.found or what
        raise refusal(self.found)

    def profile(self, frame, event, argument):
        """Python calls it for every call of the student's and of torch's, so what it finds out it keeps."""
        if event == "c_call":
            if _ready_made_name(argument.__name__):
                self.note(f"torch's {argument.__name__}")
        # A generator that the examiner has thrown away runs once more when its memory is freed, which may be now.
        elif event == "call" and not frame.f_code.co_flags & inspect.CO_GENERATOR:
            if frame.f_code in _READY_MADE_CODE:
                self.note(_READY_MADE_CODE[frame.f_code])
            module = str(frame.f_globals.get("__name__"))
            if not _allowed_module(module):
                self.note(f"{frame.f_code.co_name} of {module}".removeprefix("<module> of "))


def _see_operator(watch, operator, types, arguments=(), keywords=None):
    if ready_made := _ready_made_operator(operator):
        watch.note(ready_made)
    return operator(*arguments, **(keywords or {}))


# Not in the body of the class: what stands there torch wraps to keep its compiler out, at a price for every operator.
_Watch.__torch_dispatch__ = _see_operator


@functools.cache
def _ready_made_name(name):
    """Whether a built-in function of this name is, or holds, ready-made attention."""
    return any(ready in name for ready in READY_MADE)


@functools.cache
def _ready_made_operator(operator):
    """What a refusal calls an operator of torch that is ready-made attention; None for any other."""
    name = operator.name().removeprefix("aten::")
    return f"torch's {name.replace(TAKEN_APART, 'scaled_dot_product_attention')}" if _ready_made_name(name) else None


@functools.cache
def _allowed_module(name):
    """Whether functions of the module of this name may be called; a namespace without a name is the student's own."""
    return not name.startswith(("torch.nn.attention", "course.")) or name in _EXAMINER


def refusal(what):
    """What an answer gets to read that calls ``what``."""
    return CheckFailed(
        f"this answer calls {what}.",
        "Write this one from scratch, with matrix products, softmax and nn.Linear; nothing ready-made.",
    )


@contextlib.contextmanager
def refusing():
    """Refuse, while the block runs, any call of ready-made attention or of a function of the course.

    Calls are seen as they happen, so an alias or an import inside the function makes no difference,
    and neither does a thread of its own or an ``except`` that swallows the refusal.
    """
    before, watch, exhausted = sys.getprofile(), _Watch(), False
    before_in_threads = threading.getprofile()
    hook = watch.profile
    with watch:
        threading.setprofile(hook)  # in those that the answer starts
        sys.setprofile(hook)
        try:
            yield
        except RecursionError:
            exhausted = True  # Python takes off a hook that was the one to hit the limit
            raise
        finally:
            taken_off = sys.getprofile() is not hook and not exhausted
            sys.setprofile(before)
            threading.setprofile(before_in_threads)
            if watch.found or taken_off:
                watch.note(watch.found or "sys.setprofile, which these checks need")
