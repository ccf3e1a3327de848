"""What a cell prints and shows, kept within limits and made fit for a notebook."""

import json

from nbformat import ValidationError, from_dict
from nbformat.v4 import new_output
from nbformat.validator import get_validator

MOST = 500  # outputs of one cell; pages with more are hard to open
LONGEST_ERROR = 10_000  # characters of an error's text
SHOWN = {  # the kinds of message that a notebook keeps, and what it keeps of each
    "stream": ("name", "text"),
    "display_data": ("data", "metadata"),
    "execute_result": ("data", "metadata", "execution_count"),
    "error": ("ename", "evalue", "traceback"),
}


def error_output(name, text):
    """An error as a cell shows it; nbgrader reads a test's score from it."""
    text = shortened(text)
    return new_output("error", ename=name, evalue=text, traceback=[f"{name}: {text}"])


def shortened(text):
    """The text of an error, without what is beyond a page of it."""
    return text if len(text) <= LONGEST_ERROR else f"{text[:LONGEST_ERROR]}…"


def validate(output):
    """ValidationError for what is no output of a notebook.

    A cell can send thousands in a moment, and the validator that nbformat uses by itself takes a millisecond for each.
    """
    cell = {"cell_type": "code", "id": "cell", "metadata": {}, "source": "", "execution_count": None}
    notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**cell, "outputs": [output]}]}
    get_validator(4, 5, name="fastjsonschema").validate(notebook)


def read(message):
    """The output that ``message`` carries, or None where a notebook with it could not be written and read."""
    try:
        kind, content = message["header"]["msg_type"], message["content"]
        output = from_dict({"output_type": kind, **{name: content[name] for name in SHOWN[kind]}})
        validate(output)
        json.dumps(output, ensure_ascii=False).encode("utf-8")
    except (ValidationError, UnicodeEncodeError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if output.output_type == "error" and sum(map(len, output.traceback)) + len(output.evalue) > 2 * LONGEST_ERROR:
        return error_output(shortened(output.ename), output.evalue)
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
        # An error's text is shortened, so one that holds a large array is no flood; many are.
        self.received += min(size, self.limit) if kind == "error" else size
        if self.cut and kind == "stream" and room > 0 and (len(self.kept) < MOST or self.goes_on(content)):
            content["text"] = content["text"][:room]
        elif self.cut and (kind != "error" or self.has_error()):
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
        if kind == "stream" and self.goes_on(output):
            self.kept[-1].text += output.text
        else:
            self.kept.append(output)

    def goes_on(self, stream):
        """Whether what is printed goes on where the last output of the cell ends."""
        last = self.kept[-1] if self.kept else {}
        return last.get("output_type") == "stream" and last["name"] == stream["name"]

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

    def leave_out(self):
        """Keep errors alone."""
        self.kept = [output for output in self.kept if output.output_type == "error"]

    def has_error(self):
        return any(output.output_type == "error" for output in self.kept)
