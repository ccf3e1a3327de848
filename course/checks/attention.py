"""Checks of scaled_dot_product_attention: its values, its mask, and how it behaves at the edges.

The checks of the mask and of the edges compare the student's function with itself wherever they can: a wrong
scale or a wrong axis is reported by the values, and costs nothing a second time. ``sizes`` are (B, H, T, S, d, d_v).
"""

from itertools import chain

import torch

from course.attention import scaled_dot_product_attention
from course.checks.attention_slips import dropped, masked_wrongly, wrong_weights
from course.checks.compare import (
    agrees,
    check_close,
    check_dtype,
    check_finite,
    check_pair,
    check_shape,
    check_tensor,
    check_true,
    same,
    unless_squeezed,
)
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.inputs import mixed_mask, normal
from course.checks.masks import judged, mask_of, spoilt_alike

_EXACT_WIDTH = 4  # its root is exact in float32: torch.tensor(d).sqrt() costs no precision
_STABLE_HINT = "exp of a large score overflows: subtract each row's own maximum first, as torch.softmax does."


def _case(sizes, seed=0, dtype=torch.float32):
    """q (B, H, T, d), k (B, H, S, d) and v (B, H, S, d_v), whose scaled scores have a spread of about one."""
    batch, heads, queries, keys, width, v_width = sizes
    shapes = ((batch, heads, queries, width), (batch, heads, keys, width), (batch, heads, keys, v_width))
    return tuple(normal(*shape, seed=100 * seed + i, dtype=dtype) for i, shape in enumerate(shapes))


def _pair(result, sizes, when=""):
    """(out, weights), two tensors of the right shapes."""
    batch, heads, queries, keys, _, v_width = sizes
    out, weights = check_pair(result)
    out_shape, weights_shape = (batch, heads, queries, v_width), (batch, heads, queries, keys)
    for value, name in ((out, "out"), (weights, "weights")):
        check_tensor(value, name + when)
    if out_shape != weights_shape and (tuple(out.shape), tuple(weights.shape)) == (weights_shape, out_shape):
        raise CheckFailed(f"out has shape {weights_shape}, wanted {out_shape}.", "Return out first, then weights.")
    check_shape(weights, weights_shape, _shape_hint(weights, weights_shape, when), "weights" + when)
    check_shape(out, out_shape, "out is weights @ v: (B, H, T, S) @ (B, H, S, d_v) -> (B, H, T, d_v).", "out" + when)
    return out.detach(), weights.detach()


def _shape_hint(weights, wanted, when):
    batch, heads, queries, keys = wanted
    if tuple(weights.shape) == (batch, heads, keys, queries):
        return "One row for each query, one column for each key: q @ k.transpose(-2, -1)."
    if heads > 1 and tuple(weights.shape) in ((batch, queries, keys), (batch, 1, queries, keys)):
        return "Keep the heads apart: every head has its own weights, so neither sum nor average over them."
    if batch > 1 < heads and tuple(weights.shape) == (batch * heads, queries, keys):
        return "Batch and heads are one axis here: reshape the results back, (B, H, T, S) and (B, H, T, d_v)."
    if when:
        return "The mask broadcasts to (B, H, T, S) by itself: do not add or remove axes."
    hint = "Compare every query with every key: (B, H, T, d) @ (B, H, d, S) -> (B, H, T, S)."
    return unless_squeezed(weights, wanted, hint)


def _double(*tensors):
    return tuple(tensor.double() for tensor in tensors)


@check("shapes")
def attention_shapes(candidate, sizes):
    _pair(candidate(*_case(sizes)), sizes)


@check("numbers by hand")
def attention_by_hand(candidate, q, k, v, weights, out):
    """A case small enough to do on paper: q (T, d), k (S, d), v (S, d_v) and the answers, nested lists."""
    sizes = (1, 1, len(q), len(k), len(k[0]), len(v[0]))
    given = _pair(candidate(*(torch.tensor(value)[None, None] for value in (q, k, v))), sizes)
    for value, expected, name in zip(given[::-1], (weights, out), ("weights", "out"), strict=True):
        expected = torch.tensor(expected)[None, None]
        if not agrees(value, expected):
            hint = "Each row: dot products of the query with the keys, divided by √d, softmax, average of the values."
            check_close(value, expected, _cause(candidate) or hint, name, atol=1e-5)


