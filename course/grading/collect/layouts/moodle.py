"""Moodle, "Download all submissions": ``Name_123_assignsubmission_file`` as a folder, or as a prefix with ``_``.

123 is the participant's number in this assignment, "Participant 123" in the grading worksheet; underscores in
the name have become spaces (moodle/moodle, mod/assign/classes/downloader.php).
"""

from pathlib import PurePosixPath

from course.grading.collect.layouts.handed import Handed, Person, named, recognised

NAME = r"(?P<name>[^_]*)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)"
HIDDEN = "Participant"  # Moodle's word for a name under anonymous marking


def recognises(paths):
    return recognised(paths, NAME)


def handed_in(entries):
    found = []
    for entry, match, below in named(entries, NAME, "Moodle participant number", found):
        name = match["name"].strip()
        person = Person("" if name == HIDDEN else name, ids=(("lms_id", match["number"]),))
        file_name = below[-1] if below else match["file"]
        assignment = PurePosixPath(entry.path).parts[: -len(below) - 1]
        found.append(Handed(person, entry.path, file_name, entry.file, numbering=assignment))
    return found
