"""Feedback files under the names that each platform's bulk upload takes, in one zip for each assignment."""

import io
import re
import zipfile
from collections import Counter
from typing import NamedTuple

from course.grading.collect.layouts import blackboard, canvas, moodle
from course.grading.collect.layouts.handed import match_part
from course.grading.roster import Student
from course.grading.wording import listed

TOTAL = re.compile(r"\(Score: (-?[\d.]+) / ")  # as nbgrader's page tells it
ROUNDED = 0.011
REFUSED_CHARACTERS = re.compile(r'[\x00-\x1f/\\:*?"<>|]+')


class Feedback(NamedTuple):
    """One student's feedback: the HTML file, the student, and the attempt that was graded (None when unknown)."""

    path: object
    student: object
    assignment: str
    attempt: object


def find_feedback(folder, store, roster, assignment):
    """Feedback of every student for an assignment under nbgrader's feedback folder."""
    found = []
    for path in sorted(folder.glob(f"*/{assignment}/*.html")):
        student_id = path.parent.parent.name
        student = roster.students.get(student_id, Student(student_id))
        found.append(Feedback(path, student, assignment, store.placed(student_id, assignment)))
    return found


def feedback_to_make(assignment, items, grades, graded):
    """Sentences on graded students without a page, or with one that is older than their grades.

    ``items`` are the assignment's pages, and ``graded`` is nbgrader's autograded folder.
    """
    have = {item.student.student_id for item in items}
    lacking = [student for student in grades.scored(assignment) if student not in have]
    if lacking:
        who = listed(map(grades.roster.label, lacking)) if items else "anybody"
        make = f"`nbgrader generate_feedback {assignment}`"
        yield f"{assignment}: no feedback yet for {who}; run {make} and export again."
    if old := _outdated(items, grades, graded):
        yield (
            f"{assignment}: the grades are newer than the feedback of {listed(map(grades.roster.label, old))}; run "
            f"`nbgrader generate_feedback {assignment} --force` and export again."
        )


def _outdated(items, grades, graded):
    """Ids of the students who were graded again, or by hand, since their page was made.

    nbgrader dates no grade by hand, so the page's total is compared.
    """
    pages = Counter(item.student.student_id for item in items)
    found = set()
    for item in items:
        student = item.student.student_id
        notebook = graded / student / item.assignment / f"{item.path.stem}.ipynb"
        again = notebook.is_file() and notebook.stat().st_mtime > item.path.stat().st_mtime
        result = grades.results.get((student, item.assignment))
        told = TOTAL.search(item.path.read_text("utf-8", "replace"))
        if result and result.score is not None and told and pages[student] == 1:
            again = again or abs(float(told[1]) - (result.score - result.penalty)) > ROUNDED
        if again:
            found.add(student)
    return sorted(found)


def zip_feedback(items, platform):
    """(bytes of a zip, its number of files, remarks): each file under the platform's name, where it has one."""
    name_of = NAMES[platform]
    buffer, names, nameless, remarks = io.BytesIO(), set(), [], []
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for item in items:
            name = name_of(item)
            if name is None:
                nameless.append(item.student.student_id)
            elif name.casefold() in names:
                remarks.append(
                    f"Left out, because {name!r} is another student's file already: {item.student.student_id}."
                )
            else:
                names.add(name.casefold())
                archive.write(item.path, name)
    if nameless:
        remarks.append(f"Left out, {MISSING[platform]}: {listed(nameless)}.")
    return buffer.getvalue(), len(names), remarks


def plain_name(item):
    """``student_assignment.html``."""
    return f"{item.student.student_id}_{item.assignment}.html"


def canvas_name(item):
    """The submission's own name with another ending: Canvas looks for the user's and the file's number in it."""
    match, _ = _origin(item, "canvas", canvas.NAME)
    return match and f"{match[0].removesuffix('.ipynb')}.html"


def moodle_name(item):
    """``Name_123_assignfeedback_file_assignment.html`` (mod/assign/feedback/file/importziplib.php)."""
    match, _ = _origin(item, "moodle", moodle.NAME)
    number = match["number"] if match else next((n for n in item.student.lms_ids if n.isdigit()), None)
    name = match["name"] if match else item.student.full_name() or item.student.student_id
    name = REFUSED_CHARACTERS.sub(" ", name.replace("_", " ")).strip()
    return number and f"{name}_{number}_assignfeedback_file_{item.assignment}.html"


def blackboard_name(item):
    """The submission's own name with another ending."""
    match, _ = _origin(item, "blackboard", blackboard.NAME)
    return match and f"{match['before']}_attempt_{match['time']}_{item.assignment}.html"


NAMES = {
    "plain": plain_name,
    "canvas": canvas_name,
    "moodle": moodle_name,
    "blackboard": blackboard_name,
    "gradescope": plain_name,  # it has no bulk upload of files; graders attach them
}
MISSING = {
    "canvas": "because Canvas takes back only files it named, and this submission came from no Canvas export",
    "moodle": "because no Moodle participant number is known; give the grading worksheet with --roster",
    "blackboard": "because Blackboard takes back only files it named, and this submission came from no such export",
}


def _origin(item, layout, pattern):
    if item.attempt is None or item.attempt.layout != layout:
        return None, ()
    return match_part(pattern, item.attempt.path)