_TELLING = (10, 3, 5, 7, 6, 11)  # sizes at which every slip looks different


def _cause(candidate):
    """The hint that the values at telling sizes get, None when they are right or no numbers."""
    try:
        attention_values(cases=[_TELLING]).run(candidate)
    except CheckFailed as failure:
        return None if "NaN" in failure.seen else failure.hint
    return None


@check("values at many sizes")
def attention_values(candidate, cases):
    """cases: sizes. Float32, and judged at 1e-5 whatever dtype comes back: the dtype has its own check."""
    for seed, sizes in enumerate(cases):
        q, k, v = _case(sizes, seed)
        out, weights = _pair(candidate(q, k, v), sizes)
        q, k, v = _double(q, k, v)
        expected_out, expected_weights = scaled_dot_product_attention(q, k, v)
        hint = "weights = softmax over the keys of q @ k.transpose(-2, -1) / √d, where d is q.shape[-1]."
        suspects = chain(wrong_weights(q, k, v), [dropped(weights, expected_weights)])
        check_close(weights, expected_weights, hint, "weights", atol=1e-5, suspects=suspects)
        hint = "The weights are right; out is these weights @ v, with nothing before or after."
        unlike = (
            (f"out does not come from the weights that you return. {text}", bad @ v)
            for text, bad in wrong_weights(q, k, v)
        )
        check_close(out, expected_out, hint, "out", atol=1e-5, suspects=unlike)


def _maps(result, sizes, when=""):
    """The tensors (B, H, T, S) in the result when v is the identity: out, which is the weights then, and weights.

    An item of another shape is passed over here, and so is the order; CheckFailed when nothing is left.
    """
    items = result if isinstance(result, tuple | list) else [result]
    found = [item for item in items if isinstance(item, torch.Tensor) and tuple(item.shape) == sizes[:4]]
    return [item.detach() for item in found] or _pair(result, sizes, when)


def _case_with_identity(sizes, seed=0, dtype=torch.float32, width=None):
    """q, k and v = identity (B, H, S, S), and the sizes that this makes; ``width`` takes the place of d."""
    batch, heads, queries, keys, d, _ = sizes
    sizes = (batch, heads, queries, keys, width or d, keys)
    q, k, _ = _case(sizes, seed, dtype)
    return (q, k, torch.eye(keys, dtype=dtype).expand(batch, heads, keys, keys)), sizes


@check("{title}")
def attention_mask(candidate, title, kinds, sizes):
    """Masked weights are the student's own weights without a mask, restricted and normalised again.

    Where out and weights disagree without a mask, one of them is enough. Weights that are right with a mask pass,
    whatever they are without one, and so do right ones that went through the same slip with a mask and without.
    """
    (q, k, v), sizes = _case_with_identity(sizes, seed=7)
    own, (_, unmasked) = _maps(candidate(q, k, v, None), sizes), scaled_dot_product_attention(*_double(q, k, v))
    agreed = agrees(own[0], own[-1], 1e-4)
    for kind in kinds:
        mask = mask_of(kind, sizes)
        masked = _maps(candidate(q, k, v, mask), sizes, " with a mask")
        _, right = scaled_dot_product_attention(*_double(q, k, v), mask)
        if all(agrees(given, right) for given in masked):
            continue
        if all(spoilt_alike(plain, unmasked, given, right) for plain, given in zip(own, masked, strict=False)):
            continue
        pairs = [judged(plain, mask, given) for plain, given in zip(own, masked, strict=False)]
        if not agreed and any(agrees(*pair) for pair in pairs):
            continue
        name = f"weights with a mask of {kind}"
        hint = "Fill forbidden scores with -inf: inf makes NaN, and so does 0 times -inf, so multiply nothing."
        check_true(not bool(pairs[-1][0].isnan().any()), f"{name} has NaN.", hint)
        hint = "Give forbidden scores, where the mask is False, the value -inf before the softmax."
        wrong = chain(masked_wrongly(own[-1], *_double(q, k), mask), [dropped(masked[-1], right)])
        check_close(*pairs[-1], hint, name, atol=1e-5, suspects=wrong)
        hint = "The weights are masked, but out comes from others: out is the masked weights @ v."
        check_close(*pairs[0], hint, f"out with a mask of {kind}", atol=1e-5)
    again = _maps(candidate(q, k, v), sizes)
    hint = "Keep no mask from one call to the next: without one, every query may attend to every key."
    check_true(
        same(again, own), "without a mask, but behind a call with one, the weights are others than before.", hint
    )


