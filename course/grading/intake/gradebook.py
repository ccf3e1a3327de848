"""nbgrader's gradebook, as far as intake touches it."""

from nbgrader.api import Gradebook, MissingEntry


def clear_scores(db_url, notebook, assignment, student):
    """Forget the automatic scores of earlier attempts, so that none survives an attempt that fails half-way.

    Manual scores are a person's work and stay, marked as in need of another look.
    """
    with Gradebook(db_url) as gradebook:
        try:
            submission = gradebook.find_submission_notebook(notebook, assignment, student)
        except MissingEntry:
            return
        submission.late_submission_penalty = None
        for grade in submission.grades:
            grade.auto_score = None
            grade.needs_manual_grade = True
        gradebook.db.commit()


def graded_ids(db_url, notebook, assignment):
    """Ids of the cells that the gradebook knows for a notebook."""
    with Gradebook(db_url) as gradebook:
        return {cell.name for cell in gradebook.find_notebook(notebook, assignment).source_cells}
