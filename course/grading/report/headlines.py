"""What to say on Monday: the few sentences that the numbers of a lesson support."""

from course.grading.wording import decimal, plural, short

TEACH_AGAIN = 0.25  # share of a section's points that the class left
NOTABLE = 0.2  # share of the class that met one hint, or left one exercise blank
FEW = 3  # fewer students than this make no pattern
MOST = 3  # sections, and hints beside theirs
MOST_SENTENCES = 8  # two minutes' reading


def headlines(lesson):
    """Sentences about a LessonSummary, the most useful first."""
    if not lesson.students:
        return _ungraded(lesson) or ["Nobody has handed in this lesson yet."]
    found = []
    if lesson.maximum and lesson.students < FEW:
        totals = " and ".join(map(short, sorted(lesson.totals)))
        found.append(f"{plural(lesson.students, 'student')} handed in: {totals} of {short(lesson.maximum)} points.")
    elif lesson.maximum:
        low, middle, high = lesson.quartiles
        points = f"{short(low)} to {short(high)} of {short(lesson.maximum)} points"
        found.append(f"The middle half of the class has {points}, the median is {short(middle)}.")
    found += _teach_again(lesson) or ["No section cost enough of the class a quarter of its points to be taught again."]
    found += _misconceptions(lesson)
    found += _left_blank(lesson)
    found += _doubtful(lesson)
    if lesson.left_out:
        found.append(f"Totals are without {', '.join(lesson.left_out)}: manual grades are missing.")
    found += _ungraded(lesson)
    if lesson.pairs:
        pairs = plural(len(lesson.pairs), "pair")
        found.append(f"{pairs} of students gave unusual answers that look alike; ask before you conclude.")
    return found[:MOST_SENTENCES]


def _weak(lesson):
    """The sections to teach again."""
    weak = [s for s in lesson.sections if s.lost >= TEACH_AGAIN and (s.students >= FEW or lesson.students < FEW)]
    return weak[:MOST]


def _teach_again(lesson):
    sentences = []
    for section in _weak(lesson):
        where = " › ".join(section.title) or "the lesson"
        sentence = (
            f"Teach again: {where}. The class left {section.lost:.0%} of its points, "
            f"and {plural(section.students, 'student')} at least half of them."
        )
        if section.hint and section.hint.students >= min(FEW, lesson.students):
            sentence += (
                f" {plural(section.hint.students, 'student')} met “{section.hint.text}” in {section.hint_exercise}."
            )
        sentences.append(sentence)
    return sentences


def _misconceptions(lesson):
    told = {(s.hint_exercise, s.hint.text) for s in _weak(lesson) if s.hint}
    met = [
        (hint, exercise.name)
        for exercise in lesson.exercises
        for hint in exercise.hints
        if hint.share >= NOTABLE and hint.students >= FEW and (exercise.name, hint.text) not in told
    ]
    met.sort(key=lambda pair: -pair[0].students)
    return [f"{plural(hint.students, 'student')} met “{hint.text}” in {name}." for hint, name in met[:MOST]]


def _left_blank(lesson):
    left = [e for e in lesson.exercises if e.blank >= NOTABLE and e.blank * lesson.students >= FEW]
    if not left:
        return []
    listed = ", ".join(f"{e.name} ({e.blank:.0%})" for e in sorted(left, key=lambda e: -e.blank))
    return [f"Left blank by many: {listed}. Ask whether time ran out or the task was unclear."]


def _ungraded(lesson):
    who = plural(lesson.ungraded, "student")
    return [f"{who} handed in what could not be graded; ask for the file again."] if lesson.ungraded else []


def _doubtful(lesson):
    """Exercises that weaker students do better than stronger ones, with an interval that says so."""
    return [
        f"Look at {name} itself: who did well elsewhere did worse here (discrimination {decimal(estimate.value)})."
        for name, estimate in ((e.name, e.discrimination) for e in lesson.exercises)
        if estimate.known() and estimate.high < 0
    ]
