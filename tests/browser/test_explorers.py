"""The explorers in a real JupyterLab: keyboard, drag, pixels, accessibility, themes, widths, no network."""

import ast
import base64
import importlib
import io
import re

import pytest
from PIL import Image
from playwright.sync_api import expect

from course.live import EXPLORERS

ARGUMENTS = {"head_splitter": "num_heads=8, seq_len=32, d_model=128", "reveal": "revealed=True"}
CONTROLS = {"slider", "spinbutton", "combobox", "checkbox", "textbox", "button", "radio", "listbox"}


def cells():
    """A cell with pyplot, which must freeze nothing, and one for each explorer."""
    start = ["%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([0, 1]);"]
    return start + [
        f"from course.live import {name}\nexplorer_{name} = {name}.explore({ARGUMENTS.get(name, '')})\nexplorer_{name}"
        for name in EXPLORERS
    ]


@pytest.fixture(scope="module")
def notebook(open_notebook):
    """All explorers in one notebook, run."""
    opened = open_notebook(cells())
    opened.run_all()
    opened.page.wait_for_function(
        "count => document.querySelectorAll('.jupyter-widgets [role=status]').length === count", arg=len(EXPLORERS)
    )
    return opened


@pytest.fixture(params=EXPLORERS)
def explorer(notebook, request):
    """The output area of one explorer, scrolled into view."""
    return Shown(notebook, request.param)


class Shown:
    """One explorer in the page."""

    def __init__(self, notebook, name):
        self.name, self.page, self.notebook = name, notebook.page, notebook
        cell = notebook.page.locator(".jp-CodeCell").nth(1 + EXPLORERS.index(name))
        self.outputs = cell.locator(".jp-OutputArea-child")
        self.box = cell.locator(".widget-vbox").first
        self.box.scroll_into_view_if_needed()

    @property
    def picture(self):
        return self.box.locator(".widget-html").nth(1)  # the first is the status

    def slider(self, index=0):
        return self.box.locator(".noUi-handle").nth(index)

    def number(self, index=0):
        return self.box.locator("input[type=number]").nth(index)

    def pixels(self):
        return self.picture.screenshot()

    def markup(self):
        return self.picture.inner_html()

    def after(self, act):
        """The markup of the picture once ``act`` has changed it."""
        before = self.markup()
        act()
        self.page.wait_for_function(
            "([element, before]) => element.innerHTML !== before",
            arg=[self.picture.element_handle(), before],
            timeout=10_000,
        )
        return self.markup()


def test_the_keyboard_moves_a_slider_and_the_pixels_change(explorer):
    before, markup, number = explorer.pixels(), explorer.markup(), explorer.number().input_value()
    explorer.slider().focus()
    explorer.after(lambda: explorer.page.keyboard.press("ArrowLeft"))
    explorer.notebook.wait_idle()
    assert explorer.number().input_value() != number
    assert explorer.pixels() != before
    assert explorer.after(lambda: explorer.page.keyboard.press("ArrowRight")) == markup


def test_dragging_moves_a_slider_and_the_pixels_change(explorer):
    before = explorer.pixels()
    explorer.slider().hover()
    box = explorer.slider().bounding_box()
    explorer.page.mouse.down()
    explorer.after(
        lambda: explorer.page.mouse.move(box["x"] + box["width"] / 2 + 35, box["y"] + box["height"] / 2, steps=8)
    )
    explorer.page.mouse.up()
    explorer.notebook.wait_idle()
    assert explorer.pixels() != before


def test_the_first_picture_stands_still_while_a_slider_passes(explorer):
    def place():
        explorer.notebook.wait_idle()
        script = "svg => [svg, svg.closest('.widget-html')].map(e => e.getBoundingClientRect()).map(r => [r.x, r.y])"
        (x, y), (left, top) = explorer.picture.locator("svg").first.evaluate(script)
        return round(x - left), round(y - top)

    for slider, number in zip(explorer.box.locator(".noUi-handle").all(), numbers_of(explorer), strict=True):
        before, places = number.input_value(), set()
        slider.focus()
        for key in ("Home", "ArrowRight", "ArrowRight", "End"):
            explorer.page.keyboard.press(key)
            explorer.page.wait_for_timeout(100)
            places.add(place())
        number.fill(before)
        explorer.page.keyboard.press("Enter")
        assert len(places) == 1, f"the picture jumps between {places}"


def numbers_of(shown):
    """The number boxes that stand beside a slider."""
    return shown.box.locator(".widget-hbox:has(> .widget-slider) input[type=number]").all()


def test_typing_into_the_number_box_moves_the_slider(explorer):
    explorer.number().fill("2")
    explorer.after(lambda: explorer.page.keyboard.press("Enter"))
    explorer.page.wait_for_function(
        "handle => Number(handle.getAttribute('aria-valuenow')) === 2", arg=explorer.slider().element_handle()
    )


