"""What people return instead of a score of attention maps: pairs (hint, wrong score), computed when asked for.

Maps are attention weights (..., T, T), queries first, and a score of theirs is (...).
"""

import numpy as np
import torch

from course import head_scores

_PLACES = {-1: "the previous token", 0: "the token itself", 1: "the next token"}


def diagonal(weights, offset):
    """The weights that lie ``offset`` places beside the main diagonal of each map."""
    return weights.diagonal(offset, -2, -1)


def neighbour_slips(weights, offset):
    """(hint, scores) for what people return instead."""
    size, own = weights.shape[-1], diagonal(weights, offset)
    yield (
        "The result is 0: a sum that nothing was added to, or // and whole numbers, which cut fractions off.",
        torch.zeros(weights.shape[:-2]),
    )
    for other in {-1, 0, 1} - {offset}:
        turned = "; queries are rows, keys are columns" if other == -offset else ""
        yield f"This is the weight on {_PLACES[other]}{turned}.", diagonal(weights, other).mean(-1)
    if offset:
        edge = "first token has none before it" if offset < 0 else "last token has none after it"
        yield f"The {edge} and does not count: the mean is over T - 1 queries.", own.sum(-1) / size
        around = weights.gather(-1, (torch.arange(size) + offset).remainder(size)[:, None].expand_as(weights)[..., :1])
        yield (
            f"The {edge} and does not count: here it was paired with the token at the other end.",
            around.mean((-2, -1)),
        )
        yield (
            f"The {edge} and does not count: here it was paired with the token at the other end.",
            around.sum((-2, -1)) / (size - 1),
        )
        side = weights.tril(-1) if offset < 0 else weights.triu(1)
        whole = side.sum(-1)
        where = "before" if offset < 0 else "after"
        yield f"This adds up all tokens {where}: take the one directly {where}.", whole.mean(-1)
        yield f"This adds up all tokens {where}: take the one directly {where}.", whole.sum(-1) / (size - 1)
        two = weights.diagonal(2 * offset, -2, -1)
        if two.shape[-1]:
            yield "This is two places away: take the token directly beside.", two.mean(-1)
        block = weights[..., 1:, :-1] if offset < 0 else weights[..., :-1, 1:]
        yield "This is the mean of a whole block: take its diagonal, one weight in each row.", block.mean((-2, -1))
        beside = own.sum(-1) + diagonal(weights, -offset).sum(-1)
        yield "This takes the tokens on both sides together: take one side alone.", beside / (size - 1)
    else:
        yield "All T tokens count, each has itself: the mean is over T.", own.sum(-1) / (size - 1)
    count = own.shape[-1]
    yield "/ T - 1 divides by T, and then subtracts 1: brackets around T - 1.", own.sum(-1) / size - 1
    if offset:
        yield "mean() has divided already: no further division.", own.mean(-1) / count
    yield "Here the first query alone was added: return stands behind the loop.", own[..., 0] / count
    best = weights.argmax(-1) == torch.arange(size) + offset
    counted = best[..., 1:] if offset < 0 else best[..., : size - offset]
    yield "Take the weights themselves; here it was counted how often they are the largest.", counted.double().mean(-1)
    yield "Take the mean over the queries; here it is their sum.", own.sum(-1)
    yield "Take the mean over the queries; here it is the largest.", own.max(-1).values
    yield "Take the mean over the queries; here it is the median.", own.median(-1).values
    yield "Take the mean over all queries; here one query stands for them.", own[..., 0]
    yield "Take the mean over all queries; here one query stands for them.", own[..., -1]
    if own.shape[-1] > 1:
        yield "Take the mean over all queries; here one is left out.", own[..., 1:].mean(-1)
        yield "Take the mean over all queries; here one is left out.", own[..., :-1].mean(-1)
        yield "Take the mean over all queries; here one is left out.", own[..., 1:].sum(-1) / own.shape[-1]
        yield "Take the mean over all queries; here one is left out.", own[..., :-1].sum(-1) / own.shape[-1]
    yield "The weights are normalised already: no softmax.", diagonal(weights.softmax(-1), offset).mean(-1)
    yield "The mean of the whole map is 1/T whatever the head does.", weights.mean((-2, -1))
    yield "One weight of each row counts: the sum is divided by T times T here.", own.sum(-1) / size**2
    yield "These are the largest weights of the rows, wherever they stand.", weights.amax(-1).mean(-1)
    for across in {offset, -offset}:
        other = diagonal(weights.flip(-1), across).mean(-1)
        yield "This is the other diagonal, from top right to bottom left.", other


