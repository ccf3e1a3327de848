"""How long a key press on a slider takes to become new pixels, in a real browser."""

import statistics
from typing import NamedTuple

from playwright.sync_api import TimeoutError as PlaywrightTimeout

# Counts a picture as new when an element with svg or img is put into the page, and as on the screen in
# the task after the next frame: that is after layout and paint. An <img> must have been decoded by then.
WATCH = """() => {
    const watch = window.pixelWatch = {pressed: null, seen: []};
    const painted = () => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => {
            if (watch.pressed !== null) watch.seen.push(performance.now() - watch.pressed);
            watch.pressed = null;
        };
        channel.port2.postMessage(null);
    });
    document.addEventListener("keydown", event => { watch.pressed = event.timeStamp; }, true);
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
    """Milliseconds from a key press to new pixels, over many presses."""

    median: float
    high: float  # 95th percentile
    worst: float
    lost: int  # presses without new pixels in two seconds


def measure(notebook, slider, presses):
    """Latency of arrow keys on the slider with this index, back and forth over ten steps."""
    page = notebook.page
    page.evaluate(WATCH)
    page.locator(".noUi-handle").nth(slider).focus()
    lost = 0
    for i in range(presses):
        before = page.evaluate("pixelWatch.seen.length")
        page.keyboard.press("ArrowLeft" if i // 10 % 2 == 0 else "ArrowRight")
        try:
            page.wait_for_function("count => pixelWatch.seen.length > count", arg=before, timeout=2000, polling=20)
        except PlaywrightTimeout:
            lost += 1
        page.wait_for_timeout(100)  # a learner looks; and what the kernel sends after the picture has arrived
    return summarise(page.evaluate("pixelWatch.seen"), lost)


def summarise(milliseconds, lost=0):
    cuts = statistics.quantiles(milliseconds, n=20, method="inclusive")
    return Latency(statistics.median(milliseconds), cuts[-1], max(milliseconds), lost)
