"""A call made once more: what an answer keeps from call to call, or draws at random, gives another result then."""

from course.checks.candidate import independent
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
        self.subject, self.calls, self.layers = subject, [], []

    def __getattr__(self, name):
        return getattr(self.subject, name)

    def __call__(self, *arguments, **keywords):
        return self.observe(*arguments, **keywords)[0]

    def observe(self, *arguments, **keywords):
        """As the subject's own, and remembered."""
        given = independent(arguments), {key: independent(value) for key, value in keywords.items()}
        result, after = self.subject.observe(*arguments, **keywords)
        self.calls = [*self.calls[:1], (*given, _copy(result))]
        return result, after

    def build(self, *arguments, **keywords):
        """As the candidate's own; the layer's calls are remembered too."""
        self.layers.append(Repeatable(self.subject.build(*arguments, **keywords)))
        return self.layers[-1]

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
        self.calls = []
        getattr(self.subject, method)(*arguments)
        return self

    def complaint(self):
        """A hint where the last call, or the first made once more, shows that results are not made anew; else None."""
        if self.layers:
            return self.layers[-1].complaint()
        if not self.calls:
            return None
        arguments, keywords, first = self.calls[0]
        *others, last = self.calls[-1]
        if len(self.calls) > 1 and not same(others, [arguments, keywords]) and _is_telling(first) and same(last, first):
            return EARLIER
        try:
            again = self.subject.once_more(*arguments, **keywords)
        except CheckFailed as failure:
            return UNSTEADY if type(failure) is CheckFailed else None  # no answer at all is another matter
        return None if same(_copy(again), first) else UNSTEADY


def _copy(result):
    """The numbers of a result as they are now: the student's code may write into it later. None for anything else."""
    if isinstance(result, tuple | list):
        return [_copy(item) for item in result]
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
