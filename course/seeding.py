"""Random weights that are the same in every session, and leave the caller's own random numbers alone."""

from contextlib import contextmanager

import torch


@contextmanager
def seeded(seed):
    """Seed torch's CPU generator inside the block and put its state back afterwards; no other device is touched."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed would seed every GPU, too
        yield
