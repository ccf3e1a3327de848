"""The numbers of a report, computed once: the page and the CSV both print them."""

from collections import Counter, defaultdict
from typing import NamedTuple

import numpy as np

from course.grading.report import statistics
from course.grading.report.likeness import similar_pairs


class Hint(NamedTuple):
    """A hint or error that failed tests showed, and to how many students."""

    text: str
    students: int
    share: float


class ExerciseSummary(NamedTuple):
    """One exercise. Shares are of those who handed in and are graded; ``mean`` and ``full`` are of the points."""

    name: str
    section: tuple
    points: float
    by_hand: bool
    graded: int
    mean: statistics.Estimate
    full: float
    blank: float
    discrimination: statistics.Estimate
    hints: list


class SectionSummary(NamedTuple):
    """A section of the lesson: the share of its points that the class left, over its exercises."""

    title: tuple
    exercises: tuple
    points: float
    lost: float
    students: int  # who lost at least half of its points
    hint: Hint | None
    hint_exercise: str


class LessonSummary(NamedTuple):
    """One assignment."""

    assignment: str
    students: int
    absent: int
    ungraded: int
    left_out: list  # exercises with missing manual grades: totals are without them, for everyone
    maximum: float
    totals: np.ndarray
    quartiles: tuple
    mean: statistics.Estimate
    counts: list
    edges: list
    alpha: statistics.Estimate
    standard_error: float
    caveat: str
    exercises: list
    sections: list
    pairs: list
    minutes: tuple
    timed: int


def summarise(classroom):
    """The LessonSummary of a Classroom."""
    scores, maxima = classroom.scores, classroom.maxima()
    by_hand = np.array([exercise.by_hand for exercise in classroom.exercises], bool)
    counted = ~(by_hand & np.isnan(scores).any(0))
    complete, maximum = scores[:, counted], float(maxima[counted].sum())
    totals = complete.sum(1)
    counts, edges = statistics.distribution(totals, maximum)
    alpha = statistics.cronbach_alpha(complete)
    discriminations = _discriminations(scores, counted)
    means = statistics.mean_share(scores, maxima)
    exercises = [_exercise(classroom, k, means[k], discriminations[k]) for k in range(len(classroom.exercises))]
    return LessonSummary(
        assignment=classroom.assignment,
        students=len(classroom.students),
        absent=classroom.absent,
        ungraded=classroom.ungraded,
        left_out=[exercise.name for exercise, whole in zip(classroom.exercises, counted, strict=True) if not whole],
        maximum=maximum,
        totals=totals,
        quartiles=statistics.quartiles(totals),
        mean=statistics.mean_total(totals, maximum),
        counts=counts,
        edges=edges,
        alpha=alpha,
        standard_error=statistics.standard_error(complete, alpha),
        caveat=statistics.caveat(len(classroom.students)),
        exercises=exercises,
        sections=_sections(classroom, exercises),
        pairs=similar_pairs(classroom),
        minutes=statistics.quartiles(classroom.minutes),
        timed=int((~np.isnan(classroom.minutes)).sum()),
    )


def _discriminations(scores, counted):
    """Discrimination of each exercise against the others that count; a part graded by hand is judged by what it has."""
    places = np.arange(scores.shape[1])
    return [statistics.discrimination(scores[:, k], scores[:, counted & (places != k)]) for k in places]


def _exercise(classroom, k, mean, discrimination):
    exercise, column = classroom.exercises[k], classroom.scores[:, k]
    known = column[~np.isnan(column)]
    count = len(classroom.students)
    full = float((known >= exercise.points).mean()) if len(known) else np.nan
    blank = float(classroom.blank[:, k].mean()) if count else np.nan
    hints = _hints(classroom, k)
    return ExerciseSummary(
        exercise.name,
        exercise.section,
        exercise.points,
        exercise.by_hand,
        len(known),
        mean,
        full,
        blank,
        discrimination,
        hints,
    )


def _hints(classroom, k):
    """Hints of an exercise by frequency; a blank answer has none, whatever its test said."""
    seen = Counter(
        messages[k] for n, messages in enumerate(classroom.messages) if messages[k] and not classroom.blank[n, k]
    )
    return [Hint(text, times, times / len(classroom.students)) for text, times in seen.most_common()]


def _sections(classroom, exercises):
    """SectionSummaries, the one with the largest share of lost points first."""
    members = defaultdict(list)
    for k, exercise in enumerate(exercises):
        members[exercise.section].append(k)
    found = []
    for title, columns in members.items():
        scores, maxima = classroom.scores[:, columns], classroom.maxima()[columns]
        known = ~np.isnan(scores)
        possible = (known * maxima).sum()
        if not possible:
            continue
        earned = np.nansum(scores, 1)
        students = int(((earned <= (known * maxima).sum(1) / 2) & known.any(1)).sum())
        lost = 1 - earned.sum() / possible
        hints = [(hint, exercises[k].name) for k in columns for hint in exercises[k].hints]
        hint, name = max(hints, key=lambda pair: pair[0].students, default=(None, ""))
        names = tuple(exercises[k].name for k in columns)
        found.append(SectionSummary(title, names, float(maxima.sum()), float(lost), students, hint, name))
    return sorted(found, key=lambda section: -section.lost)
