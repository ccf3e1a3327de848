"""The rule of exercises that are written from scratch: no ready-made attention, nothing from ``course``."""

import contextlib
import sys

import torch.nn.functional as F
from torch import nn
from torch.overrides import TorchFunctionMode

from course.checks.failure import CheckFailed

READY_MADE = ("scaled_dot_product_attention", "multi_head_attention_forward", "_native_multi_head_attention")
_READY_MADE_CODE = {
    nn.MultiheadAttention.__init__.__code__: "nn.MultiheadAttention",
    nn.MultiheadAttention.forward.__code__: "nn.MultiheadAttention",
    F.multi_head_attention_forward.__code__: "F.multi_head_attention_forward",
    nn.TransformerEncoderLayer.forward.__code__: "nn.TransformerEncoderLayer",
}
_OWN = ("course.checks",)  # the examiner itself


class _Watch(TorchFunctionMode):
    """Notes the first call that is not allowed, under whatever name it was imported."""

    def __init__(self):
        super().__init__()
        self.found = None

    def note(self, what):
        self.found = self.found or what
        raise CheckFailed(
            f"this answer calls {what}.",
            "Write this one from scratch, with matrix products, softmax and nn.Linear; nothing ready-made.",
        )

    def __torch_function__(self, function, types, arguments=(), keywords=None):
        name = getattr(function, "__name__", str(function))
        if any(ready in name for ready in READY_MADE):
            self.note(f"torch's {name.removesuffix('.default')}")
        return function(*arguments, **(keywords or {}))

    def profile(self, frame, event, argument):
        if event == "c_call" and any(ready in str(getattr(argument, "__name__", "")) for ready in READY_MADE):
            self.note(f"torch's {argument.__name__}")
        if event != "call":
            return
        if frame.f_code in _READY_MADE_CODE:
            self.note(_READY_MADE_CODE[frame.f_code])
        module = frame.f_globals.get("__name__") or ""
        if (module == "course" or module.startswith("course.")) and not module.startswith(_OWN):
            self.note(f"{frame.f_code.co_name} of {module}")


@contextlib.contextmanager
def refusing():
    """Refuse, while the block runs, any call of ready-made attention or of a function of the course.

    Calls are seen as they happen, so an alias or an import inside the function makes no difference,
    and neither does an ``except`` that swallows the refusal.
    """
    before = sys.getprofile()
    with _Watch() as watch:
        sys.setprofile(watch.profile)
        try:
            yield
        finally:
            sys.setprofile(before)
    if watch.found:
        watch.note(watch.found)
