"""Canvas, "Download submissions": ``lastfirst_LATE_123_456_name-1.ipynb``.

The name has lost everything but letters, their combining marks and digits, then come the user's and the file's
number (instructure/canvas-lms, lib/content_zipper.rb). With anonymous grading the name is missing and the number
reads ``anon_x1Y2z``.
"""

from course.grading.collect.layouts.handed import Handed, Person, named, recognised

NAME = (
    r"(?:(?P<joined>[^\W\d_](?:\w|[^\x00-\x7f])*?)_)??(?:(?P<late>LATE)_)?(?:(?P<user>\d+)|anon_(?P<anonymous>[A-Za-z0-9]{5}))"
    r"_(?P<file_id>\d+)_(?P<file>.+)"
)


def recognises(paths):
    return recognised(paths, NAME)


def handed_in(entries):
    found = []
    for entry, match, below in named(entries, NAME, "Canvas user number", found):
        ids = (("lms_id", match["user"]),) if match["user"] else (("anonymous_id", match["anonymous"]),)
        file_name = below[-1] if below else match["file"]
        person = Person(ids=ids, joined=match["joined"] or "")
        found.append(Handed(person, entry.path, file_name, entry.file, late=match["late"] is not None))
    return found
