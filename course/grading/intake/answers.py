"""What the student wrote in one place: copies settled, parts of a split cell joined, magics left out."""

from dataclasses import dataclass, field

from course.grading.intake.assignment import Owner
from course.grading.intake.python_text import bound_names, is_python, is_unanswered, same_text, without_magics
from course.grading.intake.verdicts import Remark

LONGEST_SPLIT = 4  # cells that are tried as parts of one answer


@dataclass
class Answer:
    """The text for one slot, the handed-in cells that went into it, and what was found on the way.

    ``text`` is None where the source's stub stays. ``kept`` are cells of the slot that go on as cells of their own.
    """

    text: str | None = None
    used: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    images: dict = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    repairs: list[Remark] = field(default_factory=list)


def find_answer(slot, matching):
    """The Answer for a slot whose text comes from the student."""
    if slot.kind == "code":
        answer = _code(slot, matching)
        if answer.text is not None:
            answer.text, left_out = without_magics(answer.text)
            answer.repairs += about_magics(left_out, slot.grade_id)
    else:
        answer = _prose(slot, matching)
    wrong = {matching.cells[i].kind for i in answer.used} - {slot.kind}
    if wrong and slot.owner is Owner.SOLUTION:
        what = f"The answer was in a {' and a '.join(sorted(wrong))} cell; it was read as {slot.kind}."
        answer.remarks.append(Remark("solution turned", what, slot.grade_id))
    return answer


def about_magics(left_out, grade_id=""):
    """The repair that tells which shell commands and magics were left out of a cell."""
    shown = ", ".join(line[:60] for line in left_out)
    return [Remark("magics", f"Left out while grading: {shown}.", grade_id)] if left_out else []


def _prose(slot, matching):
    """Everything that was written in a Markdown answer; a person reads it, so nothing is dropped."""
    found = [i for i in matching.cells_of(slot) if not same_text(matching.cells[i].text, slot.released)]
    if not found:
        return Answer(used=matching.cells_of(slot))
    texts = dict.fromkeys(matching.cells[i].text for i in found)
    images = {name: bundle for i in found for name, bundle in matching.cells[i].images.items()}
    return Answer("\n\n".join(texts), used=found, images=images)


def _code(slot, matching):
    cells = matching.cells
    own = matching.cells_of(slot)
    if slot in matching.elsewhere:
        holder = matching.elsewhere[slot]
        note = "Its answer was found in the cell of another exercise."
        return Answer(cells[holder].text, used=own, remarks=[Remark("answer elsewhere", note, slot.grade_id)])
    written = [i for i in own if cells[i].text.strip()]
    if not written:
        return Answer("" if own else None, used=own)
    answered = [i for i in written if not is_unanswered(cells[i].text, slot.released)]
    definers = [i for i in answered if matching.names[i] & slot.names]
    if len(definers) > 1:
        return _last_copy(slot, matching, own, answered, definers)
    parts = answered if answered and (definers or not slot.names) else written
    before, after = _fragments(parts, slot, matching)
    if not (answered or before or after):
        return Answer(used=own)
    parts = before + parts + after
    answer = Answer("\n".join(cells[i].text.strip("\n") for i in parts), used=sorted({*own, *parts}))
    if len(parts) > 1:
        note = f"The answer was split over {len(parts)} cells; they were joined."
        answer.remarks.append(Remark("split", note, slot.grade_id))
    return answer


def _last_copy(slot, matching, own, answered, definers):
    """Of several complete answers the last; what else stood in the slot's cells stays as cells of their own."""
    texts = {matching.cells[i].text.strip() for i in definers}
    which = "the last was graded" if len(texts) > 1 else "they are alike"
    note = f"The answer was there {len(definers)} times; {which}."
    kept = [i for i in answered if i not in definers]
    remark = Remark("copies", note, slot.grade_id)
    return Answer(
        matching.cells[definers[-1]].text, used=[i for i in own if i not in kept], kept=kept, remarks=[remark]
    )


def _fragments(parts, slot, matching):
    """Neighbours without metadata that are the rest of the answer: only together with it are they Python."""
    text = "\n".join(matching.cells[i].text.strip("\n") for i in parts)
    before, after = [], []
    for i in _neighbours(parts[0], -1, matching):
        if _complete(text, slot):
            break
        before.insert(0, i)
        text = matching.cells[i].text.strip("\n") + "\n" + text
    if not _complete(text, slot):
        before, text = [], "\n".join(matching.cells[i].text.strip("\n") for i in parts)
    for i in _neighbours(parts[-1], 1, matching):
        more = matching.cells[i].text.strip("\n")
        if is_python(text) and is_python(more):
            break
        after.append(i)
        text = f"{text}\n{more}"
    return (before, after) if _complete(text, slot) else ([], [])


def _neighbours(i, step, matching):
    """Up to LONGEST_SPLIT added code cells directly above (-1) or below (1) cell i."""
    for j in range(i + step, i + step * (LONGEST_SPLIT + 1), step):
        if not 0 <= j < len(matching.cells) or matching.slot_of[j] is not None or matching.cells[j].kind != "code":
            return
        yield j


def _complete(text, slot):
    """Whether text is Python and defines what the slot asks for."""
    return is_python(text) and (not slot.names or bool(bound_names(text) & slot.names))
