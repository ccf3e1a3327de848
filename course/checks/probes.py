"""Models that checks hand to a student's function, and that remember what was done to them.

``from_state`` makes a probe again from its ``state_dict``, which is all of it that crosses to another process.
"""

import torch
from torch import nn

from course.checks.inputs import normal


class OrderProbe(nn.Module):
    """A linear model of x (B, T, E) that takes in order as far as it is told to.

    out[p] = (1 + place * p) * W x[p] + past * (sum of W x[q] for q < p): equivariant when place and past are 0. With
    ``as_tuple`` it returns (out, something else). It counts its calls in train and in eval mode.
    """

    def __init__(self, width, place=0.0, past=0.0, as_tuple=False, identity=False):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(width) if identity else normal(width, width, seed=width, scale=0.5))
        self.register_buffer("settings", torch.tensor([place, past, float(as_tuple)]))
        self.register_buffer("calls", torch.zeros(2))  # in train mode, in eval mode
        self.told = torch.zeros(2, dtype=torch.int64)  # what get_extra_state said of the probe this one was made from

    @classmethod
    def from_state(cls, state):
        """The probe whose state_dict is ``state``."""
        probe = cls(len(state["weight"])).to(state["weight"].dtype)
        probe.load_state_dict(state)
        return probe

    def get_extra_state(self):
        """(2,): how many parameters hold a gradient, and how many ask for none."""
        kept = sum(parameter.grad is not None for parameter in self.parameters())
        frozen = sum(not parameter.requires_grad for parameter in self.parameters())
        return self.told + torch.tensor([kept, frozen])

    def set_extra_state(self, state):
        self.told = state

    def forward(self, x):
        with torch.no_grad():
            self.calls[0 if self.training else 1] += 1
        place, past, as_tuple = self.settings.tolist()
        tokens = x @ self.weight
        position = torch.arange(x.shape[1], dtype=x.dtype)[:, None]  # (T, 1)
        out = (1 + place * position) * tokens + past * (tokens.cumsum(1) - tokens)
        return (out, tokens[:, :1]) if as_tuple else out
