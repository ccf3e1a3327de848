"""What an archive may do to the machine: nothing. Each danger ends in one sentence."""

import io
import os
import tarfile
import zipfile

import pytest

from course.grading.collect import archive


class Counter:
    """A progress that remembers what it was told."""

    def __init__(self, total, unit):
        self.total, self.unit, self.count = total, unit, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def done(self):
        self.count += 1


def zip_of(path, files, **kwargs):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name, data in files.items():
            target.writestr(name, data, **kwargs)
    return path


def tar_of(path, *members):
    with tarfile.open(path, "w:gz") as target:
        for info, data in members:
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))
    return path


def tar_member(name, kind=tarfile.REGTYPE, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


@pytest.fixture
def read(tmp_path):
    """read(path) -> (paths of the entries, refusals); checks that nothing appears outside the scratch folder."""

    def run(path):
        scratch = tmp_path / "scratch"
        scratch.mkdir(exist_ok=True)
        before = {p for p in tmp_path.rglob("*") if scratch not in p.parents}
        try:
            entries, refusals = archive.read(path, scratch, Counter)
        finally:
            assert {p for p in tmp_path.rglob("*") if scratch not in p.parents} == before
        return [entry.path for entry in entries], refusals

    return run


@pytest.mark.parametrize(
    "name", ["../evil.ipynb", "/etc/evil.ipynb", "a/../../evil.ipynb", "C:\\evil.ipynb", "..\\x.ipynb"]
)
@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_a_path_that_leads_out_is_refused(name, kind, read, tmp_path):
    if kind == "zip":
        path = zip_of(tmp_path / "x.zip", {"good.ipynb": b"{}", name: b"{}"})
    else:
        path = tar_of(tmp_path / "x.tgz", (tar_member("good.ipynb"), b"{}"), (tar_member(name), b"{}"))
    with pytest.raises(archive.Refused, match="leads out of its folder"):
        read(path)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(kind, read, tmp_path):
    with pytest.raises(archive.Refused, match="link or special file"):
        read(tar_of(tmp_path / "x.tar.gz", (tar_member("a.ipynb", kind, "/etc/passwd"), b"")))


def test_a_link_in_a_zip_is_refused(read, tmp_path):
    info = zipfile.ZipInfo("a.ipynb")
    info.external_attr = 0o120777 << 16
    with pytest.raises(archive.Refused, match="link or special file"):
        read(zip_of(tmp_path / "x.zip", {info: b"/etc/passwd"}))


def test_a_link_in_a_folder_is_left_out(read, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "good.ipynb").write_text("{}")
    (folder / "bad.ipynb").symlink_to("/etc/passwd")
    paths, refusals = read(folder)
    assert paths == ["good.ipynb"]
    assert [refusal.path for refusal in refusals] == ["bad.ipynb"]


def test_a_bomb_is_refused_while_it_unpacks(read, tmp_path):
    with pytest.raises(archive.Refused, match="archive bomb"):
        read(zip_of(tmp_path / "bomb.zip", {f"{n}.ipynb": bytes(30 * 2**20) for n in range(4)}))


def test_a_bomb_that_lies_about_its_size_is_counted_all_the_same(read, tmp_path):
    path = zip_of(tmp_path / "bomb.zip", {"a.ipynb": bytes(60 * 2**20)})
    data = path.read_bytes()
    path.write_bytes(data.replace((60 * 2**20).to_bytes(4, "little"), (100).to_bytes(4, "little")))
    with pytest.raises(archive.Refused):
        read(path)


def test_too_many_files_are_refused(read, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_ENTRIES", 10)
    with pytest.raises(archive.Refused, match="more than 10 files"):
        read(zip_of(tmp_path / "x.zip", {f"{n}.txt": b"" for n in range(11)}))


def test_a_students_own_bomb_costs_only_that_student(read, tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w", zipfile.ZIP_DEFLATED) as target:
        target.writestr("a.ipynb", bytes(40 * 2**20))
    path = zip_of(tmp_path / "class.zip", {"ann/work.zip": inner.getvalue(), "bob/b.ipynb": b"{}"})
    paths, refusals = read(path)
    assert paths == ["bob/b.ipynb"]
    assert [refusal.path for refusal in refusals] == ["ann/work.zip"]
    assert "archive bomb" in refusals[0].reason


def test_archives_in_archives_are_opened_to_a_depth(read, tmp_path):
    data, name = b"{}", "deep.ipynb"
    for level in range(4):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as target:
            target.writestr(name, data)
            target.writestr(f"level{level}.ipynb", b"{}")
        data, name = buffer.getvalue(), f"inner{level}.zip"
    path = tmp_path / "outer.zip"
    path.write_bytes(data)
    paths, refusals = read(path)
    assert paths == ["inner2.zip/inner1.zip/level1.ipynb", "inner2.zip/level2.ipynb", "level3.ipynb"]
    assert "levels deep" in refusals[0].reason


def test_an_encrypted_zip_is_refused(read, tmp_path):
    path = zip_of(tmp_path / "x.zip", {"a.ipynb": b"{}"})
    data = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    path.write_bytes(data)
    with pytest.raises(archive.Refused, match="encrypted"):
        read(path)


@pytest.mark.parametrize("cut", [10, 100])
def test_a_damaged_archive_is_refused(cut, read, tmp_path):
    path = zip_of(tmp_path / "x.zip", {f"{n}.ipynb": bytes(range(256)) for n in range(9)})
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(archive.Refused, match="export it again"):
        read(path)


def test_a_flipped_byte_is_noticed(read, tmp_path):
    path = zip_of(tmp_path / "x.zip", {"a.ipynb": bytes(range(256)) * 50})
    data = bytearray(path.read_bytes())
    data[60] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(archive.Refused, match="damaged"):
        read(path)


def test_names_without_the_unicode_flag_are_still_read(read, tmp_path):
    path = zip_of(tmp_path / "x.zip", {"Joerg_.ipynb": b"{}"})
    path.write_bytes(path.read_bytes().replace(b"Joerg_", "Jörg_".encode()))
    assert read(path)[0] == ["Jörg_.ipynb"]


def test_names_are_told_in_one_spelling(read, tmp_path):
    assert read(zip_of(tmp_path / "x.zip", {"Jo\u0308rg\\work.ipynb": b"{}"}))[0] == ["J\u00f6rg/work.ipynb"]


def test_a_link_to_an_archive_is_not_followed(read, tmp_path):
    (tmp_path / "link.zip").symlink_to(zip_of(tmp_path / "x.zip", {"a.ipynb": b"{}"}))
    with pytest.raises(archive.Refused, match=r"link\.zip is a link"):
        read(tmp_path / "link.zip")


@pytest.mark.parametrize("kind", ["zip", "folder"])
def test_a_file_that_is_too_large_is_left_out_alone(kind, read, tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_FILE", 1000)
    files = {"large.ipynb": bytes(1001), "small.ipynb": bytes(1000)}
    if kind == "zip":
        path = zip_of(tmp_path / "x.zip", files)
    else:
        path = tmp_path / "folder"
        path.mkdir()
        for name, data in files.items():
            (path / name).write_bytes(data)
        with pytest.raises(archive.Refused, match=r"large\.ipynb is larger than"):
            read(path / "large.ipynb")
    paths, [refusal] = read(path)
    assert (paths, refusal.path) == (["small.ipynb"], "large.ipynb")
    assert refusal.reason.startswith("is larger than")


def test_litter_and_other_files_are_passed_over(read, tmp_path):
    names = ["__MACOSX/._a.ipynb", "a/.ipynb_checkpoints/a-checkpoint.ipynb", ".DS_Store", "a/a.ipynb"]
    assert read(zip_of(tmp_path / "x.zip", dict.fromkeys(names, b"{}")))[0] == ["a/a.ipynb"]


def test_a_rar_is_named(read, tmp_path):
    assert read(zip_of(tmp_path / "x.zip", {"ann/work.rar": b"Rar!"}))[1][0].path == "ann/work.rar"


@pytest.mark.parametrize("kind", ["zip", "tar"])
def test_unpacking_shows_how_much_of_a_large_archive_is_read(kind, tmp_path):
    files = {f"{number}.ipynb": os.urandom(700_000) for number in range(9)}
    if kind == "zip":
        path = zip_of(tmp_path / "x.zip", files)
    else:
        path = tar_of(tmp_path / "x.tgz", *((tar_member(name), data) for name, data in files.items()))
    (tmp_path / "scratch").mkdir()
    shown = []
    archive.read(path, tmp_path / "scratch", lambda *asked: shown.append(Counter(*asked)) or shown[-1])
    assert [(bar.total, bar.unit) for bar in shown] == [(path.stat().st_size // 2**20, "MB unpacked")]
    assert shown[0].total >= 5
    assert shown[0].count in (shown[0].total - 1, shown[0].total)


def test_an_empty_file_is_called_so(read, tmp_path):
    (tmp_path / "x.zip").touch()
    with pytest.raises(archive.Refused, match=r"x\.zip is empty; download it again"):
        read(tmp_path / "x.zip")
