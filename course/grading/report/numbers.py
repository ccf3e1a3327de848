"""The report's numbers as CSV tables, named after what a row is."""

import numpy as np

from course.grading.export.cells import csv_text


def tables(lessons, students):
    """{file name: CSV text}; students maps an assignment to its list of student ids, in the order of its totals."""
    return {
        "lessons.csv": csv_text([LESSON_COLUMNS, *(_lesson(lesson) for lesson in lessons)]),
        "distribution.csv": csv_text([("assignment", "from_points", "to_points", "students"), *_bins(lessons)]),
        "exercises.csv": csv_text([EXERCISE_COLUMNS, *_exercises(lessons)]),
        "hints.csv": csv_text([("assignment", "exercise", "section", "hint", "students", "share"), *_hints(lessons)]),
        "sections.csv": csv_text([SECTION_COLUMNS, *_sections(lessons)]),
        "totals.csv": csv_text([("assignment", "student_id", "points", "max_points"), *_totals(lessons, students)]),
        "look_alike.csv": csv_text([PAIR_COLUMNS, *_pairs(lessons, students)]),
    }


LESSON_COLUMNS = (
    *(
        "assignment",
        "students",
        "absent",
        "ungraded",
        "left_out_of_totals",
        "max_points",
        "quartile_1",
        "median",
        "quartile_3",
    ),
    *("mean", "mean_low", "mean_high", "alpha", "alpha_low", "alpha_high", "standard_error_points"),
    *("minutes_quartile_1", "minutes_median", "minutes_quartile_3", "students_with_known_minutes"),
)
EXERCISE_COLUMNS = (
    *("assignment", "exercise", "section", "points", "graded_by", "graded", "mean_share", "mean_low", "mean_high"),
    *("full_marks_share", "blank_share", "discrimination", "discrimination_low", "discrimination_high"),
)
SECTION_COLUMNS = ("assignment", "section", "exercises", "points", "lost_share", "students_who_lost_half", "hint")
PAIR_COLUMNS = ("assignment", "pair", "student_1", "student_2", "exercise", "similarity")


def number(value):
    """A cell: nothing for NaN."""
    return None if value is None or np.isnan(value) else float(value)


def section_title(section):
    """A section's headings in one line."""
    return " › ".join(section)


def _lesson(lesson):
    return (
        *(
            lesson.assignment,
            lesson.students,
            lesson.absent,
            lesson.ungraded,
            ", ".join(lesson.left_out),
            lesson.maximum,
        ),
        *map(number, (*lesson.quartiles, *lesson.mean, *lesson.alpha, lesson.standard_error, *lesson.minutes)),
        lesson.timed,
    )


def _bins(lessons):
    for lesson in lessons:
        for low, high, count in zip(lesson.edges, lesson.edges[1:], lesson.counts, strict=False):
            yield lesson.assignment, float(low), float(high), int(count)


def _exercises(lessons):
    for lesson in lessons:
        for e in lesson.exercises:
            grader = "hand" if e.by_hand else "tests"
            shares = map(number, (*e.mean, e.full, e.blank, *e.discrimination))
            yield lesson.assignment, e.name, section_title(e.section), e.points, grader, e.graded, *shares


def _hints(lessons):
    for lesson in lessons:
        for e in lesson.exercises:
            for hint in e.hints:
                yield lesson.assignment, e.name, section_title(e.section), hint.text, hint.students, hint.share


def _sections(lessons):
    for lesson in lessons:
        for s in lesson.sections:
            names, hint = ", ".join(s.exercises), s.hint.text if s.hint else None
            yield lesson.assignment, section_title(s.title), names, s.points, s.lost, s.students, hint


def _totals(lessons, students):
    for lesson in lessons:
        for student, total in zip(students[lesson.assignment], lesson.totals, strict=True):
            yield lesson.assignment, student, number(total), lesson.maximum


def _pairs(lessons, students):
    for lesson in lessons:
        ids = students[lesson.assignment]
        for place, pair in enumerate(lesson.pairs, 1):
            for k, similarity in zip(pair.exercises, pair.similarity, strict=True):
                yield lesson.assignment, place, ids[pair.first], ids[pair.second], lesson.exercises[k].name, similarity