def delimiter_slips(weights, tokens):
    """(hint, scores) for what people return instead."""
    places = [place for place, token in enumerate(tokens) if token in head_scores.DELIMITERS]
    if not places:
        return
    columns = weights[..., places]
    none = "No token was taken for a delimiter: they are written [CLS] and [SEP], and each token is compared alone."
    yield none, torch.zeros(weights.shape[:-2])
    others = [place for place in range(len(tokens)) if place not in places]
    for counts in (
        lambda token: not token.isalpha(),
        lambda token: token[0] == "[",
        lambda token: token in "[CLS][SEP]",
    ):
        taken = [place for place, token in enumerate(tokens) if counts(token)]
        if taken != places:
            yield "Only [CLS] and [SEP] count; here other signs do as well.", weights[..., taken].sum(-1).mean(-1)
    yield "Add the delimiters up in each row; here it is their mean.", columns.mean((-2, -1))
    missing = (
        "Both [CLS] and [SEP] count; here one of them is missing. (In a loop: add to the sum, and return behind it.)"
    )
    of_kind = [[place for place in places if tokens[place] == kind] for kind in head_scores.DELIMITERS]
    for kind in (*of_kind, places[:1], places[-1:]):
        if kind and kind != places:
            yield missing, weights[..., kind].sum(-1).mean(-1)
    if any(len(kind) > 1 for kind in of_kind):
        first, last = [kind[0] for kind in of_kind if kind], [kind[-1] for kind in of_kind if kind]
        several = "A sentence may have several [SEP]: tokens.index and a dict find one of them."
        yield several, weights[..., first].sum(-1).mean(-1)
        yield several, weights[..., last].sum(-1).mean(-1)
        yield "Add the delimiters up, as many as there are; here it is twice their mean.", 2 * columns.mean((-2, -1))
    yield "Add the delimiters up in each row; here they are multiplied.", columns.prod(-1).mean(-1)
    flags = [int(place in places) for place in range(len(tokens))]
    yield "A list of 0 and 1 as an index takes columns 0 and 1: make it boolean.", weights[..., flags].sum(-1).mean(-1)
    single = columns.sum((-2, -1)) / (len(tokens) - 1)
    yield "All T queries count: the sum over them is divided by T, not by T - 1.", single
    rows = weights[..., places, :]
    yield "Attention *to* a delimiter stands in its column; its row is what the delimiter looks at.", rows.sum((-2, -1))
    yield "Attention *to* a delimiter stands in its column; its row is what it looks at.", rows.mean(-1).sum(-1)
    yield "Attention *to* a delimiter stands in its column; its row is what it looks at.", rows.mean((-2, -1))
    yield (
        "Whole rows are added up: a delimiter stands in its column. (And x == a or b is always true: x in (a, b).)",
        rows.sum(-1).mean(-1),
    )
    yield "Take the mean over the queries; here it is the sum.", columns.sum((-2, -1))
    yield "This is the attention to all the other tokens.", 1 - columns.sum(-1).mean(-1)
    if others:
        yield "All queries count, the delimiters themselves too.", columns[..., others, :].sum(-1).mean(-1)
    yield "Here the delimiters alone count as queries: all tokens do.", columns[..., places, :].sum(-1).mean(-1)
    yield "Take the delimiters together; here it is the larger of them.", columns.max(-1).values.mean(-1)
    yield "Take the delimiters together; here it is the larger of them.", columns.mean(-2).max(-1).values
    edges = weights[..., 0].mean(-1) + weights[..., -1].mean(-1)
    yield "The first and the last token are not always the delimiters: look for them in tokens.", edges
    most = torch.isin(weights.argmax(-1), torch.tensor(places)).double().mean(-1)
    yield "Take the weights themselves; here it was counted how often they are the largest.", most


