"""The class list: from a CSV of any platform or from nbgrader's gradebook, and who a name or number belongs to."""

import re
import unicodedata
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from course.grading.csvfile import read_rows
from course.grading.wording import listed, plural
from course.trouble import Trouble

# Columns, in the spelling of the course's own CSV, Canvas's gradebook, Moodle's grading worksheet and participants
# list, Gradescope's roster, Blackboard's grade centre, Google Classroom and registrars' lists; the first one present is
# taken. Dots, hyphens and case do not count.
STUDENT_ID = ("student_id", "sis login id", "username", "user name", "sid", "student id", "id number", "login id")
STUDENT_ID += ("student number", "student no", "matriculation number", "registration number", "matrikelnummer")
FIRST = ("first_name", "first name", "first names", "given name", "given names", "forename", "forenames", "vorname")
LAST = ("last_name", "last name", "family name", "surname", "nachname", "familienname")
FULL = ("name", "full_name", "full name", "student", "student name")
EMAIL = ("email", "email address", "e mail", "e mail address", "emails", "mail")
OTHER_IDS = ("lms_user_id", "lms_id", "identifier", "id", "user id", "canvas id", "sis user id", "student id", "sid")
ROUNDED = re.compile(r"\d([.,]\d+)?E\+\d+", re.IGNORECASE)  # a long number, as Excel shows and saves it
NOT_STUDENTS = {"points possible", "student, test", "test student"}  # rows that Canvas adds


class Student(NamedTuple):
    """One student; ``lms_ids`` are the numbers that platforms call them by."""

    student_id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_ids: tuple = ()

    def full_name(self):
        return f"{self.first_name} {self.last_name}".strip()


class Ambiguous(Exception):
    """Several ``students`` (ids) answer to one name: a sentence that lists them."""

    def __init__(self, name, students):
        self.students = sorted(students)
        super().__init__(f"{name!r} fits several students, {', '.join(self.students)}")


def plain(text):
    """Letters and digits of text without case, accents or order of words, for comparing names."""
    return tuple(sorted(_words(text)))


def joined(text):
    """Letters and digits of text as one word, as Canvas writes names, without case and accents."""
    return "".join(_words(text))


def _words(text):
    bare = unicodedata.normalize("NFKD", text).casefold().replace("ß", "ss").replace("ø", "o").replace("ł", "l")
    return re.findall(r"[^\W_]+", "".join(c for c in bare if not unicodedata.combining(c) and c not in "'’"))


class Roster:
    """Finds students by id, number, e-mail or name, in that order of trust; ``source`` says how a CSV was read."""

    def __init__(self, students, source=""):
        self.students = {student.student_id: student for student in students}
        self.source = source
        self._by_id, self._by_lms, self._by_email = {}, defaultdict(set), defaultdict(set)
        self._by_name, self._by_joined = defaultdict(set), defaultdict(set)
        for student in students:
            self._by_id[student.student_id.casefold()] = student.student_id
            for number in student.lms_ids:
                self._by_lms[number.casefold()].add(student.student_id)
            if student.email:
                self._by_email[student.email.casefold()].add(student.student_id)
            if student.full_name():
                self._by_name[plain(student.full_name())].add(student.student_id)
                self._by_joined[joined(f"{student.last_name} {student.first_name}")].add(student.student_id)

    def __len__(self):
        return len(self.students)

    def label(self, student_id):
        """The student as a sentence calls them: the id, and the name where it is known."""
        student = self.students.get(student_id)
        return f"{student_id} {student.full_name()}".strip() if student else student_id

    def find(self, person):
        """Id of the student that person names, or None. Ambiguous when a name fits several students."""
        for kind, value in person.ids:
            if kind == "student_id" and value.casefold() in self._by_id:
                return self._by_id[value.casefold()]
        keys = [(self._by_lms, value.casefold()) for _, value in person.ids]
        keys += [(self._by_email, person.email.casefold()), (self._by_name, plain(person.name))]
        keys += [(self._by_joined, joined(person.joined)), (self._by_joined, joined(person.name))]
        for index, key in keys:
            matches = index.get(key, ()) if key else ()
            if len(matches) > 1:
                raise Ambiguous(person.label(), matches)
            if matches:
                return next(iter(matches))
        return None


