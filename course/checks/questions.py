"""Questions with letters: the visible check says whether an answer was given, the key gives the reason."""

import unicodedata

from course.checks.compare import kind_of
from course.checks.failure import CheckFailed
from course.checks.notebook import enrol, student_namespace

LONGEST = 100  # characters that are taken for an answer or a term; Unicode can make longer ones slow to compare
SAME_LOOK = str.maketrans("АВСЕΑΒΕ", "ABCEABE")  # Cyrillic and Greek capitals from another keyboard


def letter_of(text):
    """The letters in text as plain capitals: "b)" and a full-width B give "B"."""
    text = unicodedata.normalize("NFKC", text).upper().translate(SAME_LOOK)
    return "".join(character for character in text if character.isalpha())


def term_of(item, given):
    """The key of the dict ``given`` that means item, whatever its case, spaces and hyphens; item when there is none."""
    short = (key for key in given if isinstance(key, str) and len(key) <= LONGEST)
    like = [key for key in short if letter_of(key) == letter_of(item)]
    return like[0] if item not in given and len(like) == 1 else item


class Question:
    """The question whose answer the notebook keeps under ``name``: a letter, or a dict of letters by ``item``."""

    def __init__(self, name, letters, item=None):
        self.name, self.letters, self.item = name, letters, item
        self.right, self.reasons = None, {}
        self.namespace = student_namespace()
        self.held = False  # whether the answer was compared with the key and is right
        enrol(self)

    def key(self, right, reasons):
        """The right letter, and for every letter the reason why it is right or wrong."""
        if set(reasons) != set(self.letters) or right not in reasons:
            raise ValueError(
                f"{self.name}: reasons for {sorted(reasons)}, wanted one for each of {sorted(self.letters)}"
            )
        self.right, self.reasons = right, reasons

    def answer(self):
        """The letter that was given. CheckFailed when there is none, or one that is not offered."""
        offered = ", ".join(self.letters)
        elsewhere = self.namespace.get("__student__")  # the student's process, where it is another one
        names = self.namespace if elsewhere is None else elsewhere.values(self.name)
        if self.name not in names:
            raise CheckFailed(
                f"{self.name} is not defined.",
                f"Write one of the letters {offered} between the quotes, and run the cell.",
            )
        value, label = names[self.name], self.name
        if self.item is not None:
            label = f"{self.name}[{self.item!r}]"
            if not isinstance(value, dict):
                raise CheckFailed(
                    f"{self.name} is {kind_of(value)}, wanted a dict.", "Keep the dict and fill in its letters."
                )
            term = term_of(self.item, value)
            if term not in value:
                raise CheckFailed(
                    f"{label} is missing.", "Keep the terms as they were given, and fill in their letters."
                )
            value = value[term]
        if value is None or value is ... or (isinstance(value, str) and not value.strip()):
            raise CheckFailed(f"{label} has no answer yet.", f"Write one of the letters {offered} between the quotes.")
        if isinstance(value, str) and len(value) > LONGEST:
            raise CheckFailed(
                f"{label} is a text of {len(value)} characters, wanted one of the letters {offered}.",
                "One letter, in quotes.",
            )
        letter = letter_of(value) if isinstance(value, str) else ""
        if letter not in tuple(self.letters):
            raise CheckFailed(
                f"{label} is {value!r:.40}, wanted one of the letters {offered}.", "One letter, in quotes."
            )
        return letter

    def run(self):
        """Without a key say that an answer was given; with it print the reason, or raise it when wrong."""
        letter = self.answer()
        label = self.name if self.item is None else f"{self.name}, {self.item}"
        if self.right is None:
            print(f"{label}: you answered {letter}. The reason comes with the grade.")
        elif letter == self.right:
            self.held = True
            print(f"{label}: {letter} is right. {self.reasons[letter]}")
        else:
            raise CheckFailed(f"you chose {letter}.", self.reasons[letter], f"{label} ✗")
