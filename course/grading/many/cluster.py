"""A Dask cluster that grades, in the place of ``pool.Pool``: few submissions at a time are out, and what a lost worker
had is graded by another.
"""

import json
import logging
import queue
import sys
import threading
import time
import uuid
import warnings

from tqdm import tqdm

from course.grading.many import worker
from course.grading.many.grader import Result
from course.grading.many.parcel import is_unconfined, pack_lessons, pack_submission, unpack_result
from course.grading.many.pool import AHEAD
from course.trouble import Trouble

ANSWERING = 5  # seconds that a scheduler has to answer
PATIENCE = 60  # seconds without any worker
TRIES = 3  # of a submission during which the process that grades it ends
LOOK = 1.0  # seconds between two looks at the workers while nothing arrives
GONE = "The Dask scheduler at {} has gone; what was graded so far is stored, and the next run continues."


def connect(address):
    """A client of the scheduler at ``address``. Trouble where there is none, or no Dask here."""
    try:
        import dask
        from distributed import Client
        from distributed.comm.addressing import get_address_host_port, normalize_address
        from distributed.security import Security
        from distributed.versions import VersionMismatchWarning
    except ModuleNotFoundError as error:
        raise Trouble(
            f"--scheduler needs the Python package {error.name}; install it with `python -m pip install distributed`."
        ) from error
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):  # this command says it in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore", VersionMismatchWarning)  # ``obstacle`` compares what matters
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})  # a submission may bring data
    outcome, secure = queue.SimpleQueue(), address.startswith("tls://")

    def attempt():
        try:
            get_address_host_port(normalize_address(address), strict=True)  # before a client is half made
            if secure and not Security().get_connection_args("client")["ssl_context"]:
                raise LookupError("no certificate for TLS is set here")
            outcome.put(Client(address, timeout=ANSWERING, set_as_default=False, name="course-grade"))
        except Exception as error:
            outcome.put(error)

    # In a thread, because Dask's own limit does not hold where something takes the connection and says nothing.
    threading.Thread(target=attempt, daemon=True).start()
    try:
        client = outcome.get(timeout=ANSWERING + 2)
    except queue.Empty:
        client = TimeoutError("what listens there says nothing")
    if isinstance(client, Exception):
        reason = (str(client) or type(client).__name__).splitlines()[0].rpartition(">: ")[2].rstrip(".")
        hint = "the address: with TLS it begins with tls://"
        if secure:
            hint = "the address, and at ca-file, client.cert and client.key of distributed.comm.tls in Dask's settings"
        raise Trouble(
            f"No Dask scheduler answers at {address} ({reason}); start one with `dask scheduler`, or look at {hint}."
        ) from client
    return client


