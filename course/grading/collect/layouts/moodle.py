"""Moodle, "Download all submissions": ``Name_123_assignsubmission_file`` as a folder, or as a prefix with ``_``.

123 is the participant's number in this assignment, "Participant 123" in the grading worksheet; underscores in
the name have become spaces (moodle/moodle, mod/assign/classes/downloader.php).
"""

from course.grading.collect.archive import Refusal
from course.grading.collect.layouts.handed import Handed, Person, is_notebook, match_part, share

NAME = r"(?P<name>[^_]*)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)"
HIDDEN = "Participant"  # Moodle's word for a name under anonymous marking


def recognises(paths):
    return share(paths, lambda path: match_part(NAME, path)[0]) > 0.5


def handed_in(entries):
    found = []
    for entry in entries:
        if not is_notebook(entry.path):
            continue
        match, below = match_part(NAME, entry.path)
        if match is None:
            found.append(Refusal(entry.path, "has no Moodle participant number in its name"))
            continue
        name = match["name"].strip()
        person = Person("" if name == HIDDEN else name, ids=(("lms_id", match["number"]),))
        found.append(Handed(person, entry.path, below[-1] if below else match["file"], entry.file))
    return found
