"""What to say on Monday: the few sentences that the numbers of a lesson support."""

from course.grading.wording import plural

TEACH_AGAIN = 0.25  # share of a section's points that the class left
NOTABLE = 0.2  # share of the class that met one hint, or left one exercise blank
FEW = 3  # fewer students than this make no pattern
MOST = 3  # sections, and hints beside theirs
MOST_SENTENCES = 8  # two minutes' reading


def headlines(lesson):
    """Sentences about a LessonSummary, the most useful first."""
    if not lesson.students:
        return ["Nobody has handed in this lesson yet."]
    found = []
    if lesson.maximum:
        low, middle, high = lesson.quartiles
        points = f"{low:g} to {high:g} of {lesson.maximum:g} points"
        found.append(f"The middle half of the class has {points}, the median is {middle:g}.")
    found += _teach_again(lesson) or ["No section cost enough of the class a quarter of its points to be taught again."]
    found += _misconceptions(lesson)
    found += _left_blank(lesson)
    found += _doubtful(lesson)
    if lesson.left_out:
        found.append(f"Totals are without {', '.join(lesson.left_out)}: manual grades are missing.")
    if lesson.ungraded:
        found.append(
            f"{plural(lesson.ungraded, 'student')} handed in what could not be graded; ask for the file again."
        )
    if lesson.pairs:
        pairs = plural(len(lesson.pairs), "pair")
        found.append(f"{pairs} of students gave unusual answers that look alike; ask before you conclude.")
    return found[:MOST_SENTENCES]


def _teach_again(lesson):
    weak = [s for s in lesson.sections if s.lost >= TEACH_AGAIN and (s.students >= FEW or lesson.students < FEW)]
    sentences = []
    for section in weak[:MOST]:
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
    told = {(s.hint_exercise, s.hint.text) for s in lesson.sections if s.lost >= TEACH_AGAIN and s.hint}
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


def _doubtful(lesson):
    """Exercises that weaker students do better than stronger ones, with an interval that says so."""
    return [
        f"Look at {e.name} itself: who did well elsewhere did worse here (discrimination {e.discrimination.value:.2f})."
        for e in lesson.exercises
        if e.discrimination.known() and e.discrimination.high < 0
    ]
