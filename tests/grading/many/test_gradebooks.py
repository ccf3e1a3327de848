"""A gradebook on PostgreSQL behaves as one on SQLite; either may be locked, lost or unreadable, and nothing is lost."""

import contextlib
import csv
import os
import shutil
import sqlite3
import subprocess
import sys

import nbformat
import psycopg
import pytest
from nbgrader.api import Gradebook
from sqlalchemy.exc import IntegrityError

from course.grading.coursefolder import open_course
from course.grading.many import store
from tests.grading.many.conftest import (
    DATABASES,
    LESSON,
    RIGHT,
    formgrader,
    grade,
    gradebook,
    graded,
    hand_in,
    lesson,
    on_either,
    run,
    use_database,
)
from tests.grading.many.postgres import USER

# A person who grades by hand: a row is held for a moment, as formgrader holds it while it saves.
BY_HAND = """
import sys, time
from nbgrader.api import Gradebook
with Gradebook(sys.argv[1]) as book:
    for number, student in enumerate(("ada", "bob", "cyd", "dan")):
        book.find_grade("essay", "01_lesson", "01_lesson", student).manual_score = number / 2
        book.db.flush()
        print("held", flush=True)
        time.sleep(0.7)
        book.db.commit()
"""


@pytest.fixture(params=DATABASES)
def either(request, root):
    """The course folder with its gradebook on one database and then the other."""
    return on_either(request, root)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(store, "TRIES", 1)
    monkeypatch.setattr(store, "PAUSE", 0.1)


def after(monkeypatch, results, action):
    """Do ``action`` once, when so many results have been stored."""
    put, done = store.Store.put, []

    def counted(self, result):
        if len(done) == results:
            action()
        done.append(result)
        put(self, result)

    monkeypatch.setattr(store.Store, "put", counted)


