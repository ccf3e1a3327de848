"""Which of the files handed in is the notebook of the assignment."""

import re
import stat
import unicodedata
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import BadZipFile, ZipFile

from rapidfuzz import fuzz

from course.grading.intake.matching import Matching
from course.grading.intake.reading import read_notebook
from course.grading.intake.verdicts import NotGradable, Remark

LARGEST = 200_000_000  # bytes of one submission's notebooks, old output included
ASK_FOR_THIS = "Ask for the notebook of this assignment, as it was released and with the answers in it."
MOST_MEMBERS = 20  # notebooks that are read from one archive
NEVER_MEANT = re.compile(r"(^|/)(\.(?!\.?/)|__MACOSX/)")  # hidden files, .ipynb_checkpoints, the Finder's shadows


def choose(assignment, files):
    """(name, Handed, Matching, remarks) of the notebook to grade; NotGradable where no file is one.

    The notebook with most answers is graded, among equals the one with the right name: a fresh download beside the
    student's own file must not hide it.
    """
    files = _unpacked(files)
    readable, troubles = {}, {}
    for name in _likely(files):
        try:
            handed = read_notebook(files[name])
            matching = Matching(assignment, handed.cells)
            _require_this_assignment(assignment, matching)
            readable[name] = handed, matching
        except NotGradable as trouble:
            troubles[name] = trouble
    if not readable:
        raise _why_none(assignment, troubles)
    ranked = sorted(readable, key=lambda name: _rank(assignment, name, readable[name][1]), reverse=True)
    chosen = ranked[0]
    remarks = []
    if chosen != f"{assignment.name}.ipynb":
        remarks.append(Remark("renamed", f"The file is called {chosen!r} instead of '{assignment.name}.ipynb'."))
    if len(ranked) > 1:
        others = ", ".join(repr(name) for name in ranked[1:])
        remarks.append(Remark("several notebooks", f"{chosen!r} was graded; also handed in: {others}."))
    remarks += [Remark("file left out", f"{name!r}: {t.reason}") for name, t in troubles.items() if _is_named(name)]
    return chosen, *readable[chosen], remarks


def _unpacked(files):
    """The files, and in place of each zip archive the notebooks in it, read in memory."""
    found = {}
    for name, data in files.items():
        if NEVER_MEANT.search(name):
            continue
        if not data.startswith(b"PK\x03\x04"):
            found[name] = data
            continue
        try:
            found.update(_members(name, data))
        except (BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError):
            found[name] = data  # damaged, encrypted, or packed in a way of its own: told as "a zip archive"
    return found


def _members(name, data):
    """Notebooks in a zip archive, by their path in it. Links and what is too large stay unread."""
    with ZipFile(BytesIO(data)) as archive:
        infos = [info for info in archive.infolist() if info.filename.endswith(".ipynb") and _is_plain(info)]
        if sum(info.file_size for info in infos) > LARGEST:  # zipfile never reads more than a member claims
            return {name: data}
        members = {f"{name}/{info.filename}": archive.read(info) for info in infos[:MOST_MEMBERS]}
    return members or {name: data}


def _is_plain(info):
    """Whether an archive's member is a regular file that a student can have meant."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    return kind in (0, stat.S_IFREG) and not NEVER_MEANT.search(info.filename)


def _likely(files):
    """Names of the files to try: those called notebooks, and where there are none, all."""
    named = [name for name in files if _is_named(name)]
    return sorted(named or files)


def _is_named(name):
    return ".ipynb" in name.lower()


def _require_this_assignment(assignment, matching):
    """NotGradable for an empty notebook and for one of another assignment, which may share an exercise or two."""
    written = [index for cell, index in zip(matching.cells, matching.slot_of, strict=True) if cell.text.strip()]
    if not written:
        raise NotGradable("The notebook is empty.", ASK_FOR_THIS)
    ids = {cell.grade_id for cell in matching.cells} - {""}
    foreign = sorted(ids - assignment.by_id.keys())
    counted = {slot for slot in assignment.by_id.values() if slot.graded} | {*assignment.solutions}
    if len(foreign) > len(ids) / 2 and _share(counted, matching) < 1 / 2:
        told = ", ".join(map(repr, foreign[:3]))
        raise NotGradable(f"The notebook is not {assignment.name}: it holds {told}.", ASK_FOR_THIS)
    known = {slot.index for slot in assignment.by_id.values()}
    mostly_unknown = written.count(None) > len(written) / 2 and len(foreign) == len(ids)
    if not matching.claimed & known or (mostly_unknown and _share(assignment.solutions, matching) < 1 / 2):
        raise NotGradable(
            f"The notebook is not {assignment.name}: few or none of its exercises are in it.", ASK_FOR_THIS
        )


def _share(slots, matching):
    """The share of slots to which something was certainly handed in."""
    certain = [slot for slot in slots if slot.index in matching.certain or slot in matching.elsewhere]
    return len(certain) / len(slots) if slots else 1


def _rank(assignment, name, matching):
    """Sorts notebooks: more answers, more of the assignment, the right name, a likelier name, a shorter path."""
    answered = sum(bool(slot in matching.elsewhere or matching.answered(slot)) for slot in assignment.student_slots)
    right = name == f"{assignment.name}.ipynb"
    likeness = fuzz.ratio(_slug(name), _slug(assignment.name))
    return answered, len(matching.claimed), right, likeness, -len(PurePosixPath(name).parts)


def _slug(name):
    """Letters and digits of a name: ``Copy of 02_how (1).ipynb`` -> ``copyof02how1``."""
    stem = unicodedata.normalize("NFKC", PurePosixPath(name).name).casefold().removesuffix(".ipynb")
    return re.sub(r"[\W_]+", "", stem)


def _why_none(assignment, troubles):
    """The reason for the file that was most likely meant as the notebook."""
    if not troubles:
        return NotGradable(f"No file was handed in for {assignment.name}.", f"Ask for {assignment.name}.ipynb.")
    likeliest = max(troubles, key=lambda name: (_is_named(name), fuzz.ratio(_slug(name), _slug(assignment.name))))
    trouble = troubles[likeliest]
    return NotGradable(f"{likeliest!r}: {trouble.reason}", trouble.ask)
