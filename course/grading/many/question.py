"""One question graded again: its cells and points come from the new Result, all others stay as they stand."""

import dataclasses

from nbformat import reads, writes

from course.trouble import Trouble


def question_ids(assignments, question):
    """Grade ids of the cells of the exercise that has a cell of this id, by assignment and notebook.

    ``assignments`` are {assignment: {notebook: intake's Assignment}}. Trouble where none has such an exercise.
    """
    found, names = {}, []
    for assignment, notebooks in assignments.items():
        for notebook, source in notebooks.items():
            for exercise in source.exercises:
                ids = frozenset(slot.grade_id for slot in exercise if slot.grade_id)
                names.append(exercise[0].grade_id)
                if question in ids:
                    found[assignment, notebook] = ids
    if not found:
        raise Trouble(f"There is no question {question!r}; the questions are {', '.join(dict.fromkeys(names))}.")
    return found


def limited(graded, standing, ids):
    """``graded`` with all but the cells ``ids`` taken from ``standing``, the text of the notebook as it was graded."""
    new = {grade_id(cell): cell for cell in reads(graded.text, as_version=4).cells if grade_id(cell) in ids}
    notebook = reads(standing, as_version=4)
    notebook.cells = [new.get(grade_id(cell), cell) for cell in notebook.cells]
    scores = {name: score for name, score in graded.scores.items() if name in ids}
    comments = {name: comment for name, comment in graded.comments.items() if name in ids}
    return dataclasses.replace(graded, text=writes(notebook), scores=scores, comments=comments, only=ids)


def grade_id(cell):
    return cell.metadata.get("nbgrader", {}).get("grade_id")