@contextlib.contextmanager
def locked(root):
    """The gradebook while another program keeps it from being written."""
    url = open_course(root).db_url
    if url.startswith("sqlite"):
        with contextlib.closing(sqlite3.connect(root / "gradebook.db", isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
    else:
        with psycopg.connect(url.replace("+psycopg", "")) as other:
            other.execute("LOCK TABLE student IN EXCLUSIVE MODE")
            yield


def test_what_comes_out_is_the_same_on_both_databases(once, either):
    grade(either)
    assert run("export", either).exit_code == 0
    assert run("report", either).exit_code == 0
    assert (either / "reports" / "report.html").stat().st_size > 1000
    shutil.copytree(once[0], either.parent / "once")
    assert run("export", either.parent / "once").exit_code == 0
    tables = [folder / "exports" / "grades_plain.csv" for folder in (either, either.parent / "once")]
    rows = [list(csv.reader(table.open(encoding="utf-8-sig"))) for table in tables]
    assert rows[0] == rows[1] and len(rows[0]) == 6
    shown = {student: formgrader(either).get_submission(LESSON, student) for student in ("ada", "bob", "cyd", "dan")}
    assert {student: about["score"] for student, about in shown.items()} == {"ada": 4, "bob": 2, "cyd": 2, "dan": 0}
    assert formgrader(either).get_assignment(LESSON)["num_submissions"] == 5


def test_grades_given_by_hand_meanwhile_and_by_the_grader_both_stand(once, either):
    grade(either)
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", BY_HAND, open_course(either).db_url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as person:
        assert person.stdout.readline() == "held\n"
        status, said, _ = grade(either, "--force")
        person.communicate()
    assert person.returncode == 0
    assert status == 1 and said.startswith("4 graded, 1 not gradable")
    book, alone = gradebook(either), gradebook(once[0])
    assert [book[student]["grades"]["essay"][1] for student in ("ada", "bob", "cyd", "dan")] == [0, 0.5, 1, 1.5]
    for student in book:
        assert {name: row[0] for name, row in book[student]["grades"].items()} == {
            name: row[0] for name, row in alone[student]["grades"].items()
        }


def test_a_locked_gradebook_ends_in_one_sentence_and_loses_nothing(either, impatient):
    grade(either, "--student", "ada")
    before = gradebook(either)
    hand_in(either, "ada", nbformat.writes(lesson(RIGHT | {"one": 'one = "B"'})))
    with locked(either):
        status, _, told = grade(either, "--student", "ada")
    assert status == 2
    assert "The gradebook cannot be written (" in told.splitlines()[-1] and "lock" in told.splitlines()[-1]
    assert gradebook(either) == before
    assert grade(either, "--student", "ada")[1].startswith("1 graded")
    assert gradebook(either)["ada"]["submission"][0] == 2


@pytest.mark.parametrize("again", [False, True], ids=["for good", "for a moment"])
def test_a_server_that_goes_away(again, root, onto_postgres, once, monkeypatch, postgres):
    onto_postgres(root)
    monkeypatch.setattr(store, "PAUSE", 0.1)

    def go_away():
        postgres.stop()
        if again:
            postgres.start()

    with monkeypatch.context() as patch:
        after(patch, 2, go_away)
        status, said, told = grade(root)
    if not again:
        assert status == 2 and said == ""
        assert "The gradebook cannot be written (" in told.splitlines()[-1]
        assert "2 submissions are graded and stored, and the next run continues" in told.splitlines()[-1]
        down = grade(root)
        assert down[0] == 2 and down[2].startswith("Error: The gradebook cannot be read (")
        assert len(down[2].splitlines()) == 1
        postgres.start()
        status, said, _ = grade(root)
        assert "2 unchanged" in said
    assert status == 1
    assert (gradebook(root), graded(root)) == (gradebook(once[0]), graded(once[0]))


@pytest.mark.parametrize("name", ["grade", "export", "report"])
@pytest.mark.parametrize("case", ["password", "database", "socket", "port", "unescaped", "as an option", "no driver"])
def test_an_address_that_leads_nowhere_is_one_sentence_without_its_password(case, name, root, postgres, monkeypatch):
    there = postgres.url("postgres")
    address = {
        "password": postgres.url("postgres", "s3cret-hidden"),
        "database": postgres.url("nowhere"),
        "socket": f"postgresql+psycopg://{USER}:s3cret-hidden@/postgres?host=/nowhere",
        "port": f"postgresql+psycopg://{USER}:s3cret-hidden@127.0.0.1:1/x",
        "unescaped": f"postgresql+psycopg://{USER}:s3cret@hidden@127.0.0.1/x",
        "as an option": f"postgresql+psycopg://{USER}@/postgres?password=s3cret-hidden&host={postgres.folder}",
        "no driver": there.replace("psycopg", "asyncpg"),
    }
    use_database(root, address[case])
    result = run(name, root)
    assert result.exit_code == 2
    assert result.output.startswith("Error: The gradebook") and result.output.count("\n") == 1
    assert "s3cret" not in result.output and "hidden" not in result.output


def test_a_password_stays_where_it_was_written(root, onto_postgres):
    onto_postgres(root)
    said = [*grade(root), run("export", root).output, run("report", root).output, grade(root, "--force")]
    assert "s3cret" not in str(said)
    holding = [path.name for path in root.rglob("*") if path.is_file() and b"s3cret" in path.read_bytes()]
    assert holding == ["nbgrader_config.py"]


def test_a_changed_address_grades_nothing_again(either):
    grade(either)
    before = open_course(either).db_url
    after = f"{before}?timeout=9" if before.startswith("sqlite") else f"{before}&connect_timeout=9"
    with open(either / "nbgrader_config.py", "a") as config:
        config.write(f"\nc.CourseDirectory.db_url = {after!r}\n")
    assert grade(either)[1].startswith("0 graded, 5 unchanged")


def test_a_student_whom_someone_else_adds_at_that_moment_is_graded(root, monkeypatch):
    add, clashes = Gradebook.update_or_create_student, [IntegrityError("INSERT", {}, ValueError("duplicate key"))]

    def add_after_another(self, *arguments, **options):
        if clashes:
            raise clashes.pop()
        return add(self, *arguments, **options)

    monkeypatch.setattr(store, "PAUSE", 0.1)
    monkeypatch.setattr(Gradebook, "update_or_create_student", add_after_another)
    assert grade(root, "--student", "ada")[1].startswith("1 graded") and not clashes
    assert gradebook(root)["ada"]["submission"][0] == 4


def test_a_name_that_the_gradebook_does_not_take_stops_nobody_else(either):
    hand_in(either, "x" * 200, nbformat.writes(lesson(RIGHT)))  # PostgreSQL takes 128 characters
    status, said, told = grade(either)
    assert status == 1 and "Traceback" not in told
    assert said.startswith(("4 graded, 1 not gradable, 1 failed", "5 graded, 1 not gradable"))
    assert len(gradebook(either)) in (5, 6)


def damage(path):
    path.write_bytes(b"not a database" * 100)


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize("spoil, sentence", [(damage, "not a database"), (replace_by_folder, "There is no gradebook")])
def test_a_file_that_is_no_gradebook_is_one_sentence(spoil, sentence, root):
    spoil(root / "gradebook.db")
    status, _, told = grade(root)
    assert status == 2 and told.startswith("Error: ") and sentence in told and len(told.splitlines()) == 1


def test_a_gradebook_that_is_removed_meanwhile_is_missed(root, once, monkeypatch, impatient):
    kept = root / "kept.db"
    with monkeypatch.context() as patch:
        after(patch, 2, lambda: (root / "gradebook.db").rename(kept))
        status, _, told = grade(root)
    assert status == 2 and "The gradebook cannot be written (" in told.splitlines()[-1]
    assert "There is no gradebook" in grade(root)[2]
    kept.rename(root / "gradebook.db")
    assert "2 unchanged" in grade(root)[1]
    assert gradebook(root) == gradebook(once[0])


def test_a_gradebook_that_may_not_be_read_is_one_sentence(root):
    path = root / "gradebook.db"
    path.chmod(0)
    # Root may read everything, unless this right is taken from it.
    without = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"] if not os.getuid() else []
    command = [*without, sys.executable, "-m", "course", "export", "--course-dir", str(root)]
    done = subprocess.run(command, capture_output=True, text=True)
    path.chmod(0o644)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("Error: The gradebook cannot be read (") and done.stderr.count("\n") == 1
