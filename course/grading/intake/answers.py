"""What the student wrote in one place: copies settled, parts of a split cell joined, magics left out."""

from dataclasses import dataclass, field

from course.grading.intake.assignment import Owner
from course.grading.intake.python_text import bound_names, builds_on, is_python, same_text, without_magics
from course.grading.intake.verdicts import SHOWN, Remark
from course.grading.printable import printable
from course.grading.wording import listed

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
    if not left_out:
        return []
    shown = listed((printable(" ".join(line.split())[:60]) for line in left_out), most=SHOWN)
    return [Remark("magics", f"Left out while grading: {shown}.", grade_id)]


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
        return Answer(cells[holder].code, used=own, remarks=[Remark("answer elsewhere", note, slot.grade_id)])
    written = [i for i in own if cells[i].text.strip()]
    if not written:
        return Answer(used=own)
    answered = matching.answered(slot)
    definers = [i for i in answered if matching.names[i] & slot.names]
    last = definers[-1:]
    copies = last if len(definers) > 1 and not builds_on(cells[last[0]].code, slot.names) else []
    whole = [parts for parts in (copies, answered, written) if parts and _complete(_joined(parts, matching), slot)]
    parts = (whole or [copies or answered or written])[0]
    before, after = _fragments(parts, slot, matching)
    if not (answered or before or after):
        return Answer(used=own)
    kept = [i for i in answered if i not in definers] if parts == copies else []
    parts = before + parts + after
    answer = Answer(_joined(parts, matching), used=sorted({*own, *parts} - {*kept}), kept=kept)
    if len(parts) > 1:
        note = f"The answer was split over {len(parts)} cells; they were joined."
        answer.remarks.append(Remark("split", note, slot.grade_id))
    elif copies:
        alike = len({matching.cells[i].code.strip() for i in definers}) == 1
        note = f"The answer was there {len(definers)} times; {'they are alike' if alike else 'the last was graded'}."
        answer.remarks.append(Remark("copies", note, slot.grade_id))
    elif any(map(matching.is_marked, {*written} - {*answered, *parts})) and not any(map(matching.is_marked, parts)):
        note = "Its answer was found in another cell than its own, which holds none."
        answer.remarks.append(Remark("answer elsewhere", note, slot.grade_id))
    return answer


def _fragments(parts, slot, matching):
    """Neighbours without metadata that are the rest of the answer: only together with it are they Python."""
    text = _joined(parts, matching)
    before, after = [], []
    for i in _neighbours(parts[0], -1, matching):
        if _complete(text, slot):
            break
        before.insert(0, i)
        text = matching.cells[i].code.strip("\n") + "\n" + text
    if not _complete(text, slot):
        before, text = [], _joined(parts, matching)
    for i in _neighbours(parts[-1], 1, matching):
        more = matching.cells[i].code.strip("\n")
        if is_python(text) and is_python(more):
            break
        after.append(i)
        text = f"{text}\n{more}"
    return (before, after) if _complete(text, slot) else ([], [])


def _joined(parts, matching):
    """The texts of cells, one below the other."""
    return "\n".join(matching.cells[i].code.strip("\n") for i in parts)


def _neighbours(i, step, matching):
    """Up to LONGEST_SPLIT added code cells directly above (-1) or below (1) cell i."""
    for j in range(i + step, i + step * (LONGEST_SPLIT + 1), step):
        if not 0 <= j < len(matching.cells) or matching.slot_of[j] is not None or matching.cells[j].kind != "code":
            return
        yield j


def _complete(text, slot):
    """Whether text is Python and defines what the slot asks for."""
    return is_python(text) and (not slot.names or bool(bound_names(text) & slot.names))
