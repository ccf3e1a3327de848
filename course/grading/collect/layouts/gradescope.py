"""Gradescope, "Export submissions": folders ``submission_123`` and a ``submission_metadata.yml`` that names people.

Its keys start with a colon, as Ruby writes symbols: ``:submitters:``, ``:name:``, ``:sid:``, ``:email:``,
``:created_at:``. A group's notebook counts for each of its members; earlier attempts stand under ``:history:``
without their files.
"""

import datetime
from pathlib import PurePosixPath

import yaml

from course.grading.collect.archive import Refusal
from course.grading.collect.layouts.handed import Handed, Person, is_notebook

METADATA = "submission_metadata.yml"


def recognises(paths):
    return any(PurePosixPath(path).name == METADATA for path in paths)


def handed_in(entries):
    metadata = next(entry for entry in entries if PurePosixPath(entry.path).name == METADATA)
    try:
        submissions = yaml.safe_load(metadata.file.read_text("utf-8"))
        submissions = {str(folder): _submission(value) for folder, value in submissions.items()}
    except (yaml.YAMLError, UnicodeError, AttributeError, TypeError) as error:
        reason = str(error).splitlines()[0]
        return [Refusal(metadata.path, f"does not list submissions as Gradescope does ({reason})")]
    root = PurePosixPath(metadata.path).parent
    found = []
    for entry in entries:
        path = PurePosixPath(entry.path)
        folder = path.relative_to(root).parts[0] if path.is_relative_to(root) else ""
        people, when, late = submissions.get(folder, ((), None, None))
        if not people and is_notebook(entry.path):
            found.append(Refusal(entry.path, f"belongs to no one in {METADATA}"))
        found += [Handed(person, entry.path, path.name, entry.file, when, late) for person in people]
    return found


def _submission(value):
    """(people, time, late) of one submission's mapping."""
    people = tuple(_person(submitter) for submitter in value[":submitters"])
    when = value.get(":created_at")
    if isinstance(when, datetime.datetime):
        when = when.astimezone(datetime.UTC) if when.tzinfo else when.replace(tzinfo=datetime.UTC)
    else:
        when = None
    lateness = value.get(":lateness")
    return people, when, None if lateness is None else bool(lateness)


def _person(submitter):
    ids = (("student_id", str(submitter[":sid"])),) if submitter.get(":sid") else ()
    return Person(str(submitter.get(":name") or ""), str(submitter.get(":email") or ""), ids)
