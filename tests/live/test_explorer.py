"""What every explorer does, driven without a front end and through its controls."""

import gc
import importlib
import inspect
import pkgutil
import re
import threading
import xml.etree.ElementTree as ElementTree
from html import escape

import psutil
import pytest
import torch

import course.live
from course.live import EXPLORERS, encoding_explorer, head_splitter, order_bench
from course.live.explorer import front_end_listens
from course.live.parameters import Choice, Flag, Whole
from course.live.picture import Text
from course.live.saving import WIDGET_VIEW

pytestmark = [
    pytest.mark.filterwarnings(f"error::{kind}")
    for kind in ("DeprecationWarning", "PendingDeprecationWarning", "FutureWarning", "RuntimeWarning")
]


def extremes(parameter):
    """The smallest and the largest value, or all of a few."""
    if isinstance(parameter, Whole):
        return parameter.low, parameter.high
    if isinstance(parameter, Choice):
        return parameter.options
    return (False, True) if isinstance(parameter, Flag) else (parameter.default,)


def names(svg):
    """The alternative texts of the pictures in a live page."""
    return [element.get("aria-label") for element in ElementTree.fromstring(svg).iter("svg")]


def test_every_module_that_explores_is_listed():
    modules = [name for _, name, _ in pkgutil.iter_modules(course.live.__path__)]
    exploring = [name for name in modules if hasattr(importlib.import_module(f"course.live.{name}"), "explore")]
    assert sorted(EXPLORERS) == sorted(exploring)


def test_explore_takes_a_student_function_first_and_parameters_by_name(module):
    kinds = [parameter.kind for parameter in inspect.signature(module.explore).parameters.values()]
    assert kinds == [inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_KEYWORD]


def test_it_starts_with_a_picture_with_its_text_and_no_problem(module):
    explorer = module.explore()
    assert explorer.problem is None
    assert explorer.summary
    assert names(explorer.svg) == [panel.alt for panel in explorer.frame.panels]
    assert all(names(explorer.svg))


def test_every_extreme_of_every_parameter_gives_a_picture_or_a_sentence(module):
    explorer = module.explore()
    for parameter in module.PARAMETERS:
        for value in extremes(parameter):
            explorer.set(**{parameter.name: value})
            assert explorer.frame.panels, (parameter.name, value)
            assert "failed" not in (explorer.problem or ""), (parameter.name, value)
        explorer.set(**{parameter.name: parameter.default})
    assert explorer.problem is None


def corners(kinds):
    """States with one parameter at an extreme, and with all whole numbers at their lowest and at their highest."""
    whole = [kind for kind in kinds if isinstance(kind, Whole)]
    yield from ({kind.name: value} for kind in kinds for value in extremes(kind))
    yield {kind.name: kind.low for kind in whole}
    yield {kind.name: kind.high for kind in whole}


def test_what_is_said_at_every_extreme_reads_well(module):
    """One is singular, nothing is a negative zero or NaN without a reason, and no text needs an exponent to be read."""
    for state in corners(module.PARAMETERS):
        frame = module.explore(**state).frame
        texts = [mark.text for panel in frame.panels for mark in panel.marks if isinstance(mark, Text)]
        texts += [frame.summary, frame.problem or "", *(panel.alt for panel in frame.panels)]
        texts += [text for row in frame.ledger for text in row]
        for text in texts:
            assert not re.search(r"(?<![\d.,·])1 (?!is\b|has\b|plus\b)[a-z]+s\b", text), (state, text)
            assert not re.search(r"(?<![\w.…])-0(?![.\d])|\de\+", text), (state, text)


def test_what_is_no_function_is_explained_in_the_explorer(module):
    settings = {"revealed": True} if module.__name__.endswith("reveal") else {}
    explorer = module.explore(8, **settings)
    assert explorer.problem.startswith("explore was given 8 as your function")
    assert explorer.frame.panels


def test_what_is_wrong_stands_between_the_controls_and_the_picture(module):
    explorer = module.explore(lambda: None, **({"revealed": True} if module.__name__.endswith("reveal") else {}))
    assert explorer.view.box.children[1:] == (explorer.view.status, explorer.view.picture)
    page = explorer._repr_mimebundle_()["text/html"]
    assert page.index("Your &lt;lambda&gt; raised") < page.index("<img")