def test_every_control_has_a_name_or_a_named_twin(explorer):
    """A slider of ipywidgets cannot be named; the number box in front of it has its name and its value."""
    lines = [line.strip(" -'") for line in explorer.box.aria_snapshot().splitlines()]
    controls = [line for line in lines if re.match(r"\w+", line) and re.match(r"\w+", line)[0] in CONTROLS]
    assert any(line.startswith("spinbutton") for line in controls)
    for before, line in zip([None, *controls], controls, strict=False):
        if line.startswith("slider"):
            assert before.startswith('spinbutton "'), f"{line!r} follows {before!r}"
        else:
            assert re.match(r'\w+ "[^"]+"', line), f"{line!r} has no name"


def test_the_keyboard_alone_moves_every_dropdown_tick_and_number(explorer):
    press = explorer.page.keyboard.press
    for dropdown in explorer.box.locator("select").all():
        dropdown.focus()
        press("Home")
        first = dropdown.input_value()
        press("End")
        expect(dropdown).not_to_have_value(first)
        press("Home")
        expect(dropdown).to_have_value(first)
    for tick in explorer.box.locator("input[type=checkbox]").all():
        before = tick.is_checked()
        tick.focus()
        press("Space")
        expect(tick).to_be_checked(checked=not before)
        press("Space")
        expect(tick).to_be_checked(checked=before)
    for number in explorer.box.locator("input[type=number]").all():
        before = number.input_value()
        number.focus()
        press("ArrowDown" if float(before) > float(number.get_attribute("min")) else "ArrowUp")
        expect(number).not_to_have_value(before)
        number.fill(before)
        press("Enter")


def test_every_picture_has_alternative_text(explorer):
    pictures = explorer.picture.locator("svg")
    assert pictures.count() >= 1
    for i in range(pictures.count()):
        assert pictures.nth(i).get_attribute("role") == "img"
        assert len(pictures.nth(i).get_attribute("aria-label")) > 10


def test_changes_are_announced_politely(explorer):
    status = explorer.box.locator("[role=status]")
    assert status.get_attribute("aria-live") == "polite"
    assert status.text_content().strip()


def test_tab_reaches_every_control(explorer):
    wanted = explorer.box.locator(".noUi-handle, input, select").count()
    explorer.number().focus()
    reached = 1
    for _ in range(wanted + 3):
        explorer.page.keyboard.press("Tab")
        if not explorer.box.evaluate("box => box.contains(document.activeElement)"):
            break
        reached += 1
    assert reached == wanted


def test_one_output_for_ever(explorer):
    explorer.slider().focus()
    for key in 6 * ("ArrowLeft", "ArrowRight"):
        explorer.after(lambda key=key: explorer.page.keyboard.press(key))
    assert explorer.outputs.count() == 1


def test_a_burst_of_sixty_moves_settles_on_the_last(explorer):
    explorer.slider().focus()
    explorer.after(lambda: burst(explorer.page))
    explorer.page.wait_for_timeout(300)
    explorer.notebook.wait_idle()
    value = float(explorer.slider().get_attribute("aria-valuenow"))
    expect(explorer.number()).to_have_value(f"{value:g}")
    name = importlib.import_module(f"course.live.{explorer.name}").PARAMETERS[0].name
    kernel = explorer.notebook.run_code
    assert float(kernel(f"print(explorer_{explorer.name}.parameters[{name!r}])")) == value
    kernels = kernel(f"print([panel.alt for panel in explorer_{explorer.name}.frame.panels])")
    pictures = explorer.picture.locator("svg").all()
    assert ast.literal_eval(kernels) == [picture.get_attribute("aria-label") for picture in pictures]


def burst(page):
    """Sixty-one arrow keys as fast as they go; an odd number, so that the slider ends elsewhere."""
    for i in range(61):
        page.keyboard.press("ArrowLeft" if i % 2 else "ArrowRight")


def test_no_frame_of_a_burst_is_blank(notebook):
    """Chromium's own record of the frames that it showed, where the middle of one head's map stands."""
    shown = Shown(notebook, "head_splitter")
    notebook.run_code("explorer_head_splitter.set(num_heads=8, seq_len=32, d_model=128)")
    expect(shown.number(1)).to_have_value("32")
    shown.slider(1).focus()
    head = shown.picture.locator("image").nth(1)  # the first is the colour scale
    head.scroll_into_view_if_needed()
    box = head.bounding_box()
    session, frames = shown.page.context.new_cdp_session(shown.page), []

    def keep(event):
        frames.append(event["data"])
        session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    session.on("Page.screencastFrame", keep)
    session.send("Page.startScreencast", {"format": "png", "everyNthFrame": 1})
    burst(shown.page)
    shown.page.wait_for_timeout(500)
    session.send("Page.stopScreencast")
    middles = [middle(frame, box, shown.page.viewport_size["width"]) for frame in frames]
    assert len(set(middles)) > 1
    assert all(len(set(pixels)) > 3 for pixels in middles), "a frame of one colour was shown"


