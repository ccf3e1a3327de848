"""One notebook kernel and the runs of single cells in it, each with an end."""

import contextlib
import socket
import sys
import time
from dataclasses import dataclass
from functools import partial

import zmq
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import KernelManager
from traitlets import Unicode

from course.grading.sandbox.outputs import Outputs

LARGEST_MESSAGE = 64 * 1024**2  # bytes; a longer message makes the connection start anew
FLOOD = 16  # times the output limit after which a cell is stopped, not only cut
POLITE = 1.0  # seconds between asking a cell to stop and ending its kernel
AT_ONCE = 100  # messages taken from a channel before the clock is looked at again
LAST_OUTPUT = 1.0  # seconds that outputs may come in after the reply


class ConfinedKernelManager(KernelManager):
    """Starts this environment's ipykernel through a kernel provisioner, whatever kernelspecs are installed."""

    provisioner_name = Unicode("course-sandbox", help="The entry point of the kernel provisioner.").tag(config=True)

    @property
    def kernel_spec(self):
        if self._kernel_spec is None:
            self._kernel_spec = KernelSpec(
                argv=[sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                display_name="Python 3 (ipykernel)",
                language="python",
                interrupt_mode="message",
                metadata={"kernel_provisioner": {"provisioner_name": self.provisioner_name, "config": {}}},
            )
        return self._kernel_spec


class UnconfinedKernelManager(ConfinedKernelManager):
    """The same kernel as an ordinary process."""

    provisioner_name = Unicode("local-provisioner")


@dataclass
class Run:
    """How one cell ended.

    ``ending`` is "finished", or what it was stopped for: "time", "output", "memory", "processes",
    "exit" or "died". ``reply`` is the content of the kernel's reply, or None; ``alive`` says whether the
    kernel lives on.
    """

    ending: str
    reply: dict | None
    outputs: Outputs
    alive: bool
    seconds: float

    @property
    def succeeded(self):
        """Whether the kernel reported that the cell ran to its end without an error."""
        return self.ending == "finished" and self.reply is not None and self.reply.get("status") == "ok"


class Kernel:
    """A kernel that runs one cell at a time and never waits longer than it was told.

    ``manager`` is a class that makes kernel managers; a manager serves one start.
    """

    def __init__(self, manager, folder=None, startup_timeout=60, config=None):
        self.make_manager = lambda: manager(config=config)
        self.folder, self.startup_timeout = folder, startup_timeout
        self.manager = self.client = None
        self.line = self.line_inside = None  # a socket, and the number under which its other end is open in the kernel

    def start(self):
        self.manager = self.make_manager()
        self.line, inside = socket.socketpair()
        with inside:
            self.line_inside = inside.fileno()
            options = ["--HistoryManager.hist_file=:memory:"]
            self.manager.start_kernel(cwd=self.folder, extra_arguments=options, pass_fds=[self.line_inside])
        self.client = self.manager.client()
        # Holds for the sockets that the client makes from here on: its own protection against huge messages.
        self.client.context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        self.client.start_channels(stdin=False, hb=False)
        try:
            self.client.wait_for_ready(timeout=self.startup_timeout)
        except RuntimeError as error:
            words = getattr(self.manager.provisioner, "last_words", str)()
            self.stop()
            raise RuntimeError(f"{error}. {words}".strip()) from error
        self.client.allow_stdin = False
        return self

    def stop(self):
        """End the kernel at once; every process in it ends too."""
        if self.line:
            self.line.close()
        if self.client:
            self.client.stop_channels()
        if self.manager:
            with contextlib.suppress(RuntimeError):  # it may be gone already
                self.manager.shutdown_kernel(now=True)
            self.manager.cleanup_resources()
        self.manager = self.client = self.line = None

    def restart(self):
        self.stop()
        return self.start()

    def is_alive(self):
        return self.manager is not None and self.manager.is_alive()

    def ended_for(self):
        """The limit for which the sandbox was ended, or None."""
        return getattr(self.manager.provisioner, "stopped_for", None)

    def language_info(self):
        """What the kernel says about its language, for the notebook's metadata."""
        self.client.kernel_info()
        return self.client.get_shell_msg(timeout=self.startup_timeout)["content"]["language_info"]

    def run(self, source, time_limit, output_limit):
        """Run ``source``; its ``time_limit`` (s) holds even for code that ignores interrupts."""
        return CellRun(self, Outputs(output_limit)).until_end(source, time_limit)

    def exchange(self, time_limit, output_limit):
        """An exam's questions to the process, within the limits of one cell."""
        from course.grading.sandbox.exchange import Exchange  # which is made from the classes here

        return Exchange(self, time_limit, output_limit)


class CellRun:
    """The state of one run: what has been asked and what has been heard."""

    def __init__(self, kernel, outputs):
        self.kernel, self.outputs = kernel, outputs
        self.reply, self.idle, self.replied_at = None, False, None
        self.ending = "finished"

    def until_end(self, source, time_limit):
        self.begin(source, time_limit)
        while not self.complete() and self.step():
            pass
        if self.reply and self.asks_to_exit():
            self.ending = "exit"
            self.kernel.stop()
        return self.outcome()

    def begin(self, source, time_limit, **options):
        """Ask the kernel to run ``source``; see ``jupyter_client`` for the options."""
        self.started = time.monotonic()
        self.request = self.kernel.client.execute(source, allow_stdin=False, stop_on_error=False, **options)
        self.deadline = self.started + time_limit if time_limit else float("inf")

    def step(self):
        """Listen for a moment and hold the run to its limits; False once its process is gone."""
        if not self.kernel.is_alive():
            self.listen(0.05)  # the last words on their way
            self.ending = self.cause_of_death()
            return False
        self.listen(min(0.1, max(0.0, self.deadline - time.monotonic())))
        late, flooded = time.monotonic() >= self.deadline, self.outputs.received > FLOOD * self.outputs.limit
        if self.ending != "finished" and late:
            self.kernel.stop()
            return False
        if self.ending == "finished" and (late or flooded) and not self.complete():
            passed = self.passed_limit()
            self.ending = passed or ("output" if flooded else "time")
            if passed:
                self.kernel.stop()
                return False
            self.kernel.manager.interrupt_kernel()
            self.deadline = time.monotonic() + POLITE
        return True

    def outcome(self):
        seconds = time.monotonic() - self.started
        return Run(self.ending, self.reply, self.outputs, self.kernel.is_alive(), seconds)

    def complete(self):
        """Whether the cell is over: replied to, and idle or silent for a while (a flood loses messages)."""
        return self.reply is not None and (self.idle or time.monotonic() > self.replied_at + LAST_OUTPUT)

    def passed_limit(self):
        """The limit that is passed at the end of the time: a bomb can leave its watcher no turn to see it."""
        return getattr(self.kernel.manager.provisioner, "passed_limit", lambda: None)()

    def cause_of_death(self):
        if self.ending != "finished":
            return self.ending
        return self.kernel.ended_for() or "died"

    def asks_to_exit(self):
        payload = self.reply.get("payload") or []
        return any(isinstance(item, dict) and item.get("source") == "ask_exit" for item in payload)

    def listen(self, seconds):
        """Take in what has arrived, waiting up to ``seconds`` for it."""
        readers = self.readers()
        poller = zmq.Poller()
        for channel in readers:
            poller.register(channel, zmq.POLLIN)
        for channel, _ in poller.poll(seconds * 1000):
            readers[channel]()

    def readers(self):
        """What takes in a channel's messages, by the channel."""
        client = self.kernel.client
        channels = {client.shell_channel.socket: self.hear_reply, client.iopub_channel.socket: self.hear_output}
        return {channel: partial(self.take_in, channel, handle) for channel, handle in channels.items()}

    def take_in(self, channel, handle):
        for _ in range(AT_ONCE):
            if not channel.poll(0):
                break
            # A student's process can send anything; what cannot be read is no message.
            with contextlib.suppress(Exception):
                self.hear(handle, channel.recv_multipart())

    def hear(self, handle, frames):
        session = self.kernel.client.session
        _, parts = session.feed_identities(frames)
        message = session.deserialize(parts)
        if message["parent_header"].get("msg_id") == self.request:
            handle(message, sum(map(len, frames)))

    def hear_reply(self, message, size):
        if message["header"]["msg_type"] == "execute_reply" and isinstance(message["content"], dict):
            self.reply, self.replied_at = message["content"], time.monotonic()

    def hear_output(self, message, size):
        if message["header"]["msg_type"] == "status":
            self.idle = message["content"]["execution_state"] == "idle"
        else:
            self.outputs.add(message, size)
