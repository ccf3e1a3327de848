"""Several processes that grade, each one submission at a time; what one does not survive is tried once more."""

import multiprocessing
import os
import signal
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from course.grading.many.grader import Result
from course.grading.many.readiness import end_with, freeze
from course.grading.stopping import SIGNALS

AHEAD = 2  # submissions that are read for each process, one in work and one waiting


def start_worker(grader, parent):
    """In a new process: end with the parent, and leave signals that a whole group gets to it."""
    global work
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    end_with(parent)
    work = grader.grade


def grade_one(submission):
    return work(submission)


class Pool:
    """``jobs`` processes forked from this one, with all that it has imported."""

    def __init__(self, grader, jobs):
        self.grader, self.jobs = grader, jobs
        self.executor = None
        self.start()

    def start(self):
        freeze()
        context = multiprocessing.get_context("fork")
        self.executor = ProcessPoolExecutor(self.jobs, context, start_worker, (self.grader, os.getpid()))

    def results(self, submissions):
        """Yield (Submission, Result) in the order in which they are done. ``submissions`` is read as needed."""
        waiting, again = iter(submissions), []
        running = {}
        while True:
            try:
                while len(running) < AHEAD * self.jobs and (submission := next(waiting, None)) is not None:
                    again.append(submission)  # until it has been taken
                    future = self.executor.submit(grade_one, submission)
                    running[future] = again.pop()
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    yield running.pop(future), result
            except BrokenProcessPool:
                again += running.values()
                running.clear()
                self.stop()
                self.start()
        for submission in again:
            yield submission, self.alone(submission)

    def alone(self, submission):
        """The Result of a submission that was in work when a process ended; now it is the only one."""
        try:
            return self.executor.submit(grade_one, submission).result()
        except BrokenProcessPool:
            self.stop()
            self.start()
            why = "the process that graded it ended twice; look at the memory of the machine"
            return Result.failed(submission, why)

    def stop(self):
        """End the processes at once."""
        for process in list((self.executor._processes or {}).values()):
            process.kill()
        self.executor.shutdown(wait=True, cancel_futures=True)
