"""Words for a number of things, and the words of an exception."""


def noun(number, one, many=None):
    """The noun as it goes with the number: ``query`` with 1, ``queries`` with 2."""
    return one if number == 1 else many or f"{one}s"


def words_of(error):
    """What an exception says; nothing where its class, a student's own perhaps, raises when it should say it."""
    try:
        return str(error)
    except BaseException:
        return ""
