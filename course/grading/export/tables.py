"""Grades as rows, in the columns that each platform imports.

Each function takes Grades, the assignments and ``absent``, the score where nothing was handed in (None leaves the
cell empty); Canvas and Moodle also take the rows of the platform's own CSV, which they fill in. They return a Table.
"""

import re
from typing import NamedTuple

from course.grading.collect.layouts.handed import Person
from course.grading.roster import NOT_STUDENTS, Ambiguous
from course.grading.wording import listed

PLAIN_COLUMNS = [
    *("student_id", "last_name", "first_name", "email", "assignment", "submitted", "score", "late_penalty"),
    *("final_score", "max_score", "needs_manual_grade"),
]
CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
CANVAS_TITLE = re.compile(r"(?P<title>.*?)\s*\(\d+\)")
POINTS = "points possible"


class Table(NamedTuple):
    """The rows of a CSV, remarks, which are sentences for the instructor, and how many grades there are in it."""

    rows: list
    remarks: list
    grades: int


class NotATemplate(Exception):
    """Why a CSV is not the one that the platform exports, or not of this class: a sentence."""


def plain(grades, assignments, absent, template=None):
    """One row for each student and assignment, with everything the gradebook knows."""
    rows = [PLAIN_COLUMNS]
    for student in grades.roster.students.values():
        for assignment in assignments:
            result = grades.results.get((student.student_id, assignment))
            outcome = (None, absent, None, absent, grades.maximum[assignment], "")
            if result:
                when = f"{result.when:%Y-%m-%d %H:%M:%S}" if result.when else None
                waiting = "yes" if result.waiting else "no"
                outcome = (when, result.score, result.penalty, result.final(), grades.maximum[assignment], waiting)
            identity = (student.student_id, student.last_name, student.first_name, student.email, assignment)
            rows.append(identity + outcome)
    return Table(rows, [], grades.known(assignments))


def gradescope(grades, assignments, absent, template=None):
    """The columns of Gradescope's own "Download grades": four for each assignment."""
    header = ["First Name", "Last Name", "SID", "Email"]
    for name in assignments:
        header += [name, f"{name} - Max Points", f"{name} - Submission Time", f"{name} - Lateness (H:M:S)"]
    rows = [header]
    for student in grades.roster.students.values():
        row = [student.first_name, student.last_name, student.student_id, student.email]
        for name in assignments:
            result = grades.results.get((student.student_id, name))
            when = f"{result.when:%Y-%m-%d %H:%M:%S} +0000" if result and result.when else None
            late = _clock(result.seconds_late) if result else None
            row += [result.final() if result else absent, grades.maximum[name], when, late]
        rows.append(row)
    return Table(rows, [], grades.known(assignments))


def canvas(grades, assignments, absent, template=None):
    """Canvas's gradebook CSV: identity columns, a column for each assignment, a row of points possible."""
    if template:
        return _filled_canvas(grades, assignments, absent, template)
    maxima = [grades.maximum[name] for name in assignments]
    rows = [[*CANVAS_COLUMNS, *assignments], ["    Points Possible", "", "", "", "", *maxima]]
    for student in grades.roster.students.values():
        name = f"{student.last_name}, {student.first_name}".strip(", ") or student.student_id
        identity = [name, next(iter(student.lms_ids), ""), "", student.student_id, ""]
        rows.append(identity + [_score(grades, student.student_id, title, absent) for title in assignments])
    remark = "Canvas finds students by ID or SIS Login ID; with its own CSV as --template no name is guessed."
    return Table(rows, [remark], grades.known(assignments))


def _filled_canvas(grades, assignments, absent, template):
    header = template[0]
    if "Student" not in header or not {"ID", "SIS User ID", "SIS Login ID"} & set(header):
        raise NotATemplate("The template is not a gradebook that Canvas exported: it lacks the columns Student and ID.")
    identity = [column for column in CANVAS_COLUMNS if column in header]
    columns = {name: _canvas_column(header, name) for name in assignments}
    titles = [header[i] if i is not None else name for name, i in columns.items()]
    possible = next((row for row in template[1:] if row and row[0].strip().casefold() == POINTS), [])
    rows, remarks = [[*identity, *titles]], []
    scales = {}
    for name, index in columns.items():
        points = _number(possible[index]) if index is not None and index < len(possible) else None
        if index is None:
            remarks.append(_new_column(header, name))
        scales[name], remark = _scale(name, grades.maximum[name], points)
        remarks += remark
    people = _People(grades)
    if possible:
        maxima = [grades.maximum[name] * scales[name] for name in assignments]
        rows.append([*_values(header, possible, identity), *maxima])
    for row in template[1:]:
        values = _values(header, row, identity)
        if row is possible or not any(values[1:]) or values[0].casefold() in NOT_STUDENTS:
            continue  # rows that Canvas adds
        student_id = people.find(dict(zip(header, row, strict=False)))
        scores = [_score(grades, student_id, name, absent, scales[name]) for name in assignments]
        rows.append([*values, *(scores if student_id else _values(header, row, titles))])
    return Table(rows, remarks + people.remarks(), grades.known(assignments, people.found))


