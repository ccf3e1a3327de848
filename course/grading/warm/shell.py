"""The notebook's interpreter inside a fork: it runs cells and answers questions, one message after the other."""

import base64
import builtins
import contextlib
import inspect
import io
import os
import pdb
import signal
import sys
import threading
import time

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type

from course.grading.sandbox.inside import pass_over_debugger, refuse_exit
from course.grading.warm import channel
from course.wording import words_of

BUFFERED = 2**13  # characters of output that are sent together
OLDEST = 0.2  # seconds after which they are sent all the same
LONGEST = 2**20  # characters in one message, however much is printed at once


def plain(value):
    """Bytes of a picture as text; anything else that JSON does not know as its repr."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else repr(value)


def failed(error):
    """What ipykernel would reply of an exception, with as much of its text as fits a message."""
    return {"status": "error", "ename": type(error).__name__, "evalue": words_of(error)[:LONGEST]}


class Sender:
    """Sends messages about one request; only the process that made it sends, no child of it."""

    def __init__(self):
        self.socket, self.request, self.owner, self.lock = None, None, None, threading.RLock()

    def send(self, **message):
        if self.socket is None or os.getpid() != self.owner:
            return
        try:
            data = channel.pack({"request": self.request, **message}, default=plain)
        except (ValueError, TypeError, RecursionError) as error:  # metadata can hold anything
            data = channel.pack({"request": self.request, "unreadable": type(error).__name__})
        with self.lock:
            self.socket.sendall(data)

    def output(self, kind, **content):
        self.send(output=kind, content=content)


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the notebook."""

    encoding, errors = "utf-8", "replace"

    def __init__(self, name, sender):
        self.name, self.sender = name, sender
        self.texts, self.length, self.since = [], 0, 0.0

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        with self.sender.lock:
            now = time.monotonic()
            self.since = self.since if self.texts else now
            self.texts.append(text)
            self.length += len(text)
            if self.length > BUFFERED or now - self.since > OLDEST:
                self.flush()
        return len(text)

    def flush(self):
        with self.sender.lock:
            text, self.texts, self.length = "".join(self.texts), [], 0
            for start in range(0, len(text), LONGEST):
                self.sender.output("stream", name=self.name, text=text[start : start + LONGEST])


class Publisher(DisplayPublisher):
    def publish(self, data, metadata=None, *, transient=None, update=False, **others):
        flush()
        kind = "update_display_data" if update else "display_data"
        self.shell.sender.output(kind, data=data, metadata=metadata or {}, transient=transient or {})

    def clear_output(self, wait=False):
        flush()
        self.shell.sender.output("clear_output", wait=wait)


class Hook(DisplayHook):
    def write_output_prompt(self):
        """A notebook shows the number beside the output."""

    def write_format_data(self, format_dict, md_dict=None):
        flush()
        count = self.prompt_count
        self.shell.sender.output("execute_result", data=format_dict, metadata=md_dict or {}, execution_count=count)


def flush():
    """Send what was printed, so that outputs keep their order."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a student may have put anything in their place
            stream.flush()


def no_keyboard(*arguments):
    raise StdinNotImplementedError("nobody sits at a keyboard while grading: input() cannot be answered")


class Compiler(CachingCompiler):
    """Tells inspect that cells belong to ``__main__``. To find that out it would go through all modules several times
    for each line of a traceback, which takes a tenth of a second.
    """

    def cache(self, *arguments, **keywords):
        name = super().cache(*arguments, **keywords)
        inspect.modulesbyfile[os.path.abspath(name)] = "__main__"
        return name


class Kernel:
    """What programs look for to find out that a notebook shows their output, and ask about the request at work."""

    def __init__(self, sender):
        self.sender = sender

    def get_parent(self, channel=None):
        header = {"msg_id": str(self.sender.request), "msg_type": "execute_request"}
        return {"header": header, "content": {"allow_stdin": False}}


class StudentShell(InteractiveShell):
    """IPython without a terminal, a history and a network; made once, before the forks."""

    display_pub_class = Type(Publisher)
    displayhook_class = Type(Hook)
    compiler_class = Type(Compiler)

    def __init__(self, **options):
        self.sender = Sender()
        self.kernel = Kernel(self.sender)
        super().__init__(**options)

    def _showtraceback(self, etype, evalue, stb):
        flush()
        traceback = [line[:LONGEST] for line in stb]
        self.sender.output("error", ename=str(etype.__name__), evalue=words_of(evalue)[:LONGEST], traceback=traceback)

    def ask_exit(self):
        refuse_exit(self)

    def warm_up(self, sources):
        """Run ``sources`` unheard, for what they load and prepare, then forget their names."""
        for source in sources:
            self.run_cell(source, store_history=False)
        self.reset(new_session=True)

    def serve(self, socket):
        """Do what messages on ``socket`` ask for until it closes; ends the process."""
        self.sender.socket, self.sender.owner = socket, os.getpid()
        sys.stdout, sys.stderr = Stream("stdout", self.sender), Stream("stderr", self.sender)
        sys.breakpointhook = pdb.set_trace = pass_over_debugger
        builtins.input = no_keyboard
        self.busy = False
        signal.signal(signal.SIGINT, self.interrupted)
        unpacker = channel.Unpacker()
        while data := socket.recv(channel.CHUNK):
            for message, _ in unpacker.feed(data):
                self.sender.request = message["request"]
                self.answer(message)
        os._exit(0)

    def interrupted(self, *_):
        """The time is up: a signal that comes between two requests is late and means nothing."""
        if self.busy:
            self.busy = False
            raise KeyboardInterrupt

    def answer(self, message):
        try:
            self.busy = True
            reply = self.cell(message["cell"]) if "cell" in message else self.question(**message["ask"])
        except BaseException as error:  # an interrupt outside of the student's own code
            reply = failed(error)
        self.busy = False
        flush()
        self.sender.send(reply=reply)

    def cell(self, source):
        """Run a cell; what ipykernel would reply."""
        result = self.run_cell(source, store_history=True)
        reply = {"status": "ok"} if result.success else failed(result.error_before_exec or result.error_in_exec)
        return reply | {"execution_count": result.execution_count}

    def question(self, text, first):
        """Answer a request of the examiner's, perhaps the first of an exam; see ``course.checks.servant``."""
        from course.checks.servant import begin, handle

        if first:
            begin()
        return {"status": "ok", "answer": handle(self.user_ns, text)}