def _whole_numbers(queries, keys):
    """Whole q (2, 3, T, 4) and k (2, 3, S, 4): dot products of 0 to 3 and exact, last features zero so far."""
    q = torch.tensor([[t % 2, t // 2 % 2, t // 3 % 2, 0] for t in range(1, queries + 1)])
    k = torch.tensor([[s // 3 % 2, s % 2, s // 2 % 2, 0] for s in range(1, keys + 1)])
    return q.float().repeat(2, 3, 1, 1), k.float().repeat(2, 3, 1, 1)


@check("scores of 1e4")
def attention_large(candidate, queries, keys):
    """A number added to all scores of a query, and another one for the next, changes no weight.

    Scores are exact in float32, so only an overflow or an underflow can make a difference. Where small numbers
    make one too, the scores themselves are wrong, and that is the business of attention_values.
    """
    q, k = _whole_numbers(queries, keys)
    v, sizes = torch.eye(keys).repeat(2, 3, 1, 1), (2, 3, queries, keys, 4, keys)
    signs = torch.tensor([1.0, -1.0, 0.0, 0.5]).repeat(queries)[:queries]

    def weights_with(query, key):
        """Weights when query * key / 2 is added to the scores; 2 is the root of 4."""
        q[..., 3], k[..., 3] = signs * query, key
        return _maps(candidate(q, k, v), sizes)

    for plain, near, large in zip(weights_with(0, 2), weights_with(1, 2), weights_with(199, 100), strict=True):
        name = "with scores near 1e4 and -1e4, a row of weights"
        check_finite(large, _STABLE_HINT, name)
        if agrees(near, plain, 1e-3):
            hint = "A number added to all scores of a row changes no weight: subtract the row's maximum, clamp nothing."
            check_close(large, plain, hint, name, atol=1e-2)


@check("mask beside scores of 1e4")
def attention_large_masked(candidate, queries, keys):
    """Forbidden keys with scores of 1e4 and allowed ones with -1e4 weigh as the allowed ones do alone.

    Says nothing where that fails at small scores or without a mask: then it has cost its points elsewhere.
    """
    if not _masks_rightly(candidate):
        return
    q, k = _whole_numbers(queries, keys)
    allowed = torch.arange(keys) % 2 == 0
    few = int(allowed.sum())

    def weights_with(query, key):
        """Weights of the allowed keys: without the others, and beside them under a mask."""
        q[..., 3], k[..., 3] = query, torch.where(allowed, -key, key)
        v, sizes = torch.eye(few).repeat(2, 3, 1, 1), (2, 3, queries, few, 4, few)
        alone = _maps(candidate(q, k[:, :, allowed], v), sizes)
        v, sizes = torch.eye(keys).repeat(2, 3, 1, 1), (2, 3, queries, keys, 4, keys)
        beside = _maps(candidate(q, k, v, allowed.repeat(queries, 1)), sizes, " with a mask")
        return zip(alone, beside, strict=False)  # an out that does not come from v may be a map in one alone

    for (alone, beside), (large_alone, large_beside) in zip(
        weights_with(1.0, 2.0), weights_with(200.0, 100.0), strict=False
    ):
        if not agrees(beside[..., allowed], alone, 1e-3):
            continue
        check_finite(large_alone, _STABLE_HINT, "with scores near -1e4, a row of weights")
        hint = "Fill forbidden scores with -inf before the softmax: a number like -1e4 is not below every score."
        name = "with allowed scores near -1e4, weights of the allowed keys"
        check_finite(large_beside[..., allowed], f"{hint} Zeroing and dividing afterwards may be 0/0.", name)
        check_close(large_beside[..., allowed], large_alone, hint, name, atol=1e-2)


def _masks_rightly(candidate):
    """Whether attention_mask has nothing to say."""
    try:
        attention_mask(title="", kinds=["shape (T, S)"], sizes=(2, 3, 4, 5, 2, 5)).run(candidate)
    except CheckFailed:
        return False
    return True


@check("precision of the input")
def attention_precision(candidate, sizes):
    """The dtype kept, and its precision."""
    for dtype in ("float32", "float64"):
        (q, k, v), case_sizes = _case_with_identity(sizes, 3, getattr(torch, dtype), _EXACT_WIDTH)
        given = _maps(candidate(q, k, v), case_sizes)
        for value in given:
            check_dtype(value, dtype, f"q, k and v are {dtype}: stay in their dtype, with no .float() and no dtype=.")
    _, expected = scaled_dot_product_attention(q, k, v)
    for value in given:
        if agrees(value, expected, 1e-4):  # right up to rounding; anything else is the business of attention_values
            check_close(value, expected, "Somewhere on the way float64 becomes float32: stay in q's dtype.")


@check("gradients")
def attention_gradients(candidate, sizes):
    """Gradients of both results reach q and k, one reaches v, and where the values are right so are they."""
    (q, k, v), sizes = _case_with_identity(sizes, 4, torch.float64, _EXACT_WIDTH)
    arguments = [tensor.contiguous().requires_grad_() for tensor in (q, k, v)]
    cotangent = normal(*sizes[:4], seed=5, dtype=torch.float64)
    for mask in (None, mixed_mask(sizes[2], sizes[3])) if _masks_rightly(candidate) else (None,):
        instruction = () if mask is None else (mask,)
        results = candidate(*arguments, *instruction)
        results = results if isinstance(results, tuple | list) else [results]
        outputs = [i for i, result in enumerate(results) if tuple(getattr(result, "shape", ())) == sizes[:4]]
        given = [candidate.gradients(cotangent, *arguments, *instruction, output=output) for output in outputs]
        hint = "Stay in torch from input to output: no detach, no_grad, item, numpy or torch.tensor(...)."
        for i, name in enumerate("qkv" if len(outputs) == 2 else "qk"):
            reached = [gradients[i] is not None for gradients in given]
            check_true(any(reached) if name == "v" else all(reached), f"a gradient for {name} does not arrive.", hint)
        _check_gradients(arguments, mask, results, cotangent, given)


def _check_gradients(arguments, mask, results, cotangent, given):
    """Where the results are right, the gradients given for them are too."""
    right = scaled_dot_product_attention(*arguments, mask)
    if not all(map(agrees, results, right)):
        return
    for gradients, result in zip(given, right, strict=False):
        wanted = torch.autograd.grad((result * cotangent).sum(), arguments, allow_unused=True, retain_graph=True)
        for name, gradient, expected in zip("qkv", gradients, wanted, strict=True):
            if gradient is not None and expected is not None:
                hint = "Part of the way is cut off from autograd: detach nothing."
                check_close(gradient, expected, hint, f"the gradient for {name}", atol=1e-8)


@check("arguments kept")
def attention_keeps_arguments(candidate, sizes):
    q, k, v = _case(sizes, seed=5)
    calls = [(q, k, v), (q, k, v, mixed_mask(*sizes[2:4]))] if _masks_rightly(candidate) else [(q, k, v)]
    for arguments in calls:
        _, after = candidate.observe(*arguments)
        for name, before, now in zip(("q", "k", "v", "mask"), arguments, after, strict=False):
            check_true(
                before.shape == now.shape and bool((before == now).all()),
                f"{name} is changed by the call.",
                "Compute new tensors: /=, *= and methods that end in _ write into the caller's.",
            )


@check("transposed views")
def attention_views(candidate, sizes):
    """Inputs as split_heads makes them, (B, T, H, d) with two axes swapped, give what their copies give."""
    (q, k, v), sizes = _case_with_identity(sizes, seed=6)
    views = [tensor.transpose(1, 2).contiguous().transpose(1, 2) for tensor in (q, k, v)]
    hint = "q, k and v may be transposed views, as split_heads makes them: use reshape rather than view."
    for given, own in zip(_maps(candidate(*views), sizes), _maps(candidate(q, k, v), sizes), strict=True):
        check_close(given, own, hint, "the result for transposed views", atol=1e-5)