class Cluster:
    """The workers of a scheduler, as many as there are at any time. Trouble where one of them is not fit to grade."""

    def __init__(self, directory, assignments, address):
        self.address, self.run = address, f"lessons-{uuid.uuid4().hex}"
        self.running, self.done, self.last_worker = {}, queue.SimpleQueue(), time.monotonic()
        self.terms = {
            "wanted": worker.versions(),
            "digest": worker.code_digest(),
            "unconfined": is_unconfined(directory),
        }
        lessons = pack_lessons(directory, assignments)
        self.client = connect(address)
        try:
            self.look_at_workers()
            self.client.subscribe_topic(self.run, self.tell)
            # As a task, so that a worker that joins late, or after the loss of all others, gets it too. The scheduler
            # forgets it when this process ends, however it ends, and workers see by that that the run is over.
            self.lessons = self.client.submit(bytes, lessons, key=self.run, pure=False)
        except BaseException:
            self.stop()
            raise

    def look_at_workers(self):
        found = self.speaking(self.client.run, worker.obstacle, **self.terms, on_error="return")
        for address, why in found.items():
            if isinstance(why, Exception) and not isinstance(why, OSError):  # that is one which has just gone
                self.refuse(address, f"it has not this version of the course ({type(why).__name__}: {why})")
            elif why and isinstance(why, str):
                self.refuse(address, why)

    def tell(self, event):
        """Print what a worker has to say about itself, above the progress bar."""
        _, told = event
        tqdm.write(told, file=sys.stderr)

    def refuse(self, address, why):
        raise Trouble(f"The worker {address} cannot grade: {why}.")

    def results(self, submissions):
        """Yield (Submission, Result) in the order in which they are done. ``submissions`` is read as needed."""
        suspects = []
        for submission, result in self.go_through(submissions, self.room):
            if result is None:
                suspects.append(submission)
            else:
                yield submission, result
        # Of the submissions that were with a worker when it ended, Dask cannot tell which one was to blame.
        for submission, result in self.go_through(suspects, lambda: min(1, self.room())):
            yield submission, result or Result.failed(submission, "the worker that graded it ended, again and again")

    def go_through(self, submissions, room):
        """As ``results``, with None for what has ended too many workers; at most ``room()`` are out at a time."""
        waiting = iter(submissions)
        while True:
            places = room()
            while len(self.running) < places and (submission := next(waiting, None)) is not None:
                try:
                    self.submit(submission, pack_submission(submission))
                except OSError as error:
                    yield submission, Result.failed(submission, f"its files cannot be read ({error})")
            if not self.running:
                return
            if future := self.next_done():
                _, submission, content, tries = self.running.pop(future.key)
                reply = self.reply(future)
                if reply is None:
                    yield submission, None
                elif reply:
                    yield submission, unpack_result(reply, submission)
                elif tries < TRIES:
                    self.submit(submission, content, tries + 1)
                else:
                    yield submission, Result.failed(submission, f"the process that graded it ended {TRIES} times")

    def submit(self, submission, content, tries=1):
        arguments = (self.run, self.terms, self.lessons, content)
        future = self.speaking(self.client.submit, worker.grade, *arguments, key=f"grade-{uuid.uuid4().hex}")
        self.running[future.key] = future, submission, content, tries
        future.add_done_callback(self.done.put)

    def next_done(self):
        """A future that has come to an end, or None after a while without."""
        try:
            return self.done.get(timeout=LOOK)
        except queue.Empty:
            return None

    def reply(self, future):
        """What a worker says: a dictionary, empty where its grader ended; None where workers have ended."""
        from distributed import KilledWorker

        if future.status == "error":
            error = self.speaking(future.exception)
            if isinstance(error, KilledWorker):
                return None
            raise Trouble(f"A worker cannot grade ({type(error).__name__}: {error}); install the same course there.")
        if future.status != "finished":
            raise Trouble(GONE.format(self.address))
        try:
            reply = json.loads(self.speaking(future.result))
        except ValueError:
            return {}
        if "unfit" in reply:
            self.refuse(reply["worker"], reply["unfit"])
        return reply

    def room(self):
        """How many submissions may be out: a few for each thread of each worker. Trouble after long without any."""
        threads = sum(self.speaking(self.client.nthreads).values())
        now = time.monotonic()
        if threads:
            self.last_worker = now
        elif now - self.last_worker > PATIENCE:
            raise Trouble(
                f"The Dask scheduler at {self.address} has no workers; start some with "
                f"`dask worker {self.address}`. What was graded so far is stored, and the next run continues."
            )
        return AHEAD * max(1, threads)

    def speaking(self, function, *arguments, **keywords):
        """Call a function that speaks with the scheduler; Trouble where that has gone."""
        from asyncio import CancelledError

        from distributed.client import ClosedClientError

        try:
            return function(*arguments, **keywords)
        except (OSError, ClosedClientError, CancelledError) as error:
            raise Trouble(GONE.format(self.address)) from error

    def stop(self):
        """Take back what is out, end what still grades, and let go of the cluster."""
        from distributed.client import ClosedClientError

        try:
            if self.client.status == "running":
                self.client.cancel([future for future, *_ in self.running.values()], force=True)
                self.client.run(worker.dismiss, self.run, on_error="ignore")
            self.client.close(timeout=ANSWERING)
        except (OSError, ClosedClientError):
            pass  # the scheduler has gone, and all of this with it
