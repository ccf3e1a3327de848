"""What a head does, as numbers: how much of its attention goes to the previous token, the next, and so on.

Each score takes attention weights (..., T, T) whose rows sum to one, queries first, and gives a tensor
(...) with the mean over the queries that have such a token, NaN where none has: maps (L, H, T, T) give
scores (L, H).
"""

import math

import torch

DELIMITERS = ("[CLS]", "[SEP]")


def previous_token_score(weights):
    """Mean attention of a token to the one before it; the first token has none and does not count."""
    return torch.as_tensor(weights).diagonal(-1, -2, -1).mean(-1)


def next_token_score(weights):
    """Mean attention of a token to the one after it; the last token has none and does not count."""
    return torch.as_tensor(weights).diagonal(1, -2, -1).mean(-1)


def self_score(weights):
    """Mean attention of a token to itself."""
    return torch.as_tensor(weights).diagonal(0, -2, -1).mean(-1)


def delimiter_score(weights, tokens, delimiters=DELIMITERS):
    """Mean attention to the tokens that are delimiters, taken together. ValueError unless each key has a token."""
    chosen = [place for place, token in enumerate(tokens) if token in delimiters]
    return with_tokens(weights, tokens)[..., chosen].sum(-1).mean(-1)


def entropy(weights):
    """Mean entropy of a query's attention in bits: 0 for one token, log2(T) for all T alike."""
    weights = torch.as_tensor(weights)
    return -torch.special.xlogy(weights, weights).sum(-1).mean(-1) / math.log(2)  # xlogy: 0 log 0 is 0


def attention_between(weights, tokens, query, key):
    """Attention (...) from the first ``query`` among the tokens to the first ``key``.

    ValueError without one, and unless each key has a token.
    """
    for token in (query, key):
        if token not in tokens:
            raise ValueError(f"token {token!r} is not in the sentence: it has {', '.join(tokens)}")
    return with_tokens(weights, tokens)[..., tokens.index(query), tokens.index(key)]


def with_tokens(weights, tokens):
    """The weights as a tensor. ValueError when there are more or fewer tokens than keys."""
    weights = torch.as_tensor(weights)
    if len(tokens) != weights.shape[-1]:
        raise ValueError(f"{len(tokens)} tokens for {weights.shape[-1]} keys: one for each is wanted")
    return weights


def describe_head(weights, tokens):
    """The scores of one head (T, T) in words."""
    shares = {
        "the previous token": previous_token_score(weights),
        "the next token": next_token_score(weights),
        "itself": self_score(weights),
        " and ".join(DELIMITERS): delimiter_score(weights, tokens),
    }
    spoken = ", ".join(f"{share:.2f} to {target}" for target, share in shares.items())
    return (
        f"On average a token gives {spoken}. Its attention spreads over {2 ** entropy(weights):.1f} of {len(tokens)}"
        " tokens, by its entropy."
    )
