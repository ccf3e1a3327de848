"""What the README promises is there: lessons with their points, commands, paths."""

import re

import nbformat

from course import commands
from tests.judging.lesson import ROOT, lesson_names

README = (ROOT / "README.md").read_text(encoding="utf-8")
ALL_DOCS = README + "".join(
    path.read_text(encoding="utf-8") for path in [ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]
)


def points(lesson):
    notebook = nbformat.read(ROOT / "source" / lesson / f"{lesson}.ipynb", as_version=4)
    cells = (cell.metadata.get("nbgrader", {}) for cell in notebook.cells)
    return sum(meta.get("points", 0) for meta in cells if meta.get("grade") or meta.get("task"))


def test_every_lesson_stands_in_the_table_with_its_points():
    rows = re.findall(r"^\| \[`(\w+)`\]\((\S+)\) \| .* \| (\d+) \| (\d+) \|$", README, re.MULTILINE)
    assert [name for name, *_ in rows] == lesson_names()
    assert {name: int(total) for name, _, _, total in rows} == {name: points(name) for name in lesson_names()}
    assert all((ROOT / path).is_file() for _, path, _, _ in rows)


def test_every_make_target_exists():
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {target for command in re.findall(r"`make ([a-z -]+)`", ALL_DOCS) for target in command.split()}
    named |= set(re.findall(r"^make ([a-z-]+)", ALL_DOCS, re.MULTILINE))
    assert named <= targets


def test_every_course_command_exists():
    named = set(re.findall(r"(?:^|[`/])course ([a-z]+)(?:`|$| )", ALL_DOCS, re.MULTILINE))
    assert named <= set(commands.course.list_commands(None)) | {"check"}
    assert {"lab", "demo"} <= named


def test_every_path_of_the_tree_exists():
    tree = README.split("## The tree")[1].split("```")[1]
    paths = [line.split()[0] for line in tree.strip().splitlines()]
    assert len(paths) > 8
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_link_to_a_file_leads_somewhere():
    links = [
        (document, *link)
        for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]
        for link in re.findall(r"\]\(([^)#:]*)(?:#([^)]+))?\)", document.read_text(encoding="utf-8"))
    ]
    assert len(links) > 12
    for document, name, anchor in links:
        target = document.parent / name if name else document
        assert target.exists(), f"{document.name}: {name}"
        assert not anchor or anchor in anchors(target), f"{document.name}: {name}#{anchor}"


def anchors(document):
    """The anchors that GitHub gives to the headings of a document."""
    titles = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_prose_keeps_to_a_width():
    for document in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/*.md")]:
        text = re.sub(r"^```.*?^```", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        long = [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")]
        assert long == [], document.name
