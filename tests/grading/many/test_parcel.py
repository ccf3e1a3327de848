"""What travels between ``course grade`` and a worker: nothing more and nothing less than is needed."""

import json
from pathlib import Path

from course.grading.coursefolder import open_course
from course.grading.many import parcel
from course.grading.many.grader import Graded, Result
from course.grading.many.submissions import Submission
from tests.grading.many.conftest import LESSON


def test_lessons_travel_whole_and_the_gradebooks_address_stays(root, tmp_path):
    course = open_course(root)
    course.config.CourseDirectory.db_url = "postgresql://teacher:secret@host/grades"
    course.config.SandboxedExecute.output_limit = 12345
    content = parcel.pack_lessons(course, {LESSON: {}})
    assert b"secret" not in content and str(root).encode() not in content
    there = parcel.unpack_lessons(content).lay_out(tmp_path / "there")
    assert there.config.SandboxedExecute.output_limit == 12345
    file = Path("source", LESSON, f"{LESSON}.ipynb")
    assert (tmp_path / "there" / file).read_bytes() == (root / file).read_bytes()


def test_submissions_travel_with_their_data_and_no_link_is_followed(tmp_path):
    folder, there = tmp_path / "here", tmp_path / "there"
    folder.mkdir()
    there.mkdir()
    (folder / "letter.txt").write_bytes(b"A\x00")
    (folder / "numpy.py").write_text("a module could shadow the real one")
    (folder / "passwd").symlink_to("/etc/passwd")
    content = parcel.pack_submission(Submission("ada", LESSON, str(folder), "digest", {"a.ipynb": b"{}"}))
    submission = parcel.unpack_submission(content, there)
    assert submission == Submission("ada", LESSON, str(there), "digest", {"a.ipynb": b"{}"})
    assert {path.name: path.read_bytes() for path in there.iterdir()} == {"letter.txt": b"A\x00"}


def test_results_come_back_the_same_and_cannot_say_whose_they_are():
    submission = Submission("ada", LESSON, "", "digest", timestamp="2026-03-31 23:59:00 UTC")
    notebook = Graded(
        {"verdict": "graded"}, "text \ud800", {"a": 0.5, "b": None}, {"a": None}, (("one", "died"),), ("two",)
    )
    for result in (
        Result("ada", LESSON, "digest", submission.timestamp, {"notebook": notebook}, 1.5),
        Result("ada", LESSON, "digest", submission.timestamp, {}, failure="why"),
    ):
        reply = json.loads(parcel.pack_result(result))
        assert "ada" not in reply.values()
        assert parcel.unpack_result(reply, submission) == result
