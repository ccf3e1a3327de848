"""The demonstration: a made-up class of eight goes through release, autograding, feedback and grades.

It lives in ``demo/``, a course folder of its own, so that nothing of a real class is touched.
"""

import json
import shutil
import subprocess
import time

import click
import nbformat
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory

from course.grading.intake import Remark, Verdict
from course.grading.intake.places import KEPT, Places
from course.grading.progress import Bar
from course.trouble import Trouble

LESSON = "02_how_it_works"


def copy_course(root, folder):
    """Copy what a course folder needs for releasing and grading from root into folder."""
    shutil.copytree(root / "source", folder / "source")
    for name in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copyfile(root / name, folder / name)


def solve(released, solutions, skip=(), edits=()):
    """Put solutions, by grade id, into the solution cells of a released notebook.

    ``skip`` leaves exercises blank; ``edits`` are (grade id, old text, new text), each of which must fit once.
    """
    notebook = nbformat.from_dict(released)
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in solutions and name not in skip:
            cell.source = solutions[name]
        for target, old, new in edits:
            if target == name:
                if cell.source.count(old) != 1:
                    raise ValueError(f"{old!r} stands {cell.source.count(old)} times in {name}, wanted once")
                cell.source = cell.source.replace(old, new)
    return notebook


def without_cell(notebook, grade_id):
    """The notebook without the cell of this grade id."""
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") != grade_id]
    return notebook


def made_up_class(released, solutions):
    """(student, what is special, file name, file text) of each submission."""
    functions = [name for name in solutions if "question" not in name]
    name = f"{LESSON}.ipynb"
    text = nbformat.writes
    perfect = solve(released, solutions)
    unscaled = solve(released, solutions, edits=[("scaled_dot_product_attention", " / q.shape[-1] ** 0.5", "")])
    view = "x = x.reshape(batch, num_heads, time, d_model // num_heads)"
    cut = "x = x.reshape(batch, time, num_heads, d_model // num_heads)"
    viewed = solve(
        released,
        solutions,
        edits=[("split_heads", cut, view), ("split_heads", "x.transpose(1, 2)  # (B, T, H", "x  # (B, T, H")],
    )
    broken = solve(released, solutions, edits=[("merge_heads", "return ", "retrun ")])
    return [
        ("ada", "everything right", name, text(perfect)),
        ("bela", "forgot the scale", name, text(unscaled)),
        ("chen", "a view in the place of a transpose", name, text(viewed)),
        (
            "dana",
            "the second half left blank",
            name,
            text(solve(released, solutions, skip=functions[len(functions) // 2 :])),
        ),
        ("emil", "a slip of the keyboard in one cell", name, text(broken)),
        ("fay", "a test cell deleted", name, text(without_cell(solve(released, solutions), "test_merge_heads"))),
        ("gus", "nothing written", name, text(nbformat.from_dict(released))),
        ("hana", "the file is cut off in the middle", name, text(perfect)[:5000]),
    ]


def run(root):
    """Run the whole demonstration for the course folder root; prints what it does and the table of grades."""
    folder = root / "demo"
    for step in ("source", "release", "submitted", "autograded", "feedback"):
        shutil.rmtree(folder / step, ignore_errors=True)
    (folder / "gradebook.db").unlink(missing_ok=True)
    folder.mkdir(exist_ok=True)
    copy_course(root, folder)
    for lesson in sorted(path.name for path in (folder / "source").iterdir() if path.is_dir()):
        nbgrader(folder, f"Releasing {lesson}", "generate_assignment", lesson)
    released = nbformat.read(folder / "release" / LESSON / f"{LESSON}.ipynb", as_version=4)
    solutions = solutions_of(nbformat.read(root / "source" / LESSON / f"{LESSON}.ipynb", as_version=4))
    submissions = made_up_class(released, solutions)
    for student, _, name, text in submissions:
        place = folder / "submitted" / student / LESSON
        place.mkdir(parents=True)
        (place / name).write_text(text, encoding="utf-8")
    graded, pages = f"autograded/{KEPT}/{LESSON}/*/*.json", f"feedback/*/{LESSON}/*.html"
    total = len(submissions)
    nbgrader(
        folder, f"Grading {total} submissions of {LESSON}", "autograde", LESSON, may_fail=True, makes=(total, graded)
    )
    nbgrader(folder, "Writing feedback", "generate_feedback", LESSON, may_fail=True, makes=(total, pages))
    nbgrader(folder, "Exporting grades", "export", "--to=grades.csv")
    click.echo("\n" + table(folder, submissions))
    click.echo(f"\nFeedback: {folder}/feedback/<student>/{LESSON}/{LESSON}.html")
    click.echo(f"Grades:   {folder}/grades.csv")
    click.echo(f"By hand:  cd {folder} and run jupyter lab, then Nbgrader > Formgrader")


def solutions_of(source):
    """Text of every solution cell of a source notebook, by grade id."""
    cells = ((cell.metadata.get("nbgrader", {}), cell.source) for cell in source.cells)
    return {meta["grade_id"]: text for meta, text in cells if meta.get("solution")}


def nbgrader(folder, what, *arguments, may_fail=False, makes=None):
    """Run one nbgrader command in folder; its log goes to a file there. Trouble when it fails.

    ``makes``, how many files it makes at most and the pattern of their paths, is shown as progress.
    """
    click.echo(f"{what} ...")
    log = folder / f"{arguments[0]}.log"
    with log.open("w", encoding="utf-8") as stream:
        process = subprocess.Popen(["nbgrader", *arguments], cwd=folder, stdout=stream, stderr=subprocess.STDOUT)
        try:
            if makes:
                show_progress(process, folder, *makes)
            failed = process.wait()
        except BaseException:
            process.kill()
            raise
    if failed and not may_fail:
        raise Trouble(f"nbgrader {arguments[0]} failed; {log} says why.")


def show_progress(process, folder, total, pattern):
    """Count the files under folder that fit pattern until the process that makes them ends."""
    with Bar(total) as progress:
        shown = 0
        while shown < total and process.poll() is None:
            time.sleep(0.2)
            for _ in list(folder.glob(pattern))[shown:]:
                progress.done()
                shown += 1


def table(folder, submissions):
    """The grades and what grading has to say of each file, one line a student."""
    rows = [("student", "points", "verdict", "what is special", "")]
    with Gradebook(f"sqlite:///{folder}/gradebook.db") as gradebook:
        for student, special, *_ in submissions:
            outcome = outcome_of(folder, student)
            points = "no grade"
            if outcome["verdict"] != Verdict.NOT_GRADABLE:
                submission = gradebook.find_submission(LESSON, student)
                points = f"{submission.score:g} / {submission.max_score:g}"
            rows.append((student, points, outcome["verdict"], special, said(outcome)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for *cells, remark in rows:
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=False)).rstrip()
        lines += [line, f"{'':{widths[0]}}    {remark}"] if remark else [line]
    return "\n".join(lines)


def outcome_of(folder, student):
    """What intake said of a student's submission."""
    places = Places(CourseDirectory(root=str(folder)))
    return json.loads(places.verdict(student, LESSON, LESSON).read_text(encoding="utf-8"))


def said(outcome):
    """The reason and what to ask for, or the remarks, in one line."""
    remarks = (Remark(**remark).told for remark in outcome["remarks"])
    return " ".join(text for text in (outcome["reason"], outcome["ask"], *remarks) if text)
