"""Words that depend on a number."""


def noun(number, one, many=None):
    """The noun as it goes with the number: ``query`` with 1, ``queries`` with 2."""
    return one if number == 1 else many or f"{one}s"