def read_roster(path):
    """The Roster in a CSV file; Trouble says what is wrong with it."""
    header, *rows = read_rows(path, "roster") or [[]]
    titles = [name.strip() for name in header]
    header = [_column(name) for name in titles]
    records = [dict(zip(header, map(str.strip, row), strict=False)) for row in rows]
    if not any(column in header for column in STUDENT_ID + EMAIL):
        columns = f"its columns are {listed(filter(None, titles))}" if any(titles) else "it is empty"
        raise Trouble(
            f"The roster {path} has no column of student ids ({columns}); name one of its columns student_id."
        )
    students = [student for student in map(_student, records) if student]
    if not students:
        raise Trouble(f"The roster {path} lists no student.")
    seen = set()
    for student in students:
        if ROUNDED.fullmatch(student.student_id):
            raise Trouble(
                f"The roster {path} has the student id {student.student_id!r}, which a spreadsheet has rounded; "
                "export it again, and give it as it is."
            )
        if student.student_id.casefold() in seen:
            raise Trouble(f"The roster {path} lists the student id {student.student_id!r} twice; take one row out.")
        seen.add(student.student_id.casefold())
    return Roster(students, _source(path, len(students), titles))


def gradebook_roster(gradebook):
    """The Roster of nbgrader's own list of students."""
    return Roster(
        [
            Student(
                row.id,
                row.first_name or "",
                row.last_name or "",
                row.email or "",
                tuple(filter(None, [row.lms_user_id])),
            )
            for row in gradebook.students
        ]
    )


def add_names(gradebook, students):
    """Write students, names and e-mails into nbgrader's gradebook where it lacks them; formgrader shows them."""
    from nbgrader.api import Student as Row  # takes a second, and reading a roster needs none of it

    known = {row.id: row for row in gradebook.students}
    for student in students:
        row = known.get(student.student_id)
        if row is None:
            row = Row(id=student.student_id)
            gradebook.db.add(row)
        for field in ("first_name", "last_name", "email"):
            setattr(row, field, getattr(row, field) or getattr(student, field) or None)
    gradebook.db.commit()


def _student(record):
    """The Student in one row, or None for a row that is not one."""
    first, last, full, email = (_first(record, columns) for columns in (FIRST, LAST, FULL, EMAIL))
    student_id = _first(record, STUDENT_ID) or email.partition("@")[0] or record.get("id", "")
    if not student_id or full.casefold() in NOT_STUDENTS:
        return None
    if not last and "," in full:
        last, _, first = (part.strip() for part in full.partition(","))
    elif not last and first:
        last = full.removeprefix(first).removesuffix(first).strip()
    elif not last:
        first, _, last = full.rpartition(" ")
    numbers = {_number(record[column]) for column in OTHER_IDS if record.get(column)}
    return Student(student_id, first.strip(), last.strip(), email, tuple(sorted(numbers - {student_id})))


def _column(title):
    """A column's title as the lists above write it: ``E-Mail`` as ``e mail``."""
    return " ".join(re.split(r"[\s.-]+", title.casefold())).strip()


def _source(path, count, titles):
    """A sentence on which column of the roster at path was read as what, and which as nothing."""
    present = {_column(title): title for title in reversed(titles) if title}
    ids, first, last, full, email, numbers = (
        [present[column] for column in columns if column in present]
        for columns in (STUDENT_ID, FIRST, LAST, FULL, EMAIL, OTHER_IDS)
    )
    names = [*first[:1], *last[:1]] if last else [*first[:1], *full[:1]]
    parts = [
        f"ids from {ids[0]}"
        if ids
        else f"ids from {email[0]}, the part before the @, as no column is known to hold ids",
        f"names from {listed(names)}" if names else "no names",
        f"e-mail from {email[0]}" if email else "no e-mail",
    ]
    used = [*ids[:1], *names, *email[:1]]
    numbers = [title for title in dict.fromkeys(numbers) if title not in used]
    unread = [title for title in titles if title and title not in (*used, *numbers)]
    parts += [f"numbers from {listed(numbers)}"] if numbers else []
    parts += [f"not read: {listed(unread)}"] if unread else []
    return f"{Path(path).name}: {plural(count, 'student')}; {'; '.join(parts)}"


def _number(text):
    """A platform's number for someone; Moodle writes "Participant 123", in the course's language."""
    return re.sub(r"^\D+\s(?=\d+$)", "", text)


def _first(record, columns):
    return next((record[column] for column in columns if record.get(column)), "")
