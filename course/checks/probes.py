"""Models that checks hand to a student's function, and that remember what was done to them.

``crossing`` gives all of a probe that crosses to another process, tensors by name, and ``from_state`` makes it again.
"""

import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.checks.inputs import normal

_CLEAN_UP = "Remove the hook again, handle.remove(), and keep notes in variables of your own."


class OrderProbe(nn.Module):
    """A linear model of x (B, T, E) that takes in order as far as it is told to.

    out[p] = (1 + place * p) * W x[p] + past * (sum of W x[q] for q < p): equivariant when place and past are 0. With
    ``as_tuple`` it returns (out, something else, None). It counts its calls in train and in eval mode.
    """

    def __init__(self, width, place=0.0, past=0.0, as_tuple=False, identity=False):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(width) if identity else normal(width, width, seed=width, scale=0.5))
        self.register_buffer("settings", torch.tensor([place, past, float(as_tuple)]))
        self.register_buffer("calls", torch.zeros(2))  # in train mode, in eval mode
        self.told = torch.zeros(2, dtype=torch.int64)  # what get_extra_state said of the probe this one was made from

    @classmethod
    def from_state(cls, state):
        """The probe that ``crossing`` gave as ``state``."""
        probe = cls(len(state["weight"])).to(state["weight"].dtype)
        probe.load_state_dict(state)
        return probe

    def crossing(self):
        """The state_dict: the record of what was done is part of it."""
        return self.state_dict()

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
        return (out, tokens[:, :1], None) if as_tuple else out


class HeadsProbe(MultiHeadAttention):
    """The course's layer with random weights and biases; ``record`` tells what was done to it."""

    def __init__(self, embed_dim, num_heads):
        super().__init__(embed_dim, num_heads)
        self.told = torch.zeros(4, dtype=torch.int64)  # what the probe said that this one was made from
        self.own = {*vars(self), "own", "forward"}  # a forward is counted for every part
        with torch.no_grad():
            for seed, parameter in enumerate(self.parameters()):
                parameter.copy_(normal(*parameter.shape, seed=seed, scale=embed_dim**-0.5))

    @classmethod
    def from_state(cls, state):
        """The probe that ``crossing`` gave as ``state``."""
        probe = cls(len(state["q_proj.weight"]), 1).to(state["q_proj.weight"].dtype)
        probe.told, probe.num_heads = state["told"], int(state["told"][-1])
        probe.load_state_dict({name: value for name, value in state.items() if name != "told"})
        return probe

    def crossing(self):
        """The parameters, and the record beside them, so that the state_dict is that of any such layer."""
        return self.state_dict() | {"told": self.record()}

    def record(self):
        """(4,): parameters with a gradient, parameters that ask for none, what was left on the layer, num_heads.

        Hooks, replaced methods and attributes that the layer had not are left on it.
        """
        parameters, parts = list(self.parameters()), list(self.modules())
        hooks = sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in parts)
        changed = hooks + sum("forward" in vars(part) for part in parts) + len(vars(self).keys() - self.own)
        kept = sum(parameter.grad is not None for parameter in parameters)
        frozen = sum(not parameter.requires_grad for parameter in parameters)
        return torch.tensor([*(self.told[:3] + torch.tensor([kept, frozen, changed])).tolist(), self.num_heads])

    def left_alone(self, num_heads, clean_up=_CLEAN_UP):
        """Rows (condition, what was seen, hint) of a layer that was given with so many heads, in eval mode."""
        *_, changed, found = self.record().tolist()
        return (
            (changed == 0, "a hook, another forward or an attribute was left on the layer.", clean_up),
            (found == num_heads, "the layer's num_heads was changed.", "Leave the attributes of the layer alone."),
            (not self.training, "the layer came back in train mode.", "It is given in eval mode: leave it so."),
        )
