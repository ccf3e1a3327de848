"""Watch what a sandbox uses as a whole, which no limit on a single process can bind."""

import os
import threading
from pathlib import Path


def descendants(pid):
    """Yield ``pid`` and every process below it that is alive now, each with its number of threads."""
    waiting = [pid]
    while waiting:
        current = waiting.pop()
        try:
            lists = [task.joinpath("children").read_text() for task in Path(f"/proc/{current}/task").iterdir()]
        except OSError:  # gone between two looks
            continue
        yield current, len(lists)
        waiting += [int(child) for child in " ".join(lists).split()]


def resident(pid):
    """Bytes of memory that ``pid`` holds, shared ones counted in full."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def proportional(pid):
    """Bytes of memory of ``pid``, each shared page divided among those that share it; slower to find out."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


class Watcher(threading.Thread):
    """Look at the processes below ``pid`` every ``interval`` seconds; call ``stop(kind)`` once a limit is passed."""

    def __init__(self, pid, limits, stop, interval=0.1):
        super().__init__(daemon=True, name=f"watch-{pid}")
        self.pid, self.limits, self.stop_sandbox, self.interval = pid, limits, stop, interval
        self.ended = threading.Event()

    def passed(self):
        """The limit that the sandbox passes now, or None."""
        pids, number = [], 0
        for pid, threads in descendants(self.pid):
            pids.append(pid)
            number += threads
            if number >= self.limits.processes:  # a bomb grows faster than it can be counted
                return "processes"
        if sum(map(resident, pids)) > self.limits.memory and sum(map(proportional, pids)) > self.limits.memory:
            return "memory"
        return None

    def run(self):
        while not self.ended.wait(self.interval):
            kind = self.passed()
            if kind:
                self.stop_sandbox(kind)
                return

    def end(self):
        self.ended.set()
