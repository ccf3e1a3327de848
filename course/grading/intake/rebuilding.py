"""The clean notebook: the source's cells in the source's order, the student's text in the student's places.

Cells that a student added are kept, without any metadata, behind the cell they followed: a helper written in a cell
of its own must still be there when the answer calls it.
"""

from bisect import bisect_right
from collections import defaultdict
from copy import deepcopy

from nbformat.v4 import new_code_cell, new_markdown_cell

from course.grading.intake.answers import about_magics
from course.grading.intake.assignment import Owner
from course.grading.intake.python_text import same_text, tidy, without_magics


def rebuild(assignment, matching, answers):
    """The notebook to grade, and the repairs that the added cells took. ``answers`` maps slots to their Answer."""
    notebook = deepcopy(assignment.graded)
    for slot, answer in answers.items():
        cell = notebook.cells[slot.index]
        if answer.text is not None:
            cell.source = answer.text
        if cell.cell_type == "markdown" and answer.images:
            cell.attachments = answer.images
    added, repairs = _added_cells(matching, answers)
    anchored = _anchors(matching, answers, sorted(added))
    cells = [added[i] for i in anchored[-1]]
    for slot, cell in zip(assignment.slots, notebook.cells, strict=True):
        cells += [cell, *(added[i] for i in anchored[slot.index])]
    notebook.cells = cells
    return notebook, repairs


def _added_cells(matching, answers):
    """New cells, by the index of the handed-in cell, for what the student added or changed outside the answers."""
    used = {i for answer in answers.values() for i in answer.used}
    kept = {i for answer in answers.values() for i in answer.kept}
    added, repairs = {}, []
    for i, cell in enumerate(matching.cells):
        if i in used or not cell.text.strip() or not (i in kept or _is_added(i, matching)):
            continue
        if cell.kind == "code":
            text, left_out = without_magics(cell.text)
            repairs += about_magics(left_out)
            added[i] = new_code_cell(text, id=f"student-{i}")
        else:
            added[i] = new_markdown_cell(cell.text, id=f"student-{i}")
            if cell.images:
                added[i].attachments = cell.images
    return added, repairs


def _is_added(i, matching):
    """Whether a cell is the student's own: a new one, an edited demonstration, or prose with something added."""
    if matching.slot_of[i] is None:
        return True
    cell, slot = matching.cells[i], matching.assignment.slots[matching.slot_of[i]]
    if slot.owner in (Owner.SOLUTION, Owner.ANSWER) or same_text(cell.text, slot.released):
        return False
    if cell.kind == "code":
        return slot.owner is Owner.PLAIN and slot.kind == "code"
    if slot.kind == "code":
        return False
    return slot.graded or tidy(slot.released) in tidy(cell.text)  # a changed task may hold the answer: keep it


def _anchors(matching, answers, added):
    """Slot index -> added cells that follow it, in the student's order; -1 is the top of the notebook."""
    in_order = matching.in_order()
    home = {i: slot.index for slot, answer in answers.items() for i in answer.used}
    anchored = defaultdict(list)
    for i in added:
        if matching.slot_of[i] is not None:
            anchored[matching.slot_of[i]].append(i)
            continue
        before = next((j for j in range(i - 1, -1, -1) if matching.slot_of[j] is not None or j in home), None)
        if before is not None and before in home:
            anchored[home[before]].append(i)
        else:  # a cell that was moved says nothing about where its neighbours belong
            place = bisect_right(in_order, i)
            anchored[matching.slot_of[in_order[place - 1]] if place else -1].append(i)
    return anchored
