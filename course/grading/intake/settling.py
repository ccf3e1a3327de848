"""The pure function of intake: an assignment and the files handed in for it -> one Intake with its verdict."""

from course.grading.intake.answers import find_answer
from course.grading.intake.assignment import Owner
from course.grading.intake.choosing import choose
from course.grading.intake.python_text import same_text
from course.grading.intake.reaching import find_reaching
from course.grading.intake.rebuilding import rebuild
from course.grading.intake.tampering import find_tampering
from course.grading.intake.verdicts import SHOWN, Intake, NotGradable, Remark, Verdict
from course.grading.wording import listed

MOST_REMARKS = 50  # told of one submission


def settle(assignment, files, remarks=()):
    """The Intake of one submission. Nothing is read but ``files``, a dict from file name to bytes; nothing is run.

    ``remarks`` are what was found where the files came from, such as links that were refused.
    """
    remarks = list(remarks)
    try:
        name, handed, matching, others = choose(assignment, files)
    except NotGradable as trouble:
        return Intake(Verdict.NOT_GRADABLE, remarks=tuple(remarks), reason=trouble.reason, ask=trouble.ask)
    remarks += others
    answers = {slot: find_answer(slot, matching) for slot in assignment.student_slots}
    notebook, repairs = rebuild(assignment, matching, answers)
    repairs = [*handed.repairs, *_about_kernel(assignment, handed), *repairs]
    repairs += [repair for answer in answers.values() for repair in answer.repairs]
    remarks += [*handed.remarks, *find_tampering(matching), *_about_tests(assignment, matching)]
    remarks += [*_about_absence(assignment, matching), *_about_order(matching), *_about_stripped(matching)]
    remarks += [remark for answer in answers.values() for remark in answer.remarks]
    remarks += find_reaching(assignment, notebook)
    verdict = Verdict.REMARKS if remarks else Verdict.GRADED
    return Intake(verdict, notebook, name, _told(remarks), _told(repairs))


def _told(remarks):
    """Each remark once, and no more of them than a person reads."""
    once = list(dict.fromkeys(remarks))
    more = [Remark("more", f"{len(once) - MOST_REMARKS} more remarks.")] if len(once) > MOST_REMARKS else []
    return tuple(once[:MOST_REMARKS] + more)


def _about_kernel(assignment, handed):
    if handed.kernel in ("", assignment.kernel):
        return []
    return [Remark("kernel", f"The notebook named the kernel {handed.kernel[:60]!r}; the source's was used.")]


def _about_tests(assignment, matching):
    """Tests and tasks that were changed, turned into other cells or deleted; the source's are back in place."""
    remarks = []
    for slot in assignment.slots:
        cells = [matching.cells[i] for i in matching.cells_of(slot)]
        if slot.owner is not Owner.LOCKED or not slot.graded or _is_absent(slot, matching):
            continue
        what = "The test" if slot.kind == "code" else "The task"
        if not cells:
            remarks.append(Remark("test missing", f"{what} was not there; it was put back.", slot.grade_id))
        elif all(cell.kind != slot.kind for cell in cells):
            text = f"{what} had become a {cells[0].kind} cell; the source's was put back."
            remarks.append(Remark("test turned", text, slot.grade_id))
        elif not any(same_text(cell.text, slot.released) for cell in cells):
            text = f"{what} was not the released one; the source's was used."
            remarks.append(Remark("test changed", text, slot.grade_id))
        elif len(cells) > 1:
            remarks.append(Remark("test copied", f"{what} was there {len(cells)} times.", slot.grade_id))
    return remarks


def _about_absence(assignment, matching):
    """Exercises that are not in the notebook at all, and answers whose cell is gone."""
    remarks = []
    for slot in assignment.student_slots:
        if matching.has(slot):
            continue
        if _is_absent(slot, matching):
            text = "The exercise is not in the notebook, as in an older release; its cells were added."
            remarks.append(Remark("exercise missing", text, slot.grade_id))
        else:
            remarks.append(Remark("answer missing", "The cell for the answer was not there.", slot.grade_id))
    return remarks


def _is_absent(slot, matching):
    """Whether nothing of the exercise that a slot belongs to was handed in."""
    return not any(matching.has(other) for other in matching.assignment.exercise_of(slot))


def _about_order(matching):
    """Graded cells and answers that stood in another order than in the source."""
    slots = matching.assignment.slots
    standing = {matching.slot_of[i] for i in matching.in_order()}
    moved = [slots[index] for index in sorted(matching.claimed - standing) if slots[index].grade_id]
    if not moved:
        return []
    which = listed((slot.grade_id for slot in moved), most=SHOWN)
    return [Remark("moved", f"Cells stood in another order and were put in the source's: {which}.")]


def _about_stripped(matching):
    lost = sorted({slot.grade_id for slot in matching.stripped})
    if not lost:
        return []
    text = f"nbgrader's metadata was gone and the cells were found by what they say: {listed(lost, most=SHOWN)}."
    return [Remark("metadata lost", text)]
