"""A call made once more: what an answer keeps from call to call, or draws at random, gives another result then."""

from course.checks.calls import copies
from course.checks.compare import as_array, same
from course.checks.failure import CheckFailed

UNSTEADY = (
    "The first call, made once more, gives another result: keep nothing from call to call (in a global, in a default "
    "argument, in self), draw nothing at random, leave no entry unset."
)
EARLIER = "This is the result of the first call, which had other arguments: compute it anew, from what each call gets."


class Repeatable:
    """A candidate, or a layer that one built, whose first and last call are remembered. All else is handed on."""

    def __init__(self, subject):
        self.subject, self.first, self.last, self.built = subject, None, None, None

    def __getattr__(self, name):
        return getattr(self.subject, name)

    def __call__(self, *arguments, **keywords):
        given = self._given(arguments, keywords)
        result = self.subject(*arguments, **keywords)
        self._keep(given, result)
        return result

    def observe(self, *arguments, **keywords):
        """As the subject's own, and remembered."""
        given = self._given(arguments, keywords)
        result, after = self.subject.observe(*arguments, **keywords)
        self._keep(given, result)
        return result, after

    def _given(self, arguments, keywords):
        """What a call gets, copied for the first one: a check may write into it, and so may the student's code."""
        if self.first is not None:
            return arguments, keywords
        return copies(arguments, keywords)

    def _keep(self, given, result):
        if self.first is None:
            self.first = (*given, _numbers(result))
        else:
            self.last = (*given, result)

    def build(self, *arguments, **keywords):
        """As the candidate's own; the calls of the layer that was built last are remembered."""
        self.built = Repeatable(self.subject.build(*arguments, **keywords))
        return self.built

    def load(self, values):
        return self._changed("load", values)

    def train(self, *mode):
        return self._changed("train", *mode)

    def eval(self):
        return self._changed("eval")

    def to(self, dtype):
        return self._changed("to", dtype)

    def _changed(self, method, *arguments):
        """Call a layer's method behind which other results are right."""
        self.first = self.last = None
        getattr(self.subject, method)(*arguments)
        return self

    def complaint(self):
        """A hint where the last call, or the first made once more, shows that results are not made anew; else None."""
        if self.built is not None:
            return self.built.complaint()
        if self.first is None:
            return None
        arguments, keywords, first = self.first
        if self.last is not None and _is_telling(first):
            *others, last = self.last
            if same(_numbers(last), first) and not same(others, [arguments, keywords]):
                return EARLIER
        try:
            again = self.subject.once_more(*arguments, **keywords)
        except CheckFailed as failure:
            return UNSTEADY if failure.general else None  # where there is no answer at all that is another matter
        return None if same(_numbers(again), first) else UNSTEADY


def _numbers(result):
    """The numbers of a result as they are now: the student's code may write into it later. None for anything else."""
    if isinstance(result, tuple | list):
        return [_numbers(item) for item in result]
    try:
        return as_array(result)
    except Exception:  # a result may be as odd as can be, and it is for the checks to say so
        return None


def _is_telling(result):
    """Whether a result, or an item of it, is an array of several different numbers: it is no coincidence then."""
    if isinstance(result, tuple | list):
        return any(map(_is_telling, result))
    try:
        array = as_array(result)
    except CheckFailed:
        return False
    return array.size > 1 and bool((array != array.flat[0]).any())
