"""Metadata in a submission that would earn points or skip tests in nbgrader. It has no effect; it is told."""

from course.grading.intake.verdicts import Remark

FLAGS = ("grade", "solution", "locked", "task", "points")
ACTIVE_TAGS = {"skip-execution", "raises-exception", "remove-cell", "parameters"}  # what executors act upon


def find_tampering(matching):
    """Remarks on tags that steer execution, on changed flags, and on cells that claim to be graded and are not."""
    remarks = []
    for i, cell in enumerate(matching.cells):
        index = matching.slot_of[i]
        own = () if index is None else matching.assignment.tags(matching.assignment.slots[index])
        for tag in sorted(ACTIVE_TAGS & set(cell.tags) - set(own)):
            remarks.append(Remark("tag", f"The tag {tag!r} was left out.", cell.grade_id))
        remarks += _about_flags(cell, matching.assignment)
    return remarks


def _about_flags(cell, assignment):
    """Remarks on the nbgrader flags that one cell claims."""
    if not cell.grade_id:
        return []
    if cell.grade_id not in assignment.by_id:
        if cell.claims.get("grade") or cell.claims.get("task"):
            return [
                Remark("extra graded cell", "The cell claims to be graded but is not in the source.", cell.grade_id)
            ]
        return []
    true = assignment.nbgrader_claims(cell.grade_id)
    changed = [flag for flag in FLAGS if flag in cell.claims and cell.claims[flag] != true.get(flag, False)]
    told = ", ".join(f"{flag} {cell.claims[flag]!r}, in the source {true.get(flag)!r}" for flag in changed)
    return [Remark("flags", f"nbgrader's metadata differs: {told}.", cell.grade_id)] if changed else []
