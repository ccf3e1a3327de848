"""The files inside an archive, copied out one by one under numbers of our own.

No file is ever written under the name that the archive gives it, so ``../x`` or a link has nowhere to lead;
such names are refused all the same, because no learning platform makes one. Sizes are counted while reading:
what a header claims is not believed.
"""

import dataclasses
import io
import itertools
import lzma
import os
import stat
import tarfile
import unicodedata
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import NamedTuple

MEGABYTE = 2**20
MAX_FILE = 100 * MEGABYTE  # nbgrader leaves out larger files too (CourseDirectory.max_file_size)
MAX_TOTAL = 8192 * MEGABYTE  # a thousand notebooks of 8 MB
MAX_NESTED = 512 * MEGABYTE  # a student's own archive
MAX_RATIO = 200  # notebooks full of repeated output shrink about fiftyfold
RATIO_FREE = 20 * MEGABYTE  # a small file may shrink as far as it likes
MAX_ENTRIES = 50_000
MAX_DEPTH = 3  # the platform's archive, a student's archive in it, an archive in that
ARCHIVE_SUFFIXES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz")
FOREIGN_SUFFIXES = (".rar", ".7z", ".zipx")
KEPT_SUFFIXES = (".ipynb", ".txt", ".yml")  # what the layouts read; other files are known by name only
LITTER = {"__MACOSX", ".ipynb_checkpoints", ".DS_Store", "Thumbs.db", "desktop.ini", "__pycache__"}
DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, ValueError)


class Refused(Exception):
    """Why an archive, or a file in it, is not read: one sentence."""


class Entry(NamedTuple):
    """One file: its path inside the archive (POSIX, NFC) and where its bytes are, None for kinds never read."""

    path: str
    file: Path | None = None


class Refusal(NamedTuple):
    """A file that was left out, and why: a sentence that starts with the path."""

    path: str
    reason: str


@dataclasses.dataclass
class Budget:
    """What one archive may unpack to. What is nested in it counts towards both limits, but has a ratio of its own."""

    packed: int
    limit: int = MAX_TOTAL
    parent: "Budget | None" = None
    entries: int = 0
    own: int = 0
    total: int = 0

    def count_entry(self, where):
        if self.parent:
            self.parent.count_entry(where)
        self.entries += 1
        if self.entries > MAX_ENTRIES:
            raise Refused(f"{where} holds more than {MAX_ENTRIES} files, which no class hands in, and was not read.")

    def count_bytes(self, where, amount, *, nested=False):
        self.total += amount
        self.own += 0 if nested else amount
        if self.parent:
            self.parent.count_bytes(where, amount, nested=True)
        if self.spent():
            raise Refused(
                f"{where} unpacks to more than {self.total // MEGABYTE} MB from {max(1, self.packed // 1024)} kB, "
                "as an archive bomb does, and was not read."
            )

    def spent(self):
        swollen = self.own > RATIO_FREE and self.own > MAX_RATIO * self.packed
        return swollen or self.total > self.limit or self.entries > MAX_ENTRIES