def test_a_fault_of_the_explorer_itself_is_a_sentence_and_the_next_move_is_made(module, monkeypatch):
    explorer = module.explore()
    kind = module.PARAMETERS[0]
    with monkeypatch.context() as patch:
        patch.setattr(explorer, "_make_frame", lambda **state: {}["nothing"])
        assert explorer.set(**{kind.name: kind.low}).problem.startswith("This explorer failed with KeyError: 'nothing'")
    assert explorer.set(**{kind.name: kind.default}).problem is None


def test_its_text_names_the_state_and_what_it_shows(module):
    explorer = module.explore()
    assert repr(explorer).startswith(f"{explorer.title}: {module.PARAMETERS[0].name}=")
    assert repr(explorer).endswith(explorer.summary)
    assert "of type int" in repr(module.explore(**{module.PARAMETERS[0].name: 10**5000}))


def test_set_returns_the_explorer_and_keeps_the_state(module):
    name = module.PARAMETERS[0].name
    value = module.PARAMETERS[0].high
    explorer = module.explore()
    assert explorer.set(**{name: value}) is explorer
    assert explorer.parameters[name] == value


def test_the_same_state_gives_the_same_picture(module):
    parameter = module.PARAMETERS[0]
    explorer = module.explore()
    first = explorer.svg
    explorer.set(**{parameter.name: parameter.low})
    assert explorer.svg != first
    assert explorer.set(**{parameter.name: parameter.default}).svg == first


def test_a_wrong_value_is_one_sentence_and_the_sliders_keep_working(module):
    whole = [parameter for parameter in module.PARAMETERS if isinstance(parameter, Whole)]
    for parameter in whole:
        explorer = module.explore(**{parameter.name: 100_000})
        assert explorer.problem == (
            f"{parameter.name} 100000 is above {parameter.high}: choose {parameter.low} to {parameter.high}."
        )
        slider = explorer.view.controls[whole[0].name].inputs[0]
        slider.value = whole[0].low
        assert explorer.problem is None or parameter.name not in explorer.problem
        assert explorer.frame.panels


def test_unknown_names_are_refused(module):
    with pytest.raises(TypeError, match="no parameter colour"):
        module.explore(colour="red")
    with pytest.raises(TypeError, match="no parameter colour"):
        module.explore().set(colour="red")


@pytest.mark.parametrize("mistake", ["raise", "none", "text", "arguments", "exit"])
def test_a_broken_function_leaves_a_sentence_and_the_course_s_picture(module, mistake):
    def broken(*arguments):
        if mistake == "raise":
            raise RuntimeError("half done")
        if mistake == "exit":
            raise SystemExit
        return {"none": None, "text": "text", "arguments": None}[mistake]

    function = (lambda: None) if mistake == "arguments" else broken
    explorer = module.explore(function, **({"revealed": True} if module.__name__.endswith("reveal") else {}))
    assert explorer.problem.startswith("Your ")
    assert explorer.problem.count("\n") == 0
    assert explorer.frame.panels
    assert explorer.summary


def test_every_control_moves_its_parameter_and_is_named(module):
    explorer = module.explore()
    for parameter in module.PARAMETERS:
        control = explorer.view.controls[parameter.name]
        named = [widget for widget in control.inputs if widget.description]
        assert named, f"{parameter.name} has no named control"
        if isinstance(parameter, Whole):
            slider, box = control.inputs
            slider.value = parameter.low
            assert explorer.parameters[parameter.name] == box.value == parameter.low
            box.value = parameter.default
            assert explorer.parameters[parameter.name] == slider.value == parameter.default
        elif isinstance(parameter, Choice):
            named[0].value = parameter.options[-1]
            assert explorer.parameters[parameter.name] == parameter.options[-1]
        elif isinstance(parameter, Flag):
            named[0].value = True
            assert explorer.parameters[parameter.name] is True


def test_set_moves_the_controls_and_the_picture(module):
    parameter = module.PARAMETERS[0]
    explorer = module.explore()
    view = explorer.view
    before = view.picture.value
    explorer.set(**{parameter.name: parameter.high})
    assert [widget.value for widget in view.controls[parameter.name].inputs] == [parameter.high] * 2
    assert view.picture.value != before
    assert view.picture.value == explorer.svg


