"""Which cell of the source each handed-in cell is: by id, by text, by what it defines, by likeness, by place.

Ids come first because they are almost always right, but never against what a cell says: a cell that defines
another exercise's function, and not its own, goes to that exercise.
"""

from bisect import bisect_left
from collections import defaultdict

from rapidfuzz import fuzz

from course.grading.intake.assignment import Owner, answer_id
from course.grading.intake.python_text import bound_names, is_python, is_unanswered, tidy

ALIKE = 75  # per cent; an edited cell or one of an older release is above, two different cells of a lesson below
COMPARED = 2_000  # characters


class Matching:
    """``slot_of[i]`` is the slot index of handed-in cell i, or None for a cell that the student added.

    Several cells may belong to one slot: copies, or the parts of a split cell. ``elsewhere`` maps a solution slot
    without a cell of its own to the cell that holds it together with another solution.
    """

    def __init__(self, assignment, cells):
        self.assignment = assignment
        self.cells = cells
        self.slot_of = [None] * len(cells)
        self.claimed = set()
        self.stripped = []  # slots whose cell had lost its nbgrader metadata
        self.names = [bound_names(cell.code) if cell.text.strip() else frozenset() for cell in cells]
        self.owner_of_name = {name: s for s in assignment.slots for name in s.names if s.owner is Owner.SOLUTION}
        self.elsewhere = {}
        self._by_id()
        self._by_text()
        self._by_definition()
        self.certain = frozenset(self.claimed)  # not by guess
        self._by_likeness()
        self._by_place()

    def cells_of(self, slot):
        """Indices of the handed-in cells of a slot, in their order."""
        return [i for i, index in enumerate(self.slot_of) if index == slot.index]

    def is_marked(self, i):
        """Whether handed-in cell i still has the nbgrader metadata of a cell of the source."""
        return self.cells[i].grade_id in self.assignment.by_id

    def has(self, slot):
        """Whether anything handed in belongs to a slot."""
        return slot.index in self.claimed or slot in self.elsewhere

    def in_order(self):
        """Indices of handed-in cells that stand in source order: a longest increasing run of their slots."""
        tails, ends, before = [], [], {}
        for i, index in enumerate(self.slot_of):
            if index is None:
                continue
            place = bisect_left(tails, index)
            tails[place:], ends[place:] = [index, *tails[place + 1 :]], [i, *ends[place + 1 :]]
            before[i] = ends[place - 1] if place else None
        run, i = [], ends[-1] if ends else None
        while i is not None:
            run.append(i)
            i = before[i]
        return run[::-1]

    def _claim(self, i, slot):
        self.slot_of[i] = slot.index
        beside = slot.index in self.claimed  # added by the student to a cell that is there
        if slot.grade_id and slot.owner is not Owner.ANSWER and not self.is_marked(i) and not beside:
            self.stripped.append(slot)
        self.claimed.add(slot.index)

    def _free(self):
        return [i for i, index in enumerate(self.slot_of) if index is None and self.cells[i].text.strip()]

    def _belongs_elsewhere(self, i, slot):
        """Whether a cell defines what other solutions ask for and nothing that this slot should hold."""
        others = {name for name in self.names[i] & self.owner_of_name.keys() if name not in slot.names}
        if slot.owner is Owner.SOLUTION:
            return bool(others) and bool(slot.names) and not (self.names[i] & slot.names)
        return bool(others - bound_names(slot.released))

    def _by_id(self):
        for i, cell in enumerate(self.cells):
            grade_id = cell.grade_id or (answer_id(cell.answer_to) if cell.answer_to else "")
            slot = self.assignment.by_id.get(grade_id)
            if slot and not self._belongs_elsewhere(i, slot):
                self._claim(i, slot)

    def _by_text(self):
        places = defaultdict(list)
        for slot in self.assignment.slots:
            if slot.released.strip():
                places[tidy(slot.released)].append(slot)
        for i in self._free():
            slots = places.get(tidy(self.cells[i].text), ())
            slot = next((s for s in slots if s.index not in self.claimed), None)
            if slot:
                self._claim(i, slot)
            elif slots:
                self.slot_of[i] = slots[0].index  # a copy of what the source has: nothing to keep

    def _by_definition(self):
        """Cells that define what a solution asks for, where its own cell is gone or still the stub."""
        for slot in self.assignment.solutions:
            own = self.answered(slot)
            if own and (not slot.names or any(self.names[i] & slot.names for i in own)):
                continue
            definers = [i for i in self._writable() if self.names[i] & slot.names and self._answers(i, slot)]
            added = [i for i in definers if self.slot_of[i] is None]
            for i in added:
                self._claim(i, slot)
            if definers and not added and not own:
                self.elsewhere[slot] = definers[-1]

    def _writable(self):
        """Cells that may hold a solution: Python, and not claimed by a cell of the source's own."""
        for i, cell in enumerate(self.cells):
            index = self.slot_of[i]
            if index is not None and self.assignment.slots[index].owner is not Owner.SOLUTION:
                continue
            if cell.kind == "code" or is_python(cell.code):
                yield i

    def _by_likeness(self):
        """Edited cells, and cells of an older release, among what is left between their neighbours."""
        open_slots = [s for s in self.assignment.slots if s.index not in self.claimed and s.released.strip()]
        for i in self._free():
            text = self.cells[i].text[:COMPARED]
            scored = [
                (fuzz.ratio(text, slot.released[:COMPARED], score_cutoff=ALIKE), -slot.index, slot)
                for slot in open_slots
                if slot.owner is not Owner.ANSWER and slot.index not in self.claimed
            ]
            score, _, slot = max(scored, default=(0, 0, None), key=lambda found: found[:2])
            if score and not self._belongs_elsewhere(i, slot):
                self._claim(i, slot)

    def _by_place(self):
        """An answer without a mark of its own: what stands where its cell should be."""
        for slot in self.assignment.student_slots:
            if slot.index in self.claimed or slot in self.elsewhere:
                continue
            inside = [i for i in self._between(slot) if self.cells[i].text.strip()]
            if slot.owner is Owner.ANSWER:
                inside = [i for i in inside if self.cells[i].kind != "code"][:1]
            else:
                inside = [i for i in inside if not self.names[i] & self.owner_of_name.keys()]
            if len(inside) == 1:
                self._claim(inside[0], slot)

    def _between(self, slot):
        """Unclaimed cells after the cell of the slot before this one and ahead of the next claimed slot's."""
        before = [i for i, index in enumerate(self.slot_of) if index == slot.index - 1]
        if not before:
            return []
        run = []
        for i in range(before[-1] + 1, len(self.cells)):
            if self.slot_of[i] is not None:
                break
            run.append(i)
        return run

    def answered(self, slot):
        """Indices of the cells of a slot that hold more than its stub."""
        return [i for i in self.cells_of(slot) if self._answers(i, slot)]

    def _answers(self, i, slot):
        """Whether a cell holds more than the stub of a slot."""
        return not is_unanswered(self.cells[i].code, slot.released)
