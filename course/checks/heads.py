"""Checks of how a width is cut into heads: head_width, split_heads, merge_heads, parameter_count."""

from course.checks.compare import check_int, check_true
from course.checks.exam import check


@check("widths")
def widths(candidate, cases):
    """cases: (d_model, num_heads, width) triples."""
    for d_model, num_heads, width in cases:
        value = candidate(d_model, num_heads)
        case = f"head_width({d_model}, {num_heads})"
        hint = "Divide with // : a width counts columns, so it is an int." if value == width else ""
        check_int(value, hint or "Return a whole number of columns.", case)
        check_true(
            value == width, f"{case} is {value}.", "The heads share d_model evenly: d_model // num_heads columns each."
        )


@check("refuses widths that do not divide")
def refuses_uneven(candidate, cases, call=None):
    """cases: (d_model, num_heads) pairs that do not divide; call makes the arguments from a pair."""
    for d_model, num_heads in cases:
        arguments = (d_model, num_heads) if call is None else call(d_model, num_heads)
        error = candidate.raised_by(*arguments)
        check_true(
            error is not None,
            f"no error for d_model {d_model} and num_heads {num_heads}.",
            "When d_model % num_heads is not 0, raise ValueError with both numbers in its message.",
        )
        check_true(
            isinstance(error, ValueError),
            f"{type(error).__name__} for d_model {d_model} and num_heads {num_heads}, wanted ValueError.",
            "Test d_model % num_heads yourself, before anything else, and raise ValueError.",
        )
