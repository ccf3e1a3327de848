"""The process beside a Dask worker that grades for one run: import once, then fork a grader for each submission.

Its one argument is the number of a socket. It reads the lessons from its standard input and says ``ready`` on the
socket, ``cold`` where every kernel will start cold, or why it cannot grade. Each message after that brings the socket
of one submission. It ends when the other side closes.
"""

import os
import signal
import socket
import sys
import tempfile

from course.grading.many.worker import CHUNK, Unfit, sentence


def prepare(lessons, folder):
    """The Grader of a run, with its lessons in an empty ``folder``, and whether its kernels start cold for want of a
    warm process. Unfit where this machine may not grade."""
    from course.grading.many.grader import Grader
    from course.grading.many.parcel import unpack_lessons
    from course.grading.many.readiness import get_ready
    from course.grading.sandbox.availability import SandboxUnavailable
    from course.grading.warm.execute import warm_process

    lessons = unpack_lessons(lessons)
    # What is set on this machine allows nothing, and forbids nothing, that is not so where the run was started.
    os.environ["COURSE_UNCONFINED"] = "1" if lessons.unconfined else ""
    course = lessons.lay_out(folder)
    try:
        get_ready(course)
    except SandboxUnavailable as reason:
        raise Unfit(sentence(reason)) from None
    return Grader(course, lessons.assignments), not lessons.unconfined and warm_process() is None


def serve(control, grader, folder):
    """Fork for each message; return when nobody will ask again."""
    running, parent = set(), os.getpid()
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 16, 1)
        running = {pid for pid in running if os.waitpid(pid, os.WNOHANG) == (0, 0)}
        if not message:
            for pid in running:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            return
        if pid := os.fork():
            os.close(descriptors[0])
            running.add(pid)
        else:
            grade_one(control, descriptors[0], grader, folder, parent)


def grade_one(control, descriptor, grader, folder, parent):
    """In the fork: grade what comes over the socket, answer, and end."""
    from course.grading.many.parcel import pack_result, unpack_submission
    from course.grading.many.readiness import end_with

    try:
        end_with(parent)
        control.close()
        with socket.socket(fileno=descriptor) as line:
            content = b"".join(iter(lambda: line.recv(CHUNK), b""))
            with tempfile.TemporaryDirectory(dir=folder) as beside:
                result = grader.grade(unpack_submission(content, beside))
            line.sendall(pack_result(result))
    finally:
        os._exit(0)


def main():
    lessons = sys.stdin.buffer.read()
    with socket.socket(fileno=int(sys.argv[1])) as control, tempfile.TemporaryDirectory() as folder:
        try:
            grader, is_cold = prepare(lessons, folder)
        except Exception as error:  # whatever it is, it is for the instructor, who sees nothing of this process
            control.send((str(error) if isinstance(error, Unfit) else f"{type(error).__name__}: {error}").encode())
            return
        from course.grading.many.readiness import freeze  # not before ``prepare``, whose failures are told

        freeze()
        control.send(b"cold" if is_cold else b"ready")
        serve(control, grader, folder)


if __name__ == "__main__":
    main()
