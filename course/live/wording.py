"""Numbers as the sentences of the explorers say them."""

from course.wording import noun


def counted(number, one, many=None):
    """A whole number with its noun: 1 query, 2 queries."""
    return f"{number:,} {noun(number, one, many)}"


def tiny(number):
    """A number that is 0 up to rounding, to two digits: 2.6e-16, or 0."""
    return f"{number:.1e}" if number else "0"


def bytes_read(number):
    """Bytes in the unit that reads best, up to KiB."""
    return f"{number / 1024:,.1f} KiB" if number >= 1024 else counted(number, "byte")
