"""On what a grade depends, and on what it does not: the digest that decides who is graded again."""

import pytest

import course
from course.grading.coursefolder import open_course
from course.grading.many.submissions import lesson_digest, read_submission, settings_of, student_folders

LESSON = "02_how_it_works"


@pytest.fixture
def digest(tmp_path):
    """digest(files, lesson) -> that of a submission of these files, {name: text}."""
    made = []

    def make(files, lesson="lesson"):
        folder = tmp_path / f"submission{len(made)}"
        made.append(folder)
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return read_submission(None, "ada", LESSON, folder, lesson).digest

    return make


BOOK, DATA = {f"{LESSON}.ipynb": "{}"}, {"table.csv": "1,2"}


@pytest.mark.parametrize(
    "other",
    [
        {f"{LESSON}.ipynb": "{ }"} | DATA,
        {f"{LESSON} (1).ipynb": "{}"} | DATA,
        BOOK | {"table.csv": "1,3"},
        BOOK | {"values.csv": "1,2"},
        BOOK | {"data/table.csv": "1,2"},
        BOOK | DATA | {"timestamp.txt": "2026-03-31 23:59:00 UTC"},
        BOOK,
    ],
    ids=["the notebook", "its name", "a data file", "its name too", "its folder", "the time", "a file less"],
)
def test_whatever_was_handed_in_otherwise_is_graded_again(other, digest):
    assert digest(BOOK | DATA) == digest(BOOK | DATA)
    assert digest(BOOK | DATA) != digest(other)


def test_another_lesson_or_refusal_is_graded_again(digest):
    assert digest(BOOK) != digest(BOOK, lesson="changed")
    times = [digest(BOOK | {"timestamp.txt": text}) for text in ("never", "never", "soon")]
    assert times[0] == times[1] != times[2]


def test_a_lesson_is_its_source_its_checks_and_its_settings(tmp_path, monkeypatch):
    package, source = tmp_path / "course", tmp_path / "lesson.ipynb"
    monkeypatch.setattr(course, "__file__", str(package / "__init__.py"))
    files = {source: "{}", package / "attention.py": "", package / "checks" / "extensions" / "rotary.py": ""}
    (package / "grading").mkdir(parents=True)
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = lesson_digest([source], ["30 s"])
    (package / "grading" / "demo.py").write_text("# no grade depends on it")
    assert lesson_digest([source], ["30 s"]) == before
    assert lesson_digest([source], ["31 s"]) != before
    for path, text in files.items():
        path.write_text("# changed")
        assert lesson_digest([source], ["30 s"]) != before, path
        path.write_text(text)


def test_settings_count_and_the_place_of_the_course_and_its_gradebook_do_not(course_dir):
    def settings(line):
        (course_dir / "nbgrader_config.py").write_text(f"c = get_config()\n{line}\n")
        return settings_of(open_course(course_dir))

    plain = settings("")
    assert settings("c.CourseDirectory.db_url = 'sqlite:////elsewhere.db'") == plain
    assert settings("c.Execute.timeout = 99") != plain


def test_students_are_those_who_handed_in_but_for_the_excluded(course_dir):
    for student in ("bob", "ada", "test_student", ".hidden"):
        (course_dir / "submitted" / student / LESSON).mkdir(parents=True)
    (course_dir / "submitted" / "eve").mkdir()
    (course_dir / "submitted" / "fay" / "01_foundations").mkdir(parents=True)
    folder = open_course(course_dir)
    folder.student_id_exclude = "test_student,nobody"
    assert list(student_folders(folder, LESSON)) == ["ada", "bob"]
