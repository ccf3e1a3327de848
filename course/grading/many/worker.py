"""What Dask calls in a worker: is this worker fit to grade, grade one submission, let go of a run.

Dask calls from several threads, and grading forks and redirects what it prints. So the worker itself imports next to
nothing and starts one process for each run, the ``station``, which forks a grader for each submission.
"""

import asyncio
import hashlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from importlib import metadata
from pathlib import Path

import course

STARTUP = 300  # seconds that importing and a sandbox's first start may take on a busy machine
LETTING_GO = 10  # seconds in which a station takes its leave before it is killed
LOOK = 5  # seconds between two looks at whether a run is still wanted
CHUNK = 2**18
CODE = ("**/*.py", "data/*")  # what is installed of the course, from a checkout and from a package alike
LIBRARIES = ("torch", "numpy", "matplotlib", "nbgrader")  # of which another version may give another score
# Before torch is imported: graders are forked, which threads would not survive. Demonstrations in lessons stay short.
GRADING = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
GRADING["NBGRADER_EXECUTION"] = "autograde"

stations = {}  # by run; None where the run is over
starting = threading.Lock()


class Unfit(Exception):
    """This worker cannot grade; the text says why."""


def code_digest():
    """Digest of the installed course, code and data: what a grade depends on beside the submission and its lesson."""
    package, whole = Path(course.__file__).parent, hashlib.sha256()
    for path in sorted(path for pattern in CODE for path in package.glob(pattern)):
        name = path.relative_to(package).as_posix()
        whole.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return whole.hexdigest()


def versions():
    """{name: version} of the course and of what else scores may depend on; an empty version where it is missing."""
    return {
        "the course": course.__version__,
        "Python": "{}.{}".format(*sys.version_info),
        **{name: version_of(name) for name in LIBRARIES},
    }


def version_of(library):
    try:
        return metadata.version(library).partition("+")[0]  # without the build: +cpu grades as +cu130 does
    except metadata.PackageNotFoundError:
        return ""


def obstacle(wanted, digest, unconfined):
    """Why scores may differ here from those of the ``wanted`` versions and a course of this ``digest``, or why nothing
    can be graded safely; else an empty text."""
    there = versions()
    differing = [name for name in wanted if there.get(name) != wanted[name]]
    if differing:
        found = (f"{name} {there.get(name) or '(missing)'} and not {wanted[name]}" for name in differing)
        return f"it has {', '.join(found)}, so scores may differ; install the same there"
    if code_digest() != digest:
        return "its code of the course differs from the code here, so scores may differ; install the same there"
    if not unconfined:
        from course.grading.sandbox.availability import SandboxUnavailable, require_sandbox

        try:
            require_sandbox()
        except SandboxUnavailable as reason:
            return sentence(reason)
    return ""


def sentence(refusal):
    """A SandboxUnavailable as the end of a sentence about a worker."""
    return str(refusal).removeprefix("Grading stops: ").rstrip(".")


def grade(run, terms, lessons, submission):
    """What came of a submission, as JSON; see ``parcel``. An empty text where the process that graded it ended.

    ``terms`` are the arguments of ``obstacle``: a worker may have joined after the others were looked at.
    """
    try:
        return station_of(run, terms, lessons).grade(submission)
    except Unfit as reason:
        from distributed import get_worker

        return json.dumps({"unfit": str(reason), "worker": get_worker().address})


def station_of(run, terms, lessons):
    """The station of a run, started when first asked for, and again where it has ended."""
    with starting:
        station = stations.get(run)
        if station is None and run in stations:
            raise Unfit("this run is over")
        if station is None or not station.is_alive():
            if station:
                station.end()
            if why := obstacle(**terms):
                raise Unfit(why)
            stations[run] = Station(lessons)
            look_after(stations[run], run)
        return stations[run]


def look_after(station, run):
    """Tell whoever started the run if the station is slow, and have it end when the run does."""
    from distributed import get_worker

    here = get_worker()
    if station.is_cold:
        here.log_event(run, f"The worker {here.address} grades slowly, since it has no warm start; its log says why.")
    here.loop.add_callback(end_with_run, run, station, here.scheduler)


async def end_with_run(run, station, scheduler):
    """End the station when the scheduler no longer knows the run: who started it has gone, killed perhaps."""
    known = True
    while known and station.is_alive():
        await asyncio.sleep(LOOK)
        try:
            known = (await scheduler.get_task_status(keys=[run]))[run]
        except OSError:  # the scheduler has gone; if it was only slow, the next submission starts a station again
            known = None
    await asyncio.to_thread(station.end)


def dismiss(run):
    """End what still grades for a run, and never start again for it."""
    station, stations[run] = stations.get(run), None
    if station:
        station.end()


class Station:
    """The process that grades; the worker's threads may all ask it at once."""

    def __init__(self, lessons):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        command = [sys.executable, "-P", "-m", "course.grading.many.station", str(theirs.fileno())]
        with theirs:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env=os.environ | GRADING,
                start_new_session=True,  # a Ctrl-C for the worker reaches the station when the worker ends
            )
        try:
            with self.process.stdin as entrance:
                entrance.write(lessons)
        except BrokenPipeError:
            pass  # it has ended, and the next line finds out
        told, _, _ = select.select([self.control], [], [], STARTUP)
        answer = self.control.recv(CHUNK) if told else b""
        self.is_cold = answer == b"cold"
        if answer not in (b"ready", b"cold"):
            self.end()
            raise Unfit(answer.decode() or "its process that grades did not start; the worker's log says why")

    def is_alive(self):
        return self.process.poll() is None

    def grade(self, submission):
        """Send a submission to a new grader and wait for what it says; nothing where it ends before."""
        ours, theirs = socket.socketpair()
        with ours:
            try:
                with theirs:
                    socket.send_fds(self.control, [b"grade"], [theirs.fileno()])
                ours.sendall(submission)
                ours.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: ours.recv(CHUNK), b"")).decode()
            except OSError:
                return ""

    def end(self):
        """Close the line, at which the station ends its graders and itself."""
        self.control.close()
        try:
            self.process.wait(LETTING_GO)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
