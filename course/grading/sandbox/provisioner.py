"""Start a notebook kernel under bubblewrap: the kernel provisioner ``course-sandbox``.

Jupyter finds it through the entry point group ``jupyter_client.kernel_provisioners``. Any Python
kernelspec that names it in ``metadata.kernel_provisioner`` is confined, whoever starts the kernel.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

from jupyter_client.connect import port_names
from jupyter_client.provisioning import LocalProvisioner
from traitlets import Float, Int

from course.grading.sandbox import view
from course.grading.sandbox.availability import bubblewrap
from course.grading.sandbox.fonts import font_list
from course.grading.sandbox.limits import Limits
from course.grading.sandbox.syscalls import seccomp_filter
from course.grading.sandbox.watch import Watcher

LONGEST_FOLDER = 80  # the path of a Unix socket has 107 bytes


def socket_folder():
    """A new private folder with a short absolute path; those of graders that were killed are taken away."""
    base = tempfile.gettempdir()
    base = Path(base if len(base) < LONGEST_FOLDER else "/tmp")
    for folder in base.glob("sandbox-*-*"):
        owner = folder.name.split("-")[1]
        with contextlib.suppress(FileNotFoundError):  # another grader may be tidying up too
            if owner.isdigit() and not Path("/proc", owner).exists() and folder.lstat().st_uid == os.geteuid():
                shutil.rmtree(folder, ignore_errors=True)
    return tempfile.mkdtemp(prefix=f"sandbox-{os.getpid()}-", dir=base)


def in_memory(content):
    """A file descriptor from which ``content`` can be read."""
    descriptor = os.memfd_create("sandbox")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


class SandboxProvisioner(LocalProvisioner):
    """A kernel without network, without this machine's files, and with limits on what it uses."""

    defaults = Limits()
    memory = Int(defaults.memory, help="Bytes of memory that one submission may use.").tag(config=True)
    file_size = Int(defaults.file_size, help="Bytes of the largest file that it may write.").tag(config=True)
    scratch = Int(defaults.scratch, help="Bytes of its working folder.").tag(config=True)
    processes = Int(defaults.processes, help="Processes and threads that it may have at once.").tag(config=True)
    open_files = Int(defaults.open_files, help="Files that one process may hold open.").tag(config=True)
    watch_interval = Float(0.1, help="Seconds between two looks at memory and processes.").tag(config=True)

    stopped_for = None  # the limit for which the watcher ended this kernel
    folder = None
    watcher = None

    @property
    def limits(self):
        return Limits(self.memory, self.file_size, self.scratch, self.processes, self.open_files)

    async def pre_launch(self, **kwargs):
        """Choose ipc sockets in a short folder before the manager writes them down."""
        manager = self.parent
        self.folder = self.folder or socket_folder()
        manager.transport = "ipc"
        manager.ip = f"{self.folder}/s"
        manager.connection_file = f"{self.folder}/kernel.json"
        self.kernel_spec.interrupt_mode = "message"  # a signal would reach bubblewrap and end the sandbox
        return await super().pre_launch(**kwargs)

    async def launch_kernel(self, cmd, **kwargs):
        """Open the sockets, start bubblewrap and begin to watch it."""
        if "ipykernel_launcher" not in cmd:
            raise ValueError(f"the sandbox runs ipykernel only, and this kernel's command is {cmd}: use python3")
        after_module = cmd[cmd.index("ipykernel_launcher") + 1 :]
        arguments = [view.CONNECTION_FILE if word == self.parent.connection_file else word for word in after_module]
        with contextlib.ExitStack() as open_files:
            sockets = self.open_sockets(open_files)
            command, descriptors = self.command(arguments, sockets, kwargs.get("cwd"), open_files)
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,  # small and never read while all is well, so it cannot fill anything
                pass_fds=[*sockets.values(), *descriptors, *kwargs.get("pass_fds", ())],
                env={},
                start_new_session=True,
            )
        self.pid = self.pgid = self.process.pid
        self.watcher = Watcher(self.pid, self.limits, self.stop_for, self.watch_interval)
        self.watcher.start()
        return self.connection_info

    def open_sockets(self, open_files):
        """Listen on the address of each channel: {address: file descriptor}."""
        sockets = {}
        for name in port_names:
            path = f"{self.parent.ip}-{getattr(self.parent, name)}"
            Path(path).unlink(missing_ok=True)
            listener = open_files.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            listener.bind(path)
            listener.listen()
            sockets[f"ipc://{path}"] = listener.fileno()
        return sockets

    def files(self):
        """What the kernel is given to read: {path inside: content}."""
        files = {view.CONNECTION_FILE: json.dumps(self.connection_info, default=bytes.decode)}
        if fonts := font_list():
            name, content = fonts
            files[f"{view.PLOT_SETTINGS}/{name}"] = content
        return files

    def command(self, arguments, sockets, folder, open_files):
        """The bubblewrap command line and the descriptors that it reads."""
        descriptors, extra = [], ["--ro-bind", str(Path(__file__).with_name("inside.py")), "/run/inside.py"]
        for path, content in self.files().items():
            descriptors.append(in_memory(content.encode()))
            extra += ["--perms", "0444", "--ro-bind-data", str(descriptors[-1]), path]
        user, limits = view.separate_user(), self.limits
        mounts, python, imports = view.mounts(limits.scratch, folder, extra)
        command = [bubblewrap(), *view.isolation(user), *mounts]
        if (rules := seccomp_filter()) is not None:
            descriptors.append(in_memory(rules))
            command += ["--seccomp", str(descriptors[-1])]
        for descriptor in descriptors:
            open_files.callback(os.close, descriptor)
        task = {
            "arguments": [*arguments, "--InteractiveShellApp.ignore_cwd=True", "--HistoryManager.enabled=False"],
            "imports": imports,
            "sockets": sockets,
            "user": user,
            "limits": limits.for_process(),
        }
        return [*command, "--", *python, "/run/inside.py", json.dumps(task)], descriptors

    def passed_limit(self):
        """The limit that the sandbox passes now, or None."""
        return self.watcher.passed() if self.watcher else None

    def stop_for(self, kind):
        """End the sandbox because it passed the limit ``kind``."""
        self.stopped_for = kind
        if process := self.process:  # called from the watcher's thread
            process.kill()  # everything inside dies with its parent

    async def kill(self, restart=False):
        if self.process:
            self.process.kill()
            self.process.wait()  # takes milliseconds; the manager would look again after 0.1 s only

    async def send_signal(self, signum):
        """Only the end of the sandbox can be signalled; an interrupt travels as a message."""
        if signum in (signal.SIGKILL, signal.SIGTERM) and self.process:
            self.process.kill()

    def last_words(self):
        """What bubblewrap or a kernel that never started wrote on stderr."""
        if self.process is None or self.process.poll() is None:
            return ""
        return self.process.stderr.read().decode(errors="replace").strip()

    async def cleanup(self, restart=False):
        if self.watcher:
            self.watcher.end()
        if self.folder and not restart:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None
        await super().cleanup(restart=restart)