def middle(frame, box, width):
    """The pixels of the middle of ``box`` in a frame, which may be smaller than the page that it shows."""
    image = Image.open(io.BytesIO(base64.b64decode(frame))).convert("RGB")
    scale = image.width / width
    left, top = (box["x"] + box["width"] / 4) * scale, (box["y"] + box["height"] / 4) * scale
    right, bottom = left + box["width"] / 2 * scale, top + box["height"] / 2 * scale
    pixels = image.crop((round(left), round(top), round(right), round(bottom)))
    return tuple(pixels.get_flattened_data())


def test_two_hundred_updates_keep_the_kernels_memory_in_bounds(notebook):
    measure = "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    before = int(notebook.run_code(measure))
    shown = Shown(notebook, "head_splitter")
    shown.slider(1).focus()
    for i in range(200):
        shown.page.keyboard.press("ArrowLeft" if i // 20 % 2 else "ArrowRight")
    notebook.page.wait_for_timeout(300)
    notebook.wait_idle()
    assert int(notebook.run_code(measure)) - before < 50 * 1024  # kilobytes


def test_a_head_count_that_does_not_divide_is_explained_and_left_again(notebook):
    shown = Shown(notebook, "head_splitter")
    status = shown.box.locator("[role=status]")
    notebook.run_code("explorer_head_splitter.set(num_heads=4, seq_len=9, d_model=32)")
    expect(shown.number()).to_have_value("4")
    shown.slider().focus()
    shown.page.keyboard.press("ArrowLeft")
    expect(status).to_contain_text("d_model 32 is not a multiple of num_heads 3")
    shown.page.keyboard.press("ArrowLeft")
    expect(status).to_contain_text("cut into 2 heads")
    expect(status).not_to_contain_text("not a multiple")


def test_callbacks_work_while_gradients_are_on_and_pyplot_is_inline(notebook):
    assert notebook.run_code("import torch; print(torch.is_grad_enabled(), plt.get_backend())").startswith("True")
    shown = Shown(notebook, "mask_bench")
    shown.slider().focus()
    shown.after(lambda: shown.page.keyboard.press("ArrowRight"))


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
@pytest.mark.parametrize("width", [1280, 800, 640])  # the last is a page of 1280 enlarged to 200 %
def test_it_fits_the_page_and_reads_in_both_themes(notebook, screenshots, width, theme):
    notebook.page.set_viewport_size({"width": width, "height": 1900})
    notebook.set_theme(theme)
    for name in EXPLORERS:
        shown = Shown(notebook, name)
        shown.box.screenshot(path=screenshots / f"{name}_{width}_{theme.split()[1].lower()}.png")
        overflow = shown.box.evaluate("box => box.scrollWidth - box.clientWidth")
        assert overflow <= 1, f"{name} is {overflow} pixels too wide"
        cut = shown.box.evaluate(
            """box => [...box.querySelectorAll("input, select, .noUi-target")].filter(
                control => control.getBoundingClientRect().right > box.getBoundingClientRect().right + 1).length"""
        )
        assert cut == 0, f"{name} has {cut} controls that end outside of it"
        clipped = shown.box.evaluate(
            """box => [...box.querySelectorAll("p, th, td")].filter(
                text => text.scrollWidth > text.clientWidth + 1
                    || text.getBoundingClientRect().right > box.getBoundingClientRect().right + 1
            ).map(text => text.textContent)"""
        )
        assert clipped == [], f"{name} has text that ends outside of it"
        assert contrast(shown) >= 4.5, name
        narrowest = shown.box.locator("input[type=number]").evaluate_all(
            "all => Math.min(...all.map(i => i.clientWidth))"
        )
        assert narrowest >= 50, f"{name} has a number box with no room for its digits"


def test_no_console_error_and_nothing_from_the_network(notebook):
    """Stands after the others: it judges all that they did."""
    assert notebook.errors == []
    assert notebook.outside == []


def contrast(shown):
    """Contrast of the picture's text with the page behind it (WCAG 2.1)."""
    colours = shown.picture.evaluate(
        """picture => {
            let behind = picture;
            const see = element => getComputedStyle(element).backgroundColor;
            const hollow = element => /rgba\\(.*, 0\\)|transparent/.test(see(element));
            while (behind.parentElement && hollow(behind)) behind = behind.parentElement;
            return [getComputedStyle(picture.querySelector("text")).fill, see(behind)];
        }"""
    )
    dark, light = sorted(map(luminance, colours))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    """Relative luminance of a CSS colour, rgb(…) or rgba(…)."""
    parts = [float(part) / 255 for part in colour.split("(")[1].rstrip(")").split(",")[:3]]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