def read(path, scratch, show):
    """Entries and refusals of a zip or tar archive, a folder or a single notebook at path.

    Copies go to the empty folder scratch, which the caller removes. ``show(total, unit)`` makes a context with
    ``done()``, for the progress. Raises Refused when the archive as a whole cannot be trusted or read.
    """
    path = Path(path)
    if path.is_symlink():
        raise Refused(f"{path} is a link; name the file that it leads to.")
    copies = (Path(scratch, f"{number:06d}") for number in itertools.count())
    if path.is_dir():
        return _Reader(copies, Budget(MAX_TOTAL)).folder(path)  # nothing is packed, so no ratio is exceeded
    if not path.is_file():
        raise Refused(f"{path} does not exist.")
    packed = path.stat().st_size
    if not packed:
        raise Refused(f"{path} is empty; download it again.")
    if path.suffix.lower() == ".ipynb":
        return _Reader(copies, Budget(packed)).single(path)
    with path.open("rb") as stream, show(packed // MEGABYTE, "MB unpacked") as progress:
        return _Reader(copies, Budget(packed), _follower(stream, progress)).archive(stream, path.name, depth=1)


def _follower(stream, progress):
    """A function that brings the progress to where the stream is, in whole megabytes."""
    passed = 0

    def follow():
        nonlocal passed
        while passed < stream.tell() // MEGABYTE:
            passed += 1
            progress.done()

    return follow


class _Reader:
    def __init__(self, copies, budget, moved=lambda: None):
        self.copies = copies  # an iterator of unused paths
        self.budget = budget
        self.moved = moved  # called whenever another piece has been read

    def single(self, file):
        if file.stat().st_size > MAX_FILE:
            raise Refused(f"{file} is larger than {MAX_FILE // MEGABYTE} MB; clear its outputs and collect it again.")
        return [Entry(unicodedata.normalize("NFC", file.name), file)], []

    def folder(self, root):
        entries, refusals = [], []
        for folder, subfolders, names in os.walk(root):
            subfolders[:] = sorted(name for name in subfolders if name not in LITTER)
            for file in (Path(folder, name) for name in sorted(names)):
                inside = unicodedata.normalize("NFC", file.relative_to(root).as_posix())
                if _is_litter(inside):
                    continue
                self.budget.count_entry(root.name)
                if not stat.S_ISREG(file.lstat().st_mode):
                    refusals.append(Refusal(inside, "is a link or a special file, not a notebook"))
                elif inside.lower().endswith(ARCHIVE_SUFFIXES):
                    with file.open("rb") as stream:
                        self.nested(stream, file.stat().st_size, inside, 2, entries, refusals)
                elif file.stat().st_size > MAX_FILE:
                    refusals.append(Refusal(inside, f"is larger than {MAX_FILE // MEGABYTE} MB"))
                else:
                    entries.append(Entry(inside, file))
        return entries, refusals

    def archive(self, stream, where, depth):
        """Entries and refusals of one open archive; where is what a sentence calls it."""
        members = _zip_members if zipfile.is_zipfile(stream) else _tar_members
        stream.seek(0)
        entries, refusals = [], []
        for name, opened in members(stream, where):
            self.budget.count_entry(where)
            inside = unicodedata.normalize("NFC", name.replace("\\", "/")).removeprefix("./")
            if _is_litter(inside):
                continue
            suffix = inside.lower()
            if suffix.endswith(FOREIGN_SUFFIXES):
                refusals.append(Refusal(inside, "is a kind of archive that is not opened here; ask for the notebook"))
            elif suffix.endswith(ARCHIVE_SUFFIXES):
                inner = io.BytesIO()
                if self.copy(opened, inner, f"{where}: {inside}", refusals, inside):
                    self.nested(inner, inner.tell(), inside, depth + 1, entries, refusals)
            elif suffix.endswith(KEPT_SUFFIXES):
                file = next(self.copies)
                with file.open("wb") as target:
                    whole = self.copy(opened, target, f"{where}: {inside}", refusals, inside)
                if whole:
                    entries.append(Entry(inside, file))
            else:
                entries.append(Entry(inside))
        return entries, refusals

    def nested(self, stream, packed, inside, depth, entries, refusals):
        """Add what a student's own archive holds, under its name; what is wrong with it concerns that student."""
        if depth > MAX_DEPTH:
            refusals.append(Refusal(inside, f"is an archive {depth} levels deep; ask for the notebook itself"))
            return
        try:
            own = _Reader(self.copies, Budget(packed, MAX_NESTED, self.budget), self.moved)
            found, refused = own.archive(stream, inside, depth)
        except Refused as why:
            if self.budget.spent():
                raise
            refusals.append(Refusal(inside, str(why).removeprefix(inside).strip(" :.")))
            return
        entries += [entry._replace(path=f"{inside}/{entry.path}") for entry in found]
        refusals += [refusal._replace(path=f"{inside}/{refusal.path}") for refusal in refused]

    def copy(self, opened, target, where, refusals, inside):
        """Copy one member to target, counting as it comes; False and a refusal when it is too large."""
        size = 0
        try:
            with opened() as stream:
                while piece := stream.read(MEGABYTE):
                    size += len(piece)
                    self.moved()
                    self.budget.count_bytes(where, len(piece))
                    if size > MAX_FILE:
                        refusals.append(Refusal(inside, f"is larger than {MAX_FILE // MEGABYTE} MB"))
                        return False
                    target.write(piece)
        except RuntimeError as error:
            if isinstance(error, NotImplementedError):
                raise Refused(f"{where} is packed in a way that is not read here ({error}).") from error
            raise Refused(f"{where} is encrypted; ask for it without a password.") from error
        except DAMAGE as error:
            raise Refused(f"{where} is damaged ({error}); download or ask for it again.") from error
        return True


def _zip_members(stream, where):
    """(name, opener) of each file in a zip; folders are skipped."""
    try:
        archive = zipfile.ZipFile(stream)
    except DAMAGE as error:
        raise Refused(f"{where} is not a whole zip archive ({error}); download it again.") from error
    for info in archive.infolist():
        name = _decoded(info)
        _check_name(name, where)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if info.is_dir() or kind == stat.S_IFDIR:
            continue
        if kind not in (0, stat.S_IFREG):
            raise Refused(f"{where} holds {name!r}, a link or special file, and was not read.")
        if info.flag_bits & 0x1:
            raise Refused(f"{where} is encrypted; ask for it without a password.")
        yield name, lambda info=info: archive.open(info)


def _decoded(info):
    """The member's name; older tools write UTF-8 without saying so, and zipfile reads it as code page 437."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _tar_members(stream, where):
    """(name, opener) of each file in a tar; folders are skipped."""
    try:
        with tarfile.open(fileobj=stream, mode="r:*") as archive:
            for info in archive:
                _check_name(info.name, where)
                if info.isdir():
                    continue
                if not info.isreg():
                    raise Refused(f"{where} holds {info.name!r}, a link or special file, and was not read.")
                yield info.name, lambda info=info: archive.extractfile(info)
    except DAMAGE as error:
        raise Refused(f"{where} is neither a whole zip nor a whole tar archive; export it again as zip.") from error


def _check_name(name, where):
    """Refuse a name that would lead out of the folder it is unpacked to."""
    path = PurePosixPath(name.replace("\\", "/"))
    drive = len(name) > 1 and name[1] == ":" and name[0].isalpha()
    if path.is_absolute() or drive or ".." in path.parts or "\0" in name:
        raise Refused(f"{where} holds {name!r}, a path that leads out of its folder, and was not read.")


def _is_litter(path):
    parts = PurePosixPath(path).parts
    return not parts or bool(LITTER.intersection(parts)) or parts[-1].startswith("._")