def moodle(grades, assignments, absent, template=None):
    """Moodle's grading worksheet of one assignment filled in, or a CSV for the gradebook's import."""
    if template:
        return _filled_moodle(grades, assignments, absent, template)
    rows = [["Username", "First name", "Last name", "Email address", *assignments]]
    for student in grades.roster.students.values():
        identity = [student.student_id, student.first_name, student.last_name, student.email]
        rows.append(identity + [_score(grades, student.student_id, name, absent) for name in assignments])
    remark = "Import this under Grades, Import, CSV file, mapping Email address or Username to the user."
    return Table(rows, [remark], grades.known(assignments))


def _filled_moodle(grades, assignments, absent, template):
    header = template[0]
    if not {"Identifier", "Grade", "Last modified (grade)"} <= set(header):
        raise NotATemplate(
            "The template is not a Moodle grading worksheet in English: it lacks Identifier, Grade or "
            "Last modified (grade)."
        )
    if len(assignments) != 1:
        raise NotATemplate(
            f"A Moodle grading worksheet belongs to one assignment; name it, as in `course export {assignments[0]}`."
        )
    [name] = assignments
    maximum = next((column for column in header if column.casefold() == "maximum grade"), None)
    rows, remarks, people = [header], [], _People(grades)
    for row in template[1:]:
        record = dict(zip(header, row, strict=False))
        student_id = people.find(record)
        factor, scaled = _scale(name, grades.maximum[name], _number(record.get(maximum, "")))
        remarks += [sentence for sentence in scaled if sentence not in remarks]
        score = _score(grades, student_id, name, absent, factor) if student_id else None
        rows.append([score if column == "Grade" and score is not None else record.get(column) for column in header])
    return Table(rows, remarks + people.remarks(), grades.known(assignments, people.found))


TABLES = {"plain": plain, "canvas": canvas, "moodle": moodle, "gradescope": gradescope}


def _score(grades, student_id, assignment, absent, factor=1.0):
    score = grades.final(student_id, assignment, absent)
    return score if score is None else round(score * factor, 4)


class _People:
    """Finds the students of a template's rows, and keeps who was found and whom the gradebook does not know."""

    def __init__(self, grades):
        self.roster = grades.roster
        self.found, self.unknown, self.ambiguous = set(), [], []

    def find(self, record):
        """The student id of a row, {column: cell}; None for no one in the gradebook."""
        columns = ("SIS Login ID", "Username", "ID", "SIS User ID", "ID number", "Identifier")
        values = [record[column].rpartition(" ")[2] for column in columns if record.get(column)]
        name = (record.get("Student") or record.get("Full name") or "").strip()
        try:
            person = Person(name, record.get("Email address") or "", tuple(("student_id", value) for value in values))
            found = self.roster.find(person)
        except Ambiguous as ambiguous:
            self.ambiguous.append(f"No grade was filled in where a name {ambiguous}.")
            return None
        if found:
            self.found.add(found)
        else:
            self.unknown.append(name or " ".join(values))
        return found

    def remarks(self):
        """Sentences on the rows that were left as they are. NotATemplate when that is all of them."""
        if not self.unknown:
            return self.ambiguous
        why = "no student of the gradebook by number, e-mail or name; --roster adds what it lacks of these"
        if not self.found:
            raise NotATemplate(f"The template's rows fit {why}.")
        return [*self.ambiguous, f"Left as they are, since they fit {why}: {listed(self.unknown, '; ')}."]


def _canvas_column(header, name):
    """Index of an assignment's column, titled ``name (123)``, or None."""
    for index, title in enumerate(header):
        match = CANVAS_TITLE.fullmatch(title)
        if match and match["title"].casefold() == name.casefold():
            return index
    return None


def _new_column(header, name):
    known = [match["title"] for match in map(CANVAS_TITLE.fullmatch, header) if match]
    there = f"; its assignments are {listed(known)}" if known else ""
    return (
        f"The template has no assignment {name!r}{there}: Canvas would make a new one when this is imported. To fill "
        "in one that is there, give it this name in Canvas and export the gradebook again."
    )


def _values(header, row, columns):
    record = dict(zip(header, row, strict=False))
    return [record.get(column, "") for column in columns]


def _scale(name, ours, theirs):
    """(factor, remarks) from our maximum to the platform's."""
    if not theirs or not ours or theirs == ours:
        return 1.0, []
    return theirs / ours, [f"Scores of {name} are scaled from {ours:g} points to the {theirs:g} that the template has."]


def _number(text):
    try:
        return float((text or "").replace(",", "."))
    except ValueError:
        return None


def _clock(seconds):
    seconds = int(seconds)
    return f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
