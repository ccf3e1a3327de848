"""The assignment as intake knows it: every cell of the source, what stood there on release, and whose it is."""

from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from nbformat.notebooknode import NotebookNode, from_dict
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import SaveCells

from course.grading.intake.python_text import bound_names

NBGRADERS_OWN = tuple(GenerateAssignment.preprocessors.default_args[0])


class Owner(Enum):
    """Who writes a cell of the assignment."""

    SOLUTION = "solution"  # the student, in a cell that nbgrader knows
    ANSWER = "answer"  # the student, in the Markdown cell below a manually graded task
    LOCKED = "locked"  # the source: tests, tasks, read-only and folded cells
    PLAIN = "plain"  # the source; a student may play with it


@dataclass(frozen=True)
class Slot:
    """One place of the source notebook."""

    index: int
    owner: Owner
    kind: str  # "code", "markdown" or "raw"
    released: str  # the text that students were given
    grade_id: str = ""
    names: frozenset = frozenset()  # what its solution must define
    graded: bool = False  # earns points, by tests or by hand


@dataclass(frozen=True)
class Assignment:
    """A notebook's name, its cells as they are graded (hidden tests, stubs), and a Slot for each of them."""

    name: str
    graded: NotebookNode
    slots: tuple[Slot, ...]

    @classmethod
    def from_source(cls, name, source, preprocessors=NBGRADERS_OWN, parent=None, assignment=None):
        """From the source notebook, with solutions and hidden tests in it.

        ``preprocessors`` are those of ``GenerateAssignment``: what comes before SaveCells makes the notebook as the
        gradebook knows it, what comes after makes it the released one. ``parent`` brings nbgrader's settings.
        """
        stored = preprocessors.index(SaveCells)
        resources = {"unique_key": name, "nbgrader": {"notebook": name, "assignment": assignment or name}}
        graded = _run(preprocessors[:stored], source, resources, parent)
        released = _run(preprocessors[stored + 1 :], graded, resources, parent)
        solved = {_meta(cell)["grade_id"]: cell.source for cell in source.cells if _meta(cell).get("solution")}
        slots = [_slot(i, cell, released.cells[i].source, solved) for i, cell in enumerate(graded.cells)]
        return cls(name, graded, tuple(slots))

    @cached_property
    def by_id(self):
        """Slots by grade id; an answer cell stands under the id of its task, with a prefix."""
        return {slot.grade_id: slot for slot in self.slots if slot.grade_id}

    @cached_property
    def solutions(self):
        """The slots of solution cells."""
        return tuple(slot for slot in self.slots if slot.owner is Owner.SOLUTION)

    @cached_property
    def student_slots(self):
        """The slots whose text comes from the student."""
        return tuple(slot for slot in self.slots if slot.owner in (Owner.SOLUTION, Owner.ANSWER))

    @property
    def nbgrader_ids(self):
        """Grade ids of the cells that nbgrader keeps in its gradebook."""
        return {grade_id for grade_id, slot in self.by_id.items() if slot.owner is not Owner.ANSWER}

    def exercise_of(self, slot):
        """The slots of one exercise: a solution and its tests, or a task and its answer."""
        return next((exercise for exercise in self.exercises if slot in exercise), (slot,))

    @cached_property
    def exercises(self):
        """All exercises, each a list of its slots in source order."""
        exercises = []
        for slot in self.slots:
            if slot.owner is Owner.SOLUTION or (slot.graded and slot.kind == "markdown"):
                exercises.append([slot])
            elif exercises and (slot.graded or slot.owner is Owner.ANSWER):
                exercises[-1].append(slot)
        return exercises

    @property
    def kernel(self):
        return self.graded.metadata.get("kernelspec", {}).get("name", "")

    def nbgrader_claims(self, grade_id):
        """The nbgrader metadata that the source gives a cell."""
        return _meta(self.graded.cells[self.by_id[grade_id].index])

    def tags(self, slot):
        return tuple(self.graded.cells[slot.index].metadata.get("tags", ()))


def answer_id(task):
    """The id under which the answer cell of a task stands."""
    return f"answer to {task}"


def _slot(index, cell, released, solved):
    meta = _meta(cell)
    grade_id = meta.get("grade_id", "")
    common = {"index": index, "kind": cell.cell_type, "released": released}
    if meta.get("solution"):
        names = _required_names(grade_id, released, solved.get(grade_id, ""))
        return Slot(owner=Owner.SOLUTION, grade_id=grade_id, names=names, graded=bool(meta.get("grade")), **common)
    task = cell.metadata.get("course", {}).get("answer_to")
    if task:
        return Slot(owner=Owner.ANSWER, grade_id=answer_id(task), **common)
    if meta.get("grade") or meta.get("task") or meta.get("locked"):
        graded = bool(meta.get("grade") or meta.get("task"))
        return Slot(owner=Owner.LOCKED, grade_id=grade_id, graded=graded, **common)
    folded = cell.metadata.get("jupyter", {}).get("source_hidden")  # set-up code, not meant to be played with
    return Slot(owner=Owner.LOCKED if folded else Owner.PLAIN, **common)


def _required_names(grade_id, released, solved):
    """The name after which a solution cell is called; for other ids all that its stub, else its solution, defines."""
    given = bound_names(released)
    if grade_id in given | bound_names(solved):
        return frozenset({grade_id})
    return given or bound_names(solved)


def _run(preprocessors, notebook, resources, parent):
    """The notebook after the preprocessors, a copy."""
    notebook, resources = from_dict(notebook), dict(resources)
    for preprocessor in preprocessors:
        notebook, resources = preprocessor(parent=parent).preprocess(notebook, resources)
    return notebook


def _meta(cell):
    return cell.metadata.get("nbgrader", {})
