"""One notebook kernel and the runs of single cells in it, each with an end."""

import contextlib
import sys
import time
from dataclasses import dataclass

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

    def start(self):
        self.manager = self.make_manager()
        self.manager.start_kernel(cwd=self.folder, extra_arguments=["--HistoryManager.hist_file=:memory:"])
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
        if self.client:
            self.client.stop_channels()
        if self.manager:
            with contextlib.suppress(RuntimeError):  # it may be gone already
                self.manager.shutdown_kernel(now=True)
            self.manager.cleanup_resources()
        self.manager = self.client = None

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
        return _CellRun(self, Outputs(output_limit)).until_end(source, time_limit)


class _CellRun:
    """The state of one run: what has been asked and what has been heard."""

    def __init__(self, kernel, outputs):
        self.kernel, self.outputs = kernel, outputs
        self.reply, self.idle, self.replied_at = None, False, None
        self.ending = "finished"

    def until_end(self, source, time_limit):
        started = time.monotonic()
        self.request = self.kernel.client.execute(source, store_history=True, allow_stdin=False, stop_on_error=False)
        deadline = started + time_limit if time_limit else float("inf")
        while not self.complete():
            if not self.kernel.is_alive():
                self.listen(0.05)  # the last words on their way
                self.ending = self.cause_of_death()
                break
            self.listen(min(0.1, max(0.0, deadline - time.monotonic())))
            flooded = self.outputs.received > FLOOD * self.outputs.limit
            if self.ending == "finished" and (time.monotonic() >= deadline or flooded) and not self.complete():
                passed = self.passed_limit()
                self.ending = passed or ("output" if flooded else "time")
                if passed:
                    self.kernel.stop()
                    break
                self.kernel.manager.interrupt_kernel()
                deadline = time.monotonic() + POLITE
            elif self.ending != "finished" and time.monotonic() >= deadline:
                self.kernel.stop()
                break
        if self.reply and self.asks_to_exit():
            self.ending = "exit"
            self.kernel.stop()
        return Run(self.ending, self.reply, self.outputs, self.kernel.is_alive(), time.monotonic() - started)

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
        client = self.kernel.client
        channels = {client.shell_channel.socket: self.hear_reply, client.iopub_channel.socket: self.hear_output}
        poller = zmq.Poller()
        for channel in channels:
            poller.register(channel, zmq.POLLIN)
        for channel, _ in poller.poll(seconds * 1000):
            for _ in range(AT_ONCE):
                if not channel.poll(0):
                    break
                # A student's process can send anything; what cannot be read is no message.
                with contextlib.suppress(Exception):
                    self.hear(channels[channel], channel.recv_multipart())

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
