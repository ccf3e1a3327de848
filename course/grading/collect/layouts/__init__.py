"""How each learning platform names what it exports: one module each, tried in this order.

A module has ``recognises(paths)``, whether the archive is its platform's, and ``handed_in(entries)``, what
the archive holds: Handed for every file of a student, Refusal for a notebook that names no one.
"""

from course.grading.collect.layouts import blackboard, canvas, classroom, exchange, gradescope, moodle

LAYOUTS = {
    "gradescope": gradescope,
    "blackboard": blackboard,
    "moodle": moodle,
    "exchange": exchange,
    "canvas": canvas,
    "classroom": classroom,
}


def recognise(entries):
    """Name of the layout that fits the entries' paths; ``classroom``, names in files or folders, fits anything."""
    paths = [entry.path for entry in entries]
    return next(name for name, layout in LAYOUTS.items() if layout.recognises(paths))
