"""How long a key press on a slider takes to become new pixels, in a real browser."""

import math
from typing import NamedTuple

import numpy as np
from playwright.sync_api import TimeoutError as PlaywrightTimeout

# Counts a picture as new when an element with svg or img is put into the page, and as on the screen in
# the task after the next frame: that is after layout and paint. An <img> must have been decoded by then.
WATCH = """() => {
    const watch = window.pixelWatch = {pressed: null, last_press: 0, last: 0, seen: []};
    const painted = () => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
            watch.last = performance.now();
            if (watch.pressed !== null) watch.seen.push(watch.last - watch.pressed);
            watch.pressed = null;
        };
        channel.port2.postMessage(null);
    });
    document.addEventListener("keydown", event => { watch.pressed = watch.last_press = event.timeStamp; }, true);
    new MutationObserver(records => {
        for (const record of records) for (const node of record.addedNodes) {
            if (node.nodeType !== 1) continue;
            const pictures = node.matches("svg, img") ? [node] : [...node.querySelectorAll("svg, img")];
            const image = pictures.find(picture => picture.tagName === "IMG");
            if (image) { image.decode().then(painted, painted); return; }
            if (pictures.length) { painted(); return; }
        }
    }).observe(document.querySelector(".jp-Notebook"), {childList: true, subtree: true});
}"""


class Latency(NamedTuple):
    """Milliseconds from a key press to new pixels, over many presses, of which the first is one; NaN without any."""

    first: float  # the first press after opening, which pays for whatever is made late
    median: float
    high: float  # 95th percentile
    worst: float
    lost: int  # presses without new pixels in two seconds
    settled: float  # from the last key press of a burst of sixty to the last new pixels


def measure(notebook, slider, presses, steps):
    """Latency of arrow keys on the slider with this index, back and forth over so many steps."""
    page = notebook.page
    page.evaluate(WATCH)
    page.locator(".noUi-handle").nth(slider).focus()
    lost = 0
    for i in range(presses):
        before = page.evaluate("pixelWatch.seen.length")
        page.keyboard.press("ArrowLeft" if i // steps % 2 == 0 else "ArrowRight")
        try:
            page.wait_for_function("count => pixelWatch.seen.length > count", arg=before, timeout=2000, polling=20)
        except PlaywrightTimeout:
            lost += 1
        page.wait_for_timeout(100)  # a learner looks; and what the kernel sends after the picture has arrived
    return summarise(page.evaluate("pixelWatch.seen"), lost, burst(page, steps))


def burst(page, steps, moves=60):
    """Milliseconds from the last of many key presses in a row to the last new pixels."""
    page.evaluate("() => { pixelWatch.last = 0; }")
    for i in range(moves):
        page.keyboard.press("ArrowLeft" if i // steps % 2 == 0 else "ArrowRight")
    pressed = page.evaluate("pixelWatch.last_press")
    page.wait_for_timeout(1500)
    return max(0.0, page.evaluate("pixelWatch.last") - pressed)


def summarise(milliseconds, lost, settled):
    """The Latency of presses that took so many milliseconds each."""
    if not milliseconds:
        return Latency(*[math.nan] * 4, lost, settled)
    median, high = np.percentile(milliseconds, [50, 95])
    return Latency(milliseconds[0], float(median), float(high), max(milliseconds), lost, settled)
