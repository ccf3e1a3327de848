"""What a cell prints and shows, kept within limits and made fit for a notebook."""

import json

import nbformat
from nbformat.v4 import new_output, output_from_msg

MOST = 500  # outputs of one cell; pages with more are hard to open
SHOWN = {"stream", "display_data", "execute_result", "error"}


def error_output(name, text):
    """An error as a cell shows it; nbgrader reads a test's score from it."""
    return new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])


def read(message):
    """The output that ``message`` carries, or None where a notebook with it could not be written and read."""
    try:
        output = output_from_msg(message)
        nbformat.validate(output, ref="output", version=4, version_minor=5)
        json.dumps(output, ensure_ascii=False).encode("utf-8")
    except (nbformat.ValidationError, UnicodeEncodeError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return output


class Outputs:
    """The outputs of one run of one cell.

    Messages come from a student's process, so none is trusted: what is not a sound output is left
    out, and after ``limit`` bytes the rest is counted and thrown away.
    """

    def __init__(self, limit):
        self.limit = limit
        self.received = 0  # bytes
        self.kept = []
        self.displays = {}  # display_id: index in kept
        self.clear_at_next = False

    @property
    def cut(self):
        return self.received > self.limit or len(self.kept) >= MOST

    def add(self, message, size):
        """Take in one message of the kernel's iopub channel, ``size`` bytes long."""
        kind, content = message["header"]["msg_type"], message["content"]
        if kind == "clear_output":
            self.clear(content.get("wait"))
            return
        if kind not in SHOWN and kind != "update_display_data":
            return
        room = self.limit - self.received
        self.received += size
        if self.cut and kind == "stream" and room > 0:
            content["text"] = content["text"][:room]
        elif self.cut and kind != "error":
            return
        self.place(kind, message, (content.get("transient") or {}).get("display_id"))

    def place(self, kind, message, display):
        if kind == "update_display_data":
            message["header"]["msg_type"] = "display_data"  # an update carries what a display carries
        output = read(message)
        if output is None:
            return
        if kind == "update_display_data":
            if display in self.displays:
                self.kept[self.displays[display]] = output
            return
        if self.clear_at_next:
            self.clear()
        if display:
            self.displays[display] = len(self.kept)
        last = self.kept[-1] if self.kept else None
        if kind == "stream" and last and last.output_type == "stream" and last.name == output.name:
            last.text += output.text
        else:
            self.kept.append(output)

    def clear(self, wait=False):
        self.clear_at_next = bool(wait)
        if not wait:
            self.kept.clear()
            self.displays.clear()

    def note(self, text):
        """Add a remark that costs no points."""
        self.kept.append(new_output("stream", name="stdout", text=text + "\n"))

    def fail(self, name, text):
        self.kept.append(error_output(name, text))

    def has_error(self):
        return any(output.output_type == "error" for output in self.kept)
