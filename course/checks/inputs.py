"""Inputs for checks: drawn from their own generator, so that no seed in a notebook matters."""

import torch


def normal(*shape, seed=0, dtype=torch.float32, scale=1.0):
    """Independent normal numbers of standard deviation ``scale``, the same at every call."""
    generator = torch.Generator().manual_seed(seed)
    return (torch.randn(shape, generator=generator, dtype=torch.float64) * scale).to(dtype)


def some_mask(*shape, seed=0):
    """A boolean mask (..., S), True about half the time and at least once in every row."""
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand(*shape, generator=generator) < 0.5
    keep = torch.randint(shape[-1], (*shape[:-1], 1), generator=generator)
    return mask.scatter(-1, keep, torch.ones_like(keep, dtype=torch.bool))


def mixed_mask(*shape, seed=0):
    """A boolean mask (..., S) with at least one True and, for S > 1, at least one False in every row."""
    generator = torch.Generator().manual_seed(seed)
    places = torch.rand(*shape, generator=generator).argsort(-1)
    allowed = torch.randint(1, max(shape[-1], 2), (*shape[:-1], 1), generator=generator)
    return places < allowed


def causal(queries, keys):
    """The mask (T, S) that is True on and below the diagonal."""
    return torch.arange(keys) <= torch.arange(queries)[:, None]