def test_a_move_that_is_stopped_is_not_made_and_can_be_made_again(module, monkeypatch):
    parameter = module.PARAMETERS[0]
    explorer = module.explore()
    slider, picture, state = explorer.view.controls[parameter.name].inputs[0], explorer.svg, explorer.parameters

    def stopped(**state):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(explorer, "_make_frame", stopped)
        slider.value = parameter.low
    assert explorer.parameters == state and explorer.svg == picture
    slider.value = parameter.low + 1
    slider.value = parameter.low
    assert explorer.svg == module.explore(**{parameter.name: parameter.low}).svg


def test_a_learner_who_computes_in_float64_on_another_device_sees_the_same(module):
    shown = module.explore().set(**{module.PARAMETERS[0].name: 3}).svg
    for cached in vars(module).values():
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    try:
        assert module.explore().set(**{module.PARAMETERS[0].name: 3}).svg == shown
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)


def test_an_order_typed_by_hand_is_read_and_mended():
    explorer = order_bench.explore(seq_len=3)
    (box,) = explorer.view.controls["order"].inputs
    box.value = "2 0 1"
    assert explorer.frame.ledger[2] == ("order, by hand", "2 0 1")
    box.value = "2 2 1"
    assert "leaves out or repeats" in explorer.problem
    assert box.value == "2 2 1"
    box.value = "1 0 2"
    assert explorer.problem is None


def test_eight_threads_end_on_the_last_frame():
    explorer = head_splitter.explore()
    slider, box = explorer.view.controls["seq_len"].inputs
    start = threading.Barrier(8)

    def drag(thread):
        start.wait()
        for step in range(50):
            slider.value = 1 + (7 * thread + step) % 64

    threads = [threading.Thread(target=drag, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert explorer.parameters["seq_len"] == slider.value == box.value
    assert explorer.view.picture.value == head_splitter.explore(seq_len=slider.value).svg


def test_two_controls_moved_at_once_lose_neither():
    explorer = encoding_explorer.explore()
    ends = {"seq_len": 77, "position": 33, "offset": 9, "d_model": 30}
    start = threading.Barrier(len(ends))

    def drag(name, end):
        start.wait()
        for step in range(50, -1, -1):
            explorer.view.controls[name].inputs[0].value = end + step

    threads = [threading.Thread(target=drag, args=item) for item in ends.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: explorer.parameters[name] for name in ends} == ends
    assert explorer.view.picture.value == encoding_explorer.explore(**ends).svg


def test_two_hundred_moves_keep_memory_in_bounds(module):
    explorer = module.explore()
    parameter = module.PARAMETERS[0]
    span = parameter.high - parameter.low
    explorer.view.picture.value = ""
    for step in range(20):
        explorer.set(**{parameter.name: parameter.low + step % (span + 1)})
    process = psutil.Process()
    before = process.memory_info().rss  # what it holds now: an earlier peak would hide what this one adds
    for step in range(200):
        explorer.set(**{parameter.name: parameter.low + step % (span + 1)})
    assert process.memory_info().rss - before < 50 * 2**20


@pytest.fixture
def full_collections():
    """The list of full garbage collections from here on; with torch loaded one takes a tenth of a second."""
    seen = []

    def watch(phase, info):
        if phase == "stop" and info["generation"] == 2:
            seen.append(info)

    gc.callbacks.append(watch)
    yield seen
    gc.callbacks.remove(watch)


def test_no_full_garbage_collection_falls_into_the_moves_after_it_is_shown(module, monkeypatch, full_collections):
    monkeypatch.setattr("course.live.explorer.front_end_listens", lambda: True)
    explorer = module.explore()
    explorer._repr_mimebundle_()
    assert full_collections
    full_collections.clear()
    slider = explorer.view.controls[module.PARAMETERS[0].name].inputs[0]
    for step in range(200):
        slider.value = slider.min + step % (slider.max - slider.min + 1)
    assert not full_collections


def test_without_a_kernel_the_bundle_is_the_picture_and_its_text(module):
    explorer = module.explore()
    assert not front_end_listens()
    bundle = explorer._repr_mimebundle_()
    assert WIDGET_VIEW not in bundle
    assert all(f'alt="{escape(panel.alt)}"' in bundle["text/html"] for panel in explorer.frame.panels)
    assert explorer.summary in bundle["text/plain"]
    assert len(bundle["text/html"]) < 200_000
