"""Text of a student's that others read: in a terminal, in a log, on a page."""


def printable(text):
    """Text with the sign � for every character that is not shown: it could move the cursor or turn the line round."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "�" for sign in text)