def entropy_slips(weights):
    """(hint, entropies) for what people return instead."""
    size = weights.shape[-1]
    terms = -torch.special.xlogy(weights, weights)  # in nats
    rows = terms.sum(-1)
    bits = rows.mean(-1) / np.log(2)
    yield "Entropy in bits takes log2; this is the natural logarithm.", rows.mean(-1)
    yield "Entropy in bits takes log2; this is log10.", rows.mean(-1) / np.log(10)
    yield "log2(w) is log(w) / log(2): divide, do not multiply.", rows.mean(-1) * np.log(2)
    yield "The sign: a logarithm of a weight is negative, and an entropy is not.", -bits
    yield "The sign, and log2 instead of log: an entropy in bits is not negative.", -rows.mean(-1)
    yield "Take the mean over the queries; here it is the sum.", rows.sum(-1) / np.log(2)
    yield "All T queries count: divide by T, not by T - 1.", rows.sum(-1) / np.log(2) / (size - 1)
    yield "Add up over the keys, and take the mean over the queries alone.", bits / size
    for added in (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1.0):
        yield (
            "What is added to the weights before the logarithm changes the value: take 1e-12, or torch.xlogy.",
            -(weights * (weights + added).log2()).sum(-1).mean(-1),
        )
        yield (
            "What is added to the weights changes the value: take 1e-12, or torch.xlogy.",
            -torch.special.xlogy(weights + added, weights + added).sum(-1).mean(-1) / np.log(2),
        )
    for floor in (1e-5, 1e-4, 1e-3, 1e-2):
        if (weights < floor).any():
            yield (
                "Small weights count as they are: raise none but the zeros, to 1e-12, or use torch.xlogy.",
                -(weights * weights.clamp(min=floor).log2()).sum(-1).mean(-1),
            )
            yield (
                "Small weights count as they are: leave out none but the zeros.",
                terms.where(weights >= floor, 0).sum(-1).mean(-1) / np.log(2),
            )
    average = weights.mean(-2)
    yield (
        "Take the entropy of each row, and then the mean; here it is the entropy of the mean row.",
        -torch.special.xlogy(average, average).sum(-1) / np.log(2),
    )
    yield "This is divided by the largest possible entropy, log2(T): leave it in bits.", bits / np.log2(size)
    yield "This is 2 to the entropy, a number of tokens: return the entropy.", 2**bits
    yield "This is 2 to the entropy, a number of tokens: return the entropy.", (2 ** (rows / np.log(2))).mean(-1)
    yield (
        "Multiply each logarithm by its weight; here the logarithms alone are summed.",
        -weights.log2().sum(-1).mean(-1),
    )
    yield (
        "Multiply each logarithm by its weight; here the logarithms alone are averaged.",
        -weights.log2().mean((-2, -1)),
    )
    yield (
        "Multiply each logarithm by its weight; here the logarithm of the product is taken.",
        -2 * weights.log2().sum(-1).mean(-1),
    )
    again = weights.softmax(-1)
    yield (
        "The weights are normalised already: no softmax.",
        -torch.special.xlogy(again, again).sum(-1).mean(-1) / np.log(2),
    )
    yield "Take the mean over the queries; here it is the largest.", rows.max(-1).values / np.log(2)
    yield "Take the mean over the queries; here it is the smallest.", rows.min(-1).values / np.log(2)
    yield "Add the queries up before you divide by T; here the last alone is.", rows[..., -1] / np.log(2) / size
    yield "Take the mean over all queries; here the first stands for them.", rows[..., 0] / np.log(2)
    yield "Take the mean over all queries; here the last stands for them.", rows[..., -1] / np.log(2)
    yield "Take the mean over the queries; here it is the median.", rows.median(-1).values / np.log(2)
    yield "log2 is there already: no further division by log(2).", bits / np.log(2)
    yield (
        "This measures how even the weights are by their squares; entropy takes w * log2(w).",
        1 - (weights**2).sum(-1).mean(-1),
    )
