"""Archives in, submissions in place: reads, finds student and lesson, keeps, chooses, and says what it did."""

import dataclasses
import datetime
import re
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

from course.grading.collect import archive, layouts
from course.grading.collect.archive import KEPT_SUFFIXES, Refusal
from course.grading.collect.layouts.handed import Person, is_notebook
from course.grading.collect.lessons import find_lesson
from course.grading.collect.store import choose, is_late
from course.grading.roster import Ambiguous, plain
from course.grading.wording import listed, plural


@dataclasses.dataclass
class Outcome:
    """What a collection did, in the words of its messages: counts by assignment, and what needs a person."""

    read: list = dataclasses.field(default_factory=list)  # one sentence for each archive
    kept: Counter = dataclasses.field(default_factory=Counter)  # new attempts by assignment
    placed: dict = dataclasses.field(default_factory=lambda: defaultdict(list))  # assignment -> placements, sentences
    undated: Counter = dataclasses.field(default_factory=Counter)  # of the placed, lateness asked for and not known
    missing: dict = dataclasses.field(default_factory=dict)  # assignment -> students of the roster without any attempt
    open: set = dataclasses.field(default_factory=set)  # students of the roster whom something not placed may be from
    standing: Counter = dataclasses.field(default_factory=Counter)  # in place already, by assignment
    unplaced: list = dataclasses.field(default_factory=list)  # Refusals
    failed: list = dataclasses.field(default_factory=list)  # archives that were not read, sentences


