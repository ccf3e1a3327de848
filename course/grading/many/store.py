"""Puts results into nbgrader's gradebook, each in one transaction: all of a submission or nothing of it."""

import contextlib
import time

from nbgrader.api import Assignment, InvalidEntry, Student, SubmittedAssignment
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import false, select, text, update
from sqlalchemy.exc import IntegrityError, OperationalError
from tornado.log import app_log

TRIES, PAUSE = 5, 1.0  # for a database that formgrader or another grader is writing to, or that starts again
WAIT = "SET LOCAL lock_timeout = '5s'"  # as long as sqlite3 waits; PostgreSQL would wait for ever
# What may be otherwise a moment later; the second: someone else has added the same student meanwhile.
PASSING = (OperationalError, IntegrityError)


class Store:
    """The one writer. ``autograde`` brings nbgrader's settings; a ``stop`` that is asked for ends its patience."""

    def __init__(self, gradebook, autograde, stop):
        self.gradebook, self.stop = gradebook, stop
        self.penalties = AssignLatePenalties(parent=autograde)
        self.penalties.init_plugin()

    def students(self, assignment):
        """Students whose submission to ``assignment`` the gradebook knows."""
        query = select(Student.id).join(SubmittedAssignment).join(Assignment).where(Assignment.name == assignment)
        with self.gradebook.engine.connect() as connection:
            return set(connection.scalars(query))

    def put(self, result):
        """Store a Result. What is wrong with the database is raised when it stays so."""
        for attempt in range(TRIES):
            try:
                with self.transaction():
                    self.put_submission(result)
                return
            except PASSING:
                if attempt == TRIES - 1 or self.stop.asked:
                    raise
                time.sleep(PAUSE)

    @contextlib.contextmanager
    def transaction(self):
        """Let the gradebook's methods, each of which commits, all work in one transaction."""
        session = self.gradebook.db
        app_log.disabled = True  # nbgrader logs there, with a traceback, what it then raises as InvalidEntry
        try:
            with self.gradebook.engine.begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.execute(text(WAIT))
                # Changes nothing: a database that cannot be written says so here, once, and not in nbgrader's log.
                connection.execute(update(Student).where(false()).values(id=Student.id))
                session.remove()
                settings = {"join_transaction_mode": "rollback_only", "expire_on_commit": False, "autoflush": False}
                session.configure(bind=connection, **settings)
                yield
                session.flush()
        except InvalidEntry as wrapped:
            raise wrapped.__context__ from None
        finally:
            app_log.disabled = False
            session.remove()
            session.configure(bind=self.gradebook.engine, expire_on_commit=True, autoflush=True)

    def put_submission(self, result):
        """Student, submission and grades as ``nbgrader autograde`` leaves them; manual grades stay, to be looked at."""
        gradebook, student, assignment = self.gradebook, result.student, result.assignment
        gradebook.update_or_create_student(student)
        when = {"timestamp": result.timestamp} if result.timestamp else {}
        submission = gradebook.update_or_create_submission(assignment, student, **when)
        for notebook in submission.notebooks:
            if notebook.name in result.notebooks:
                self.put_notebook(notebook, result.notebooks[notebook.name], submission)

    def put_notebook(self, notebook, graded, submission):
        names = {cell.id: cell.name for cell in notebook.notebook._base_cells}
        for grade in notebook.grades:
            if graded.only and names[grade.cell_id] not in graded.only:
                continue
            grade.auto_score = graded.scores.get(names[grade.cell_id])
            grade.needs_manual_grade = grade.manual_score is not None or grade.auto_score is None
        for comment in notebook.comments if graded.gradable else ():
            if not graded.only or names[comment.cell_id] in graded.only:
                comment.auto_comment = graded.comments.get(names[comment.cell_id])
        notebook.late_submission_penalty = None
        if graded.gradable and submission.total_seconds_late > 0:
            self.gradebook.db.flush()
            self.gradebook.db.refresh(notebook)
            self.put_penalty(notebook, submission)

    def put_penalty(self, notebook, submission):
        late = submission.total_seconds_late
        penalty = self.penalties.plugin_inst.late_submission_penalty(submission.student.id, notebook.score, late)
        if penalty is not None:
            notebook.late_submission_penalty = self.penalties._check_late_penalty(notebook, penalty)
