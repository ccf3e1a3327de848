"""Bytes of a handed-in file -> its cells, with nothing trusted; NotGradable where there are none.

Reads the JSON itself: nbformat's converters stop at the first thing that is not as it should be.
"""

import binascii
import codecs
import json
import re
from base64 import b64decode
from dataclasses import dataclass, field
from typing import Any

from course.grading.intake.python_text import is_python
from course.grading.intake.verdicts import NotGradable, Remark

MOST_CELLS = 2_000
MOST_CODE = 5_000_000  # characters of code in one notebook
MOST_IMAGE_BYTES = 5_000_000  # of one picture pasted into a written answer
OLD_OUTPUT_WORTH_A_WORD = 10_000_000  # bytes
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif")  # no SVG: it can carry scripts
UNSEEN = dict.fromkeys((0, 0xFEFF))  # characters that no program shows and Python refuses
MARKS = (  # longer marks first: UTF-32's begins like UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
FENCED = re.compile(r"\s*```(?:python|py)?\n(.*?)\n?```\s*", re.DOTALL)
HAND_IN = "Ask for the .ipynb file itself"
OTHER_FORMATS = (
    (b"%PDF", "a PDF"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"\x89PNG", "a picture"),
    (b"PK\x03\x04", "a zip archive"),
)


@dataclass(frozen=True)
class Cell:
    """One cell as handed in. ``claims`` is its nbgrader metadata: a hint, never believed."""

    kind: str  # "code", "markdown" or "raw"
    text: str
    claims: dict[str, Any] = field(default_factory=dict)
    answer_to: str = ""
    tags: tuple[str, ...] = ()
    images: dict[str, Any] = field(default_factory=dict)

    @property
    def grade_id(self):
        found = self.claims.get("grade_id")
        return found if isinstance(found, str) and len(found) < 200 and found.isprintable() else ""

    @property
    def code(self):
        """The text as code, also where the cell was turned into Markdown and fenced to look like code."""
        fenced = FENCED.fullmatch(self.text) if self.kind != "code" else None
        return fenced.group(1) if fenced else self.text


@dataclass(frozen=True)
class Handed:
    """The cells of one handed-in notebook, the kernel it names, and what its file needed."""

    cells: tuple[Cell, ...]
    kernel: str = ""
    repairs: tuple[Remark, ...] = ()
    remarks: tuple[Remark, ...] = ()


def read_notebook(data):
    """Handed from the bytes of a notebook of any format version; NotGradable with the reason otherwise."""
    text, repairs = _decode(data)
    content, remarks = _load(text)
    found = _cells_of(content)
    repairs += _about_format(content, found)
    if len(data) > OLD_OUTPUT_WORTH_A_WORD:
        repairs.append(Remark("old output", f"The file has {len(data) / 1e6:.0f} MB; its old output was left out."))
    cells = [_cell(raw) for raw in found if isinstance(raw, dict)]
    if len(cells) < len(found) or None in cells:
        broken = len(found) - len(cells) + cells.count(None)
        remarks.append(Remark("broken cells", f"{broken} cells have no readable text and were left out."))
    cells = tuple(cell for cell in cells if cell is not None)
    if len(cells) > MOST_CELLS:
        raise NotGradable(
            f"The notebook has {len(cells)} cells, more than the {MOST_CELLS} that are read.",
            "Ask for a copy without the extra cells.",
        )
    if sum(len(cell.text) for cell in cells if cell.kind == "code") > MOST_CODE:
        raise NotGradable(
            f"The notebook has more than {MOST_CODE / 1e6:.0f} million characters of code.",
            "Ask for a copy without pasted data.",
        )
    kernel = _dict(_dict(content.get("metadata")).get("kernelspec")).get("name")
    return Handed(cells, kernel if isinstance(kernel, str) else "", tuple(repairs), tuple(remarks))


def _decode(data):
    """Text and the repairs it took; NotGradable for an empty file and for other kinds of file."""
    if not data.strip(b"\0 \t\r\n"):
        raise NotGradable("The file is empty.", f"{HAND_IN}, saved and then downloaded again.")
    for magic, name in OTHER_FORMATS:
        if data.startswith(magic):
            raise NotGradable(f"The file is {name}, not a notebook.", f"{HAND_IN}, not packed and not exported.")
    for mark, encoding in MARKS:
        if data.startswith(mark):
            text = data.decode(encoding, errors="replace")
            return text, [Remark("byte-order mark", f"The file began with a byte-order mark ({encoding}).")]
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
        return text, [Remark("encoding", "Bytes that are not UTF-8 were replaced by the sign �.")]


def _load(text):
    """The JSON object in a text and remarks on it; NotGradable says what the text is instead."""
    text = text.strip("\0 \t\r\n")
    try:
        content, end = json.JSONDecoder(strict=False).raw_decode(text)
    except RecursionError:
        raise NotGradable("The file is nested too deeply to be a notebook.", f"{HAND_IN}.") from None
    except ValueError as error:
        raise _what_it_is(text, error) from None
    remarks = []
    if text[end:].strip():
        remarks.append(Remark("text after the end", "The file goes on after the notebook's end; that was left out."))
    if not isinstance(content, dict):
        raise NotGradable("The file is JSON but not a notebook.", f"{HAND_IN}.")
    return content, remarks


def _what_it_is(text, error):
    """NotGradable that names what a text which is not JSON is most likely to be."""
    if re.search(r"^<{7}( |$)", text, re.MULTILINE) and re.search(r"^>{7}( |$)", text, re.MULTILINE):
        return NotGradable(
            "The file holds the conflict markers of a Git merge (<<<<<<<), so it is not a notebook any more.",
            "Ask the student to resolve the conflict, open the notebook once, and hand it in again.",
        )
    if text[:1] == "<":
        return NotGradable(
            "The file is a web page (HTML), not a notebook.",
            f"{HAND_IN}: on Colab File > Download > Download .ipynb, in Jupyter File > Download.",
        )
    if text[:1] not in "{[":
        export = text.startswith(("#", "import", "from", '"""')) and is_python(text)
        what = "a Python script (.py), without the cells of a notebook" if export else "text, not a notebook"
        return NotGradable(f"The file is {what}.", f"{HAND_IN}: File > Download > Download .ipynb.")
    row = text.count("\n", 0, getattr(error, "pos", 0)) + 1
    if getattr(error, "pos", 0) >= len(text) - 1 or "Unterminated string" in str(error):
        return NotGradable(
            f"The file breaks off in line {row}: it was not saved or uploaded to its end.",
            "Ask for the file again, saved and uploaded anew.",
        )
    return NotGradable(
        f"The file is damaged in line {row} and cannot be read as a notebook.",
        "Ask for the file again: opened, saved and downloaded anew, not edited as text.",
    )


def _cells_of(content):
    """The raw cells of format 4, or of all worksheets of format 3."""
    if isinstance(content.get("cells"), list):
        return content["cells"]
    sheets = content.get("worksheets")
    if isinstance(sheets, list):
        return [cell for sheet in sheets for cell in _list(_dict(sheet).get("cells"))]
    raise NotGradable("The file is JSON but not a notebook: it has no cells.", f"{HAND_IN}.")


def _cell(raw):
    """A Cell from its JSON; None where there is no text."""
    metadata = _dict(raw.get("metadata"))
    text = _text(raw.get("source", raw.get("input")))
    kind = raw.get("cell_type")
    if text is None:
        return None
    if kind == "heading":  # format 3
        level = raw.get("level")
        kind, text = "markdown", "#" * (level if isinstance(level, int) and 0 < level < 7 else 1) + " " + text
    answer_to = _dict(metadata.get("course")).get("answer_to")
    return Cell(
        kind=kind if kind in ("code", "markdown") else "raw",
        text=text,
        claims=_dict(metadata.get("nbgrader")),
        answer_to=answer_to if isinstance(answer_to, str) else "",
        tags=tuple(tag for tag in _list(metadata.get("tags")) if isinstance(tag, str)),
        images=_images(raw.get("attachments")),
    )


def _text(source):
    """The text of a cell's source, a string or a list of strings; None where it is neither."""
    if isinstance(source, list):
        source = "".join(line for line in source if isinstance(line, str))
    if not isinstance(source, str):
        return None
    source = source.replace("\r\n", "\n").replace("\r", "\n").translate(UNSEEN)
    return source.encode("utf-8", errors="replace").decode("utf-8")  # half surrogates cannot be written again


def _images(attachments):
    """Pictures pasted into a Markdown cell; every other kind of attachment is dropped."""
    images = {}
    for name, bundle in _dict(attachments).items():
        for mime, data in _dict(bundle).items():
            data = _text(data)
            if mime in IMAGE_TYPES and data and len(data) <= MOST_IMAGE_BYTES and _is_base64(data):
                images[str(name)] = {mime: data}
    return images


def _is_base64(data):
    try:
        return bool(b64decode("".join(data.split()), validate=True))
    except (binascii.Error, ValueError):
        return False


def _about_format(content, found):
    """Repairs of the format version, ids, metadata, widget state and old output of a notebook."""
    repairs = []
    version = (content.get("nbformat"), content.get("nbformat_minor"))
    if version != (4, 5):
        told = ".".join(str(part) if part in range(100) else "?" for part in version)
        repairs.append(Remark("format", f"Notebook format {told} was read as 4.5."))
    ids = [_dict(cell).get("id") for cell in found]
    ids = [i if isinstance(i, str) else None for i in ids]
    if version == (4, 5) and None in ids:
        repairs.append(Remark("missing ids", f"{ids.count(None)} cells had no id."))
    if len(set(ids) - {None}) < len(ids) - ids.count(None):
        repairs.append(Remark("equal ids", "Several cells had the same id."))
    metadata = _dict(content.get("metadata"))
    if "widgets" in metadata:
        repairs.append(Remark("widget state", "The saved state of the explorers was left out."))
    if "provenance" in _dict(metadata.get("colab")) or any("executionInfo" in _metadata(cell) for cell in found):
        repairs.append(Remark("Colab", "Colab's metadata was left out."))
    if "vscode" in metadata or any("vscode" in _metadata(cell) for cell in found):
        repairs.append(Remark("VS Code", "The metadata of VS Code was left out."))
    return repairs


def _metadata(cell):
    return _dict(_dict(cell).get("metadata"))


def _dict(value):
    return value if isinstance(value, dict) else {}


def _list(value):
    return value if isinstance(value, list) else []