class Collector:
    """Collects into a Store.

    ``lessons`` are those of the course, ``wanted`` the assignments to collect, ``roster`` the class list, and
    ``closed`` whether someone who is not on it is left out. ``due`` maps an assignment to its due date (UTC).
    ``show(total, unit)`` makes a context with ``done()``, for the progress.
    """

    def __init__(self, store, lessons, wanted, roster, *, closed, keep, due, show):
        self.store, self.lessons, self.roster = store, lessons, roster
        self.wanted = [lesson for lesson in lessons if lesson.assignment in wanted]
        known = [student for lesson in lessons for student in store.students(lesson.assignment)]
        self.spelling = {student.casefold(): student for student in known}  # disks may not tell Ann from ann
        self.closed, self.keep, self.due, self.show = closed, keep, due, show
        self.outcome = Outcome()

    def collect(self, archives):
        """Collect every archive, then place what was chosen; returns the Outcome."""
        touched = set()
        self.store.clear_leftovers()
        for path in archives:
            with self.store.scratch() as scratch:
                try:
                    touched |= self._keep_all(Path(path), scratch)
                except archive.Refused as refused:
                    self.outcome.failed.append(str(refused))
        kept = [(student, lesson) for lesson in self.wanted for student in self.store.students(lesson.assignment)]
        todo = [pair for pair in kept if self._is_to_be_placed(*pair, touched)]
        with self.show(len(todo), "submissions") as progress:
            for student, lesson in todo:
                self._place(student, lesson)
                progress.done()
        for assignment in {lesson.assignment for _, lesson in kept} if self.closed else ():
            self.outcome.missing[assignment] = sorted(set(self.roster.students) - set(self.store.students(assignment)))
        return self.outcome

    def _is_to_be_placed(self, student, lesson, touched):
        interrupted = not self.store.is_placed(student, lesson.assignment)
        return (student, lesson.assignment) in touched or interrupted

    def _keep_all(self, path, scratch):
        """Keep what one archive holds; the (student, assignment) pairs it concerns."""
        entries, refusals = archive.read(path, scratch, self.show)
        if not any(is_notebook(entry.path) for entry in entries) and not refusals:
            raise archive.Refused(f"{path} holds no notebook, so there was nothing to collect from it.")
        layout = layouts.recognise(entries)
        refused = {refusal.path for refusal in refusals}
        found = layouts.LAYOUTS[layout].handed_in([*entries, *map(archive.Entry, refused)])
        handed = [item for item in found if not isinstance(item, Refusal)]
        self.outcome.unplaced += refusals
        self.outcome.unplaced += [item for item in found if isinstance(item, Refusal) and item.path not in refused]
        others, by_student, nobodys = [], defaultdict(list), 0
        for item in handed:
            if item.path in refused or not is_notebook(item.path):
                others.append(item)
                continue
            try:
                by_student[self._student(item.person)].append(item)
            except _Unknown as unknown:
                self.outcome.unplaced.append(Refusal(item.path, str(unknown)))
                nobodys += 1
        for item, reason in self._namesakes(by_student):
            self.outcome.unplaced.append(Refusal(item.path, reason))
            nobodys += 1
        notebooks = sum(map(len, by_student.values()))
        counts = f"{plural(notebooks, 'notebook')} of {plural(len(by_student), 'student')}"
        more = f", and {nobodys} of which the student is not known" if nobodys else ""
        self.outcome.read.append(f"{path.name}: {layout}, {counts}{more}")
        without = [one for one in self._without_notebook(others, by_student) if one.path not in refused]
        self.outcome.unplaced += without
        self.outcome.read += _left_out({entry.path for entry in entries} - {refusal.path for refusal in without})
        seen = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)
        touched = set()
        with self.show(len(by_student), "students") as progress:
            for student, items in by_student.items():
                touched.update(self._keep(student, items, seen, layout))
                progress.done()
        return touched

    def _namesakes(self, by_student):
        """Take out of by_student what the platform says is several people's; yields each item with the reason.

        A name leads to a student of the roster even where the platform's number is not known; two numbers are two
        people, of whom the roster lists one. Whose number the roster knows, that one keeps what is theirs.
        """
        for student, items in list(by_student.items()):
            each = defaultdict(set)
            for item in items:
                if item.person.numbered():
                    each[item.numbering].add(item.person.ids)
            numbers = set().union(*(some for some in each.values() if len(some) > 1))
            if not numbers:
                continue
            own = [ids for ids in numbers if self.roster.find(Person(ids=ids)) == student]
            strangers = [item for item in items if item.person.ids in numbers and item.person.ids not in own]
            by_student[student] = [item for item in items if item not in strangers]
            if not by_student[student]:
                del by_student[student]
                self.outcome.open.add(student)
            for item in strangers:
                values = ", ".join(sorted(value for ids in numbers for _, value in ids))
                name = item.person.label()
                yield item, f"cannot be told apart: the platform has several {name!r} ({values}), the roster has one"

    def _without_notebook(self, others, by_student):
        """A Refusal for each listed student of whom only files came that are not read."""
        refusals = {}
        for item in others:
            try:
                student = self.roster.find(item.person)
            except Ambiguous as ambiguous:
                self.outcome.open.update(ambiguous.students)
                continue
            if student and student not in by_student:
                self.outcome.open.add(student)
                reason = f"is no notebook, and {self.roster.label(student)} handed in no other; ask for the .ipynb"
                refusals.setdefault(student, Refusal(item.path, reason))
        return list(refusals.values())

    def _keep(self, student, items, seen, layout):
        for item in items:
            lesson = find_lesson(item.file_name, item.file.read_bytes(), self.lessons)
            if lesson is None and len(items) == 1 and len(self.wanted) == 1:
                lesson = self.wanted[0]
            if lesson is None:
                self.outcome.unplaced.append(Refusal(item.path, "is none of the lessons by its name or its exercises"))
                continue
            if lesson not in self.wanted:
                self.outcome.unplaced.append(Refusal(item.path, f"is {lesson.assignment}, which was not asked for"))
                continue
            name = _safe_file_name(item.file_name)
            new = self.store.keep(
                student,
                lesson.assignment,
                name,
                item.file,
                when=item.when,
                seen=seen,
                late=item.late,
                layout=layout,
                path=item.path,
            )
            self.outcome.kept[lesson.assignment] += new
            yield student, lesson.assignment

    def _place(self, student, lesson):
        assignment = lesson.assignment
        attempts = self.store.attempts(student, assignment)
        if not attempts:
            return
        chosen = choose(attempts, self.keep, self.due.get(assignment))
        if not self.store.place(student, assignment, chosen, lesson.file_name):
            self.outcome.standing[assignment] += 1
            return
        due = self.due.get(assignment)
        when = f", handed in {chosen.when.astimezone():%Y-%m-%d %H:%M %Z}" if chosen.when else ""
        late = ", late" if is_late(chosen, due) else ""
        which = f"attempt {attempts.index(chosen) + 1} of {len(attempts)}"
        self.outcome.placed[assignment].append(f"{student}: {which}{when}{late}")
        asked = due is not None or self.keep == "on-time"
        self.outcome.undated[assignment] += asked and chosen.when is None and chosen.late is None

    def _student(self, person):
        """The student's id; _Unknown says why there is none."""
        try:
            student = self.roster.find(person)
        except Ambiguous as ambiguous:
            self.outcome.open.update(ambiguous.students)
            raise _Unknown(f"cannot be told apart by name: {ambiguous}") from ambiguous
        if student is None and self.closed:
            raise _Unknown(f"names {person.label()!r}, who is not in the roster")
        if student is None:
            made = _made_id(person)
            student = self.spelling.setdefault(made.casefold(), made)
        if not student or Path(student).name != student or student.startswith("."):
            raise _Unknown(f"names {person.label()!r}, which cannot be the name of a folder")
        return student


class _Unknown(Exception):
    pass


def _made_id(person):
    """An id for someone on no list: the platform's own, the e-mail's first part, or name and number."""
    ids = dict(person.ids)
    if "student_id" in ids:
        text = ids["student_id"]
    elif person.email:
        text = person.email.partition("@")[0]
    else:
        name = person.name.casefold() if plain(person.name) else person.joined
        text = "_".join([name, *ids.values()])
    return re.sub("_+", "_", "".join(map(_folder_letter, unicodedata.normalize("NFC", text)))).strip("._")


def _folder_letter(letter):
    """The letter itself where it may stand in the name of a folder: many scripts need their combining marks."""
    kept = letter.isalnum() or letter in ".@-" or unicodedata.category(letter).startswith("M")
    return letter if kept else "_"


def _left_out(paths):
    """A line on the files that are of no kind that is read, if there are any: someone may have sent the wrong one."""
    others = sorted(path for path in paths if not path.lower().endswith(KEPT_SUFFIXES))
    return [f"  no notebook, and left out: {listed(others, most=1)}"] if others else []


def _safe_file_name(name):
    """A student's file name without what a disk may refuse: 120 characters, no separators or control characters."""
    stem = re.sub(r'[\x00-\x1f/\\:*?"<>|]+', "_", name.removesuffix(".ipynb")).strip(" .")
    return f"{stem[:110] or 'notebook'}.ipynb"
