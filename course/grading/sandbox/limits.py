"""What one submission may use."""

from dataclasses import dataclass

MIB = 1024**2


@dataclass(frozen=True)
class Limits:
    """Sizes are bytes; processes counts threads too, as the kernel of the operating system does."""

    memory: int = 1536 * MIB  # importing torch takes about 180 MiB of it
    file_size: int = 64 * MIB
    scratch: int = 256 * MIB  # everything in the working folder together
    processes: int = 128  # an idle notebook kernel has about 12 threads
    open_files: int = 256

    def for_process(self):
        """What the operating system enforces in each process, {name in the module resource: value}."""
        return {
            "RLIMIT_DATA": self.memory,
            "RLIMIT_FSIZE": self.file_size,
            # The watcher ends the sandbox at the limit; where a bomb outruns it, it is stopped here.
            "RLIMIT_NPROC": 2 * self.processes,
            "RLIMIT_NOFILE": self.open_files,
            "RLIMIT_CORE": 0,
        }

    def sentence(self, kind):
        """How the limit named ``kind`` reads in a message to a student."""
        return {
            "memory": f"the memory limit of {self.memory // MIB} MiB",
            "processes": f"the limit of {self.processes} processes and threads",
        }[kind]
