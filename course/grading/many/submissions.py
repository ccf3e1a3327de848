"""What was handed in for an assignment, as plain values that can be sent to another process or machine."""

import copy
import glob
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.utils import parse_utc

from course.grading.intake.folder import read_folder
from course.grading.intake.places import Places
from course.grading.intake.verdicts import NotGradable
from course.grading.wording import listed, plural
from course.trouble import Trouble

DECIDES = ("*.py", "checks/**/*.py")  # the modules of ``course`` on which points depend


@dataclass(frozen=True)
class Submission:
    """One student's files for one assignment; ``digest`` changes with anything on which the grade depends.

    ``folder`` is where they lie, for data files beside the notebook; ``refusal`` is (reason, what to ask for) where
    the folder is not read at all.
    """

    student: str
    assignment: str
    folder: str
    digest: str
    files: dict = field(default_factory=dict)  # bytes by name
    remarks: tuple = ()
    refusal: tuple = ()
    timestamp: str | None = None

    @property
    def key(self):
        """Whose it is and which: what a Result starts with."""
        return self.student, self.assignment, self.digest, self.timestamp


def settings_of(course):
    """The configuration as text, without what no grade depends on: where the course and its gradebook are."""
    config = copy.deepcopy(course.config)
    for place in ("root", "db_url"):
        config.CourseDirectory.pop(place, None)
    return repr(config)


def lesson_digest(sources, settings):
    """Digest of what all submissions of an assignment share: source notebooks, the code of the checks, settings."""
    import course

    package = Path(course.__file__).parent
    code = sorted(path for pattern in DECIDES for path in package.glob(pattern))
    parts = [repr(settings).encode(), *(path.read_bytes() for path in [*sorted(sources), *code])]
    return digest_of(parts)


def digest_of(parts):
    """Digest of byte strings; where one ends and the next begins counts too."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def student_folders(course, assignment):
    """The folder of every submission to an assignment, {student: path}, sorted by student."""
    course.assignment_id = assignment
    places = Places(course)
    excluded = [name for name in course.student_id_exclude.split(",") if name]
    folders = filter(os.path.isdir, glob.glob(str(places.submitted("*", glob.escape(assignment)))))
    found = {places.student(folder): Path(folder) for folder in folders}
    return {student: found[student] for student in sorted(found) if student not in excluded}


def new_since(course, assignment, known):
    """A sentence on submissions of others than the students ``known`` to the gradebook, or an empty string."""
    new = sorted(set(student_folders(course, assignment)) - known)
    if not new:
        return ""
    what = plural(len(new), "new submission")
    return f"Without {what}, of {listed(new)}; run `course grade {assignment}`, and this command again."


def pick_students(folders, wanted, assignments):
    """The students to grade: those ``wanted``, or all. Trouble where one has handed nothing in."""
    known = {student for of_assignment in folders.values() for student in of_assignment}
    for student in wanted:
        if student not in known:
            raise Trouble(f"There is no submission of {student!r} to {', '.join(assignments)}.")
    if not known:
        raise Trouble(f"There are no submissions to {', '.join(assignments)}; put them in place with `course collect`.")
    return set(wanted) or known


def read_submission(course, student, assignment, folder, lesson):
    """The Submission in ``folder``; ``lesson`` is the digest of the assignment."""
    common = {"student": student, "assignment": assignment, "folder": str(folder)}
    try:
        common["timestamp"] = read_timestamp(folder)
        files, remarks = read_folder(folder)
    except NotGradable as refusal:
        why = (refusal.reason, refusal.ask)
        digest = digest_of([lesson.encode(), repr(why).encode()])
        return Submission(digest=digest, refusal=why, **common)
    others = sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".ipynb")
    parts = [lesson.encode(), *(part for name in sorted(files) for part in (name.encode(), files[name]))]
    parts += [part for path in others for part in (str(path.relative_to(folder)).encode(), path.read_bytes())]
    return Submission(digest=digest_of(parts), files=files, remarks=tuple(remarks), **common)


def read_timestamp(folder):
    """The text of timestamp.txt, as ``nbgrader collect`` leaves it, or None. NotGradable where it is no time."""
    try:
        text = (folder / "timestamp.txt").read_text(encoding="utf-8").strip()
        return text if text and parse_utc(text) else None
    except FileNotFoundError:
        return None
    except (ValueError, OverflowError, OSError) as error:
        raise NotGradable(
            f"The file timestamp.txt does not say when it was handed in ({error}).",
            "Ask for nothing: correct that file, or remove it if the time does not matter.",
        ) from None
