"""Mutants of the reference solutions, made by cosmic-ray, and which of them the tests let live."""

import contextlib
import faulthandler
import signal
import tomllib
from dataclasses import dataclass

from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

from tests.judging.bank import ANSWERS
from tests.judging.lesson import SOLUTION
from tests.judging.verdict import judge

SECONDS = 10  # for one mutant: some turn a loop into an endless one
# They change except clauses, of which no solution has one, or want to be told names of variables.
SKIPPED = ("core/ExceptionReplacer", "core/VariableInserter", "core/VariableReplacer")


@dataclass(frozen=True)
class Mutant:
    """A solution with one change: the operator that made it, the line changed, and the whole text."""

    operator: str
    before: str
    after: str
    code: str

    def __str__(self):
        return f"{self.operator}: {self.before!r} became {self.after!r}"


def mutants(solution):
    """All different mutants of a solution cell, in a fixed order."""
    found = {}
    for name in sorted(set(operator_names()) - set(SKIPPED)):
        for occurrence in range(10_000):
            code = mutate_code(solution + "\n", get_operator(name)(), occurrence)
            if code is None:
                break
            code = code.rstrip("\n")
            if code not in found and _is_in_solution(solution, code) and _compiles(code):
                found[code] = Mutant(name.removeprefix("core/"), *_changed_line(solution, code), code)
    return list(found.values())


def _is_in_solution(solution, code):
    """Whether the change lies inside a solution region: a broken stub above it is mutated in vain."""
    return code != solution and SOLUTION.sub("", solution + "\n") == SOLUTION.sub("", code + "\n")


def _compiles(code):
    try:
        compile(code, "<mutant>", "exec")
    except SyntaxError:
        return False
    return True


def _changed_line(old, new):
    pairs = zip(old.splitlines(), new.splitlines(), strict=False)
    before, after = next(((a, b) for a, b in pairs if a != b), ("", new.splitlines()[-1]))
    return before.split("  #")[0].strip(), after.split("  #")[0].strip()


def survives(lesson, exercise, mutant):
    """Whether every test cell passes a mutant. One that does not come to an end is killed."""
    with _time_limit():
        return not judge(lesson, exercise, mutant.code).failures
    return False


@contextlib.contextmanager
def _time_limit():
    class Endless(BaseException):
        pass

    def ring(*_):
        raise Endless

    before = signal.signal(signal.SIGALRM, ring)
    left, _ = signal.setitimer(signal.ITIMER_REAL, SECONDS)  # of the limit that a whole test has
    # A mutated power of whole numbers can compute for hours in one call, deaf to signals: then end with its name.
    faulthandler.dump_traceback_later(6 * SECONDS, exit=True)
    try:
        yield
    except Endless:
        pass
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, left)


def equivalents(lesson_name, exercise_name):
    """The bank's table ``equivalent``: for each mutated line the reason why it is as right as the solution."""
    path = ANSWERS / lesson_name / f"{exercise_name}.toml"
    rows = tomllib.loads(path.read_text(encoding="utf-8")).get("equivalent", []) if path.exists() else []
    return {row["after"]: row["reason"] for row in rows}
