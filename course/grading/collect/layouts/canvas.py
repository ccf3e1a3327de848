"""Canvas, "Download submissions": ``lastfirst_LATE_123_456_name-1.ipynb``.

The name has lost everything but letters and digits, then come the user's and the file's number
(instructure/canvas-lms, lib/content_zipper.rb). With anonymous grading the name is missing and the number
reads ``anon_x1Y2z``.
"""

from course.grading.collect.archive import Refusal
from course.grading.collect.layouts.handed import Handed, Person, is_notebook, match_part, share

NAME = (
    r"(?:(?P<joined>[^\W\d_][\w]*?)_)??(?:(?P<late>LATE)_)?(?:(?P<user>\d+)|anon_(?P<anonymous>[A-Za-z0-9]{5}))"
    r"_(?P<file_id>\d+)_(?P<file>.+)"
)


def recognises(paths):
    return share(paths, lambda path: match_part(NAME, path)[0]) > 0.5


def handed_in(entries):
    found = []
    for entry in entries:
        if not is_notebook(entry.path):
            continue
        match, below = match_part(NAME, entry.path)
        if match is None:
            found.append(Refusal(entry.path, "has no Canvas user number in its name"))
            continue
        ids = (("lms_id", match["user"]),) if match["user"] else (("anonymous_id", match["anonymous"]),)
        file_name = below[-1] if below else match["file"]
        person = Person(ids=ids, joined=match["joined"] or "")
        found.append(Handed(person, entry.path, file_name, entry.file, late=match["late"] is not None))
    return found
