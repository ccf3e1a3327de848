"""Metadata in a submission that would earn points or skip tests in nbgrader. It has no effect; it is told."""

from course.grading.intake.verdicts import Remark

FLAGS = ("grade", "solution", "locked", "task", "points")
ACTIVE_TAGS = {"skip-execution", "raises-exception"}  # what nbclient acts upon


def find_tampering(matching):
    """Remarks on tags that steer execution, on changed flags, and on cells that claim to be graded and are not."""
    assignment, remarks = matching.assignment, []
    for cell, index in zip(matching.cells, matching.slot_of, strict=True):
        own = () if index is None else assignment.tags(assignment.slots[index])
        for tag in sorted(ACTIVE_TAGS & set(cell.tags) - set(own)):
            remarks.append(Remark("tag", f"The tag {tag!r} was left out.", cell.grade_id))
        if cell.grade_id in assignment.by_id:
            remarks += _about_flags(cell, assignment.nbgrader_claims(cell.grade_id))
        elif (cell.claims.get("grade") or cell.claims.get("task")) and _is_extra(index, matching):
            text = "A cell claims to be graded but is not in the source."
            remarks.append(Remark("extra graded cell", text, cell.grade_id))
    return remarks


def _about_flags(cell, true):
    """Remarks on the nbgrader flags that a cell claims, against the true ones."""
    changed = [flag for flag in FLAGS if flag in cell.claims and cell.claims[flag] != true.get(flag, False)]
    told = ", ".join(f"{flag} {repr(cell.claims[flag])[:40]}, in the source {true.get(flag)!r}" for flag in changed)
    return [Remark("flags", f"nbgrader's metadata differs: {told}.", cell.grade_id)] if changed else []


def _is_extra(index, matching):
    """Whether a cell is none of the source's, or one more of them."""
    return index is None or matching.slot_of.count(index) > 1
