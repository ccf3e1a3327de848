"""The grader's side of the warm process: start it under bubblewrap, ask it for forks, end it."""

import base64
import contextlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
from pathlib import Path

import course
from course.grading.sandbox import view
from course.grading.sandbox.availability import bubblewrap
from course.grading.sandbox.fonts import font_list
from course.grading.sandbox.limits import Limits
from course.grading.sandbox.provisioner import in_memory
from course.grading.sandbox.syscalls import seccomp_filter
from course.grading.sandbox.watch import descendants, proportional
from course.grading.warm.channel import BadMessage, Unpacker, pack

STARTUP = 120  # seconds that importing may take on a busy machine
FORKING = 20  # seconds for one fork
MOST_DATA = 16 * 1024**2  # bytes of a submission's files that are copied to a fork
SCRATCH = 16 * 1024**2  # bytes, for the warm process itself
LIBRARIES = ("numpy", "torch", "matplotlib.pyplot", "ipywidgets", "IPython.display", "PIL.ImageDraw", "PIL.ImageFont")
LIBRARIES += ("torch._dynamo",)  # torch imports it late, at the first optimiser
NOT_FOR_STUDENTS = ("course.__main__", "course.commands", "course.grading")
WARMING = (  # what the first picture and the first error of a notebook would otherwise wait for
    # Without pyplot, which chooses and sets up its backend at a notebook's first figure.
    "import io, matplotlib.figure\nfigure = matplotlib.figure.Figure()\naxes = figure.add_subplot(title='x')\n"
    "figure.colorbar(axes.imshow([[0.0, 1.0]]))\nfigure.savefig(io.BytesIO(), format='png')",
    "import torch\nprint(torch.softmax(torch.randn(2, 2) @ torch.randn(2, 2), -1))",
    # Through a layer of torch's, whose long module IPython reads and parses for the traceback.
    "import torch\nclass Layer(torch.nn.Module):\n    def forward(self, x):\n        raise ValueError\nLayer()(0)",
)


def student_modules():
    """Names of the modules of ``course`` that a notebook may use."""
    walked = pkgutil.walk_packages(course.__path__, "course.")
    return sorted(module.name for module in walked if not module.name.startswith(NOT_FOR_STUDENTS))


class NoFork(Exception):
    """A fork could not be made; the text says why. A cold kernel does the same work, later."""


class Fork:
    """A student's process: its end of the channel and a hold on the process itself."""

    def __init__(self, line, pid):
        self.line, self.pid, self.unpacker = line, pid, Unpacker()
        self.handle = os.pidfd_open(pid)

    def is_alive(self):
        return not select.select([self.handle], [], [], 0)[0]

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.handle, number)

    def end(self):
        """End it, and with it every process that it has started."""
        self.signal(signal.SIGKILL)
        select.select([self.handle], [], [], FORKING)
        self.line.close()
        os.close(self.handle)


class WarmProcess:
    """Imports once. Processes forked from the grader after ``start`` may all ask for forks."""

    def __init__(self):
        self.owner, self.process, self.control, self.words = None, None, None, None

    def start(self):
        """Start, wait until all is imported, and try a fork. NoFork where it cannot be."""
        rules = seccomp_filter()
        if rules is None:
            raise NoFork("on this processor no system call can be refused")
        self.control, inside = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.words, self.owner = os.memfd_create("words"), os.getpid()
        with contextlib.ExitStack() as open_files, inside:
            command, descriptors = self.command(inside.fileno())
            for descriptor in descriptors:
                open_files.callback(os.close, descriptor)
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self.words,
                pass_fds=[inside.fileno(), *descriptors],
                env={},
                start_new_session=True,
            )
        ready, _, _ = select.select([self.control], [], [], STARTUP)
        if not ready or not self.control.recv(16):
            words = self.last_words()
            self.stop()
            raise NoFork(f"the warm process did not start: {words or 'no reason given'}")
        try:
            self.fork(Limits()).end()  # a machine that allows none says so now, not once for each submission
        except NoFork:
            self.stop()
            raise
        return self

    def command(self, control):
        """The bubblewrap command line and the descriptors that it reads."""
        here, extra, descriptors = Path(__file__).parent, [], []
        if fonts := font_list():
            name, content = fonts
            descriptors.append(in_memory(content.encode()))
            extra += ["--perms", "0444", "--ro-bind-data", str(descriptors[-1]), f"{view.PLOT_SETTINGS}/{name}"]
        extra += ["--ro-bind", str(here / "zygote.py"), "/run/zygote.py"]
        mounts, python, imports = view.mounts(SCRATCH, extra=extra)
        rights = ["--cap-add", "CAP_SYS_ADMIN"]  # to give each fork namespaces of its own; forks lose it
        variables = ["--setenv", "MPLBACKEND", "module://matplotlib_inline.backend_inline"]
        task = {"control": control, "imports": imports, "modules": [*LIBRARIES, *student_modules()], "sources": WARMING}
        isolation = view.isolation(view.separate_user())
        command = [bubblewrap(), *isolation, *rights, *mounts, *variables, "--", *python, "/run/zygote.py"]
        return [*command, json.dumps(task)], descriptors

    def fork(self, limits, folder=None):
        """A new Fork within ``limits``, with copies of the data files in ``folder``. NoFork where none comes."""
        files = view.submission_files(folder) if folder else []
        if sum(file.stat().st_size for file in files) > MOST_DATA:
            raise NoFork("the submission brings large files.")
        ours, theirs = socket.socketpair()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        order = {
            "user": view.separate_user(),
            "limits": limits.for_process(),
            "rules": seccomp_filter().hex(),
            "folders": {view.SCRATCH: limits.scratch, "/tmp": view.TEMPORARY, "/dev/shm": view.TEMPORARY},
            "made": [view.PLOT_SETTINGS],
            "cwd": view.SCRATCH,
        }
        try:
            with theirs:
                socket.send_fds(self.control, [json.dumps(order).encode()], [theirs.fileno()])
            ours.settimeout(FORKING)
            ours.sendall(pack({file.name: base64.b64encode(file.read_bytes()).decode() for file in files}))
            return Fork(ours, self.await_ready(ours))
        except (OSError, BadMessage, NoFork) as error:
            ours.close()
            raise NoFork(f"{error} {self.last_words()}".strip()) from error

    def await_ready(self, line):
        """The number that this machine gives the fork, told by the operating system with its first message."""
        data, ancillary, _, _ = line.recvmsg(2**12, socket.CMSG_SPACE(12))
        line.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        if not data or not ancillary:
            raise NoFork("the fork ended before it was ready.")
        [(message, _)] = Unpacker().feed(data)
        if "ready" not in message:
            raise NoFork("the fork answered with something else.")
        line.setblocking(False)
        return int.from_bytes(ancillary[0][2][:4], "little")

    def memory(self):
        """Bytes of memory of the warm process and its forks, each shared page counted once."""
        return sum(proportional(pid) for pid, _ in descendants(self.process.pid))

    def last_words(self):
        """The last line that the warm process wrote on stderr."""
        lines = os.pread(self.words, 2**16, 0).decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def stop(self):
        """End it; a grader's child process only lets go of it."""
        if self.process and self.owner == os.getpid():
            self.process.kill()
            self.process.wait()
        if self.control:
            self.control.close()
            os.close(self.words)
        self.process = self.control = None
