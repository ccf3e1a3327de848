"""Torch's own defaults, whatever a notebook has set."""

from contextlib import contextmanager, nullcontext

import torch


@contextmanager
def torch_defaults():
    """New tensors are float32 and on the CPU inside the block; what was set before comes back behind it."""
    dtype = torch.get_default_dtype()
    # Only where it is another: with a device set, every call of torch's takes a way through Python.
    device = torch.device("cpu") if torch.get_default_device().type != "cpu" else nullcontext()
    torch.set_default_dtype(torch.float32)
    try:
        with device:
            yield
    finally:
        torch.set_default_dtype(dtype)
