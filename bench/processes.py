"""What a process and all below it cost: CPU seconds, of these in students' processes, and memory."""

import itertools
import os
import threading
from pathlib import Path

from course.grading.sandbox.availability import bubblewrap
from course.grading.sandbox.watch import descendants, proportional

INTERVAL, LOOKS_FOR_MEMORY = 0.1, 20  # seconds between two looks; at every how many of them memory is added up
WARM, COLD = "/run/zygote.py", ("/run/inside.py", "ipykernel_launcher")  # programs of students' processes


class Meter(threading.Thread):
    """CPU seconds and the memory peak of a process and all below it, looked at several times a second.

    The sandbox kills its processes, so the operating system adds their time to nobody's: it has to be read before.
    """

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.over, self.reading = pid, threading.Event(), threading.Lock()
        self.seconds, self.most = {}, 0  # by process; bytes, each shared page counted once
        self.warm, self.students = [], set()  # the warm process and its forks; the processes that run students' code

    def run(self):
        for turn in itertools.count():
            pids = self.look()
            if turn % LOOKS_FOR_MEMORY == 0:
                self.most = max(self.most, sum(map(proportional, pids)))
            if self.over.wait(INTERVAL):
                return

    def look(self):
        """Read what every process has used until now; the numbers of the processes."""
        pids = [pid for pid, _ in descendants(self.pid)]
        with self.reading:
            for pid in pids:
                if (used := cpu_seconds(pid)) is not None:
                    self.sort_in(pid)
                    self.seconds[pid] = used
        return pids

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def used(self):
        """CPU seconds of all processes until now."""
        return sum(self.seconds.values())

    def used_by_students(self):
        """CPU seconds of the processes that run students' code."""
        return sum(self.seconds[pid] for pid in self.students)

    def sort_in(self, pid):
        """Take note of what a process runs. Bubblewrap is no student's, until a kernel takes its place."""
        words = command_line(pid)
        if pid in self.warm or words.startswith(bubblewrap()):
            return
        if WARM in words:
            self.warm.append(pid)
            self.students.update(self.warm[1:])  # the first is the one that all others are forked from
        elif any(program in words for program in COLD):
            self.students.add(pid)


def cpu_seconds(pid):
    """CPU seconds of a process until now, or None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def command_line(pid):
    """The words of the command that a process runs, or nothing when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""
