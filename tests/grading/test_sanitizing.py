"""What a student wrote or displayed is shown in a page and runs nothing there."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config

from course.grading.sanitizing import SanitizeAnswers
from course.live import head_splitter
from tests.judging.lesson import ROOT


@pytest.fixture
def shown():
    """The page of a notebook of cells, made by nbconvert's own exporter as nbgrader_config.py sets it up."""
    namespace = {"get_config": Config}
    text = (ROOT / "nbgrader_config.py").read_text(encoding="utf-8")
    exec(text, namespace)

    def make(*cells):
        exporter = HTMLExporter(config=namespace["c"], template_name="classic")  # on which nbgrader's pages are built
        html, _ = exporter.from_notebook_node(new_notebook(cells=[*cells]))
        return BeautifulSoup(html, "html.parser")

    return make


def test_scripts_do_not_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    html = "<b>fine</b><script>alert(1)</script><img src=x onerror=alert(2)>"
    outputs = [
        new_output("display_data", data={"text/html": html, "application/javascript": "alert(3)", "text/plain": "x"}),
        new_output("display_data", data={"image/svg+xml": "<svg onload=alert(4)/>", "text/plain": "y"}),
    ]
    notebook = new_notebook(cells=[new_code_cell("", outputs=outputs), new_markdown_cell(html)])
    SanitizeAnswers().preprocess(notebook, {})
    text = nbformat.writes(notebook)
    assert "<script" not in text
    assert "onerror" not in text
    assert "alert(3)" not in text
    assert "alert(4)" not in text
    assert "<b>fine</b>" in text


@pytest.mark.parametrize(
    "about", [{"nbgrader": {"assignment": "a", "notebook": "b"}}, {"assignment_id": "a", "notebook_id": "b"}]
)
def test_text_of_the_release_is_left_as_it_is(tmp_path, monkeypatch, about):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "release" / "a"
    folder.mkdir(parents=True)
    nbformat.write(new_notebook(cells=[new_markdown_cell("`a < b`")]), folder / "b.ipynb")
    notebook = new_notebook(cells=[new_markdown_cell("`a < b`"), new_markdown_cell("`a < c`")])
    SanitizeAnswers().preprocess(notebook, about)
    assert [cell.source for cell in notebook.cells] == ["`a < b`", "`a &lt; c`"]


def test_pictures_in_the_page_stay_and_other_data_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    picture = '<img alt="map" src="data:image/png;base64,iVBORw0KGgo=">'
    other = (
        '<img src="data:image/svg+xml;base64,PHN2Zz4="><a href="data:text/html,x">y</a><p style="position: fixed">z</p>'
    )
    shown = new_output("display_data", data={"text/html": picture + other, "text/plain": "x"})
    notebook = new_notebook(cells=[new_code_cell("", outputs=[shown])])
    SanitizeAnswers()(notebook, {})
    html = BeautifulSoup(notebook.cells[0].outputs[0].data["text/html"], "html.parser")
    assert [image.get("src") for image in html.find_all("img")] == ["data:image/png;base64,iVBORw0KGgo=", None]
    assert html.a.get("href") is None and "position" not in html.p.get("style", "")


def looks(html):
    """Names of the properties in all styles, in their order."""
    styles = ";".join(re.findall(r'style="([^"]*)"', html))
    return [name for name in re.findall(r"([\w-]+) *:", styles) if not name.startswith("margin")]


def test_explorers_keep_their_looks(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with_warning = head_splitter.explore(num_heads=3, d_model=32)
    given = with_warning._repr_mimebundle_()["text/html"]
    notebook = new_notebook(cells=[new_code_cell("", outputs=[new_output("display_data", data={"text/html": given})])])
    SanitizeAnswers()(notebook, {})
    assert looks(notebook.cells[0].outputs[0].data["text/html"]) == looks(given)
    assert {"border-left", "max-width", "gap"} <= set(looks(given))


@pytest.mark.parametrize("kind", ["image/png", "image/jpeg"])
@pytest.mark.parametrize("name", ["width", "height"])
def test_a_size_that_is_no_number_reaches_no_tag(shown, kind, name):
    bad = {name: "1 onerror=alert(1)"}
    metadata = {kind: bad, **bad, "alt": 'a map" onerror="alert(2)', "filenames": {kind: "x"}}
    output = new_output("display_data", data={kind: "AAAA"}, metadata=metadata)
    image = shown(new_code_cell("1", outputs=[output])).find("img")
    assert image.attrs == {"src": f"data:{kind};base64,AAAA", "alt": 'a map" onerror="alert(2)'}


def test_a_size_and_a_description_of_a_picture_stay(shown):
    output = new_output("display_data", data={"image/png": "AAAA"}, metadata={"image/png": {"width": 40}, "alt": "map"})
    image = shown(new_code_cell("1", outputs=[output])).find("img")
    assert (image["width"], image["alt"]) == ("40", "map")


@pytest.mark.parametrize("where", ["a cell", "an output"])
@pytest.mark.parametrize("link", ["[x](javascript:alert(1))", "[x](java&#115;cript:alert(1))", "[x](data:text/html,y)"])
def test_a_link_of_markdown_runs_nothing(shown, where, link):
    text = f"{link} [fine](https://example.org)"
    output = new_output("display_data", data={"text/markdown": text})
    cell = new_markdown_cell(text) if where == "a cell" else new_code_cell("1", outputs=[output])
    links = {tag.get_text(): tag["href"] for tag in shown(cell).find_all("a")}
    assert links["x"] == "#" and links["fine"] == "https://example.org"
