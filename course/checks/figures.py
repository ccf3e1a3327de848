"""Checks of plot_positional_encoding. ``describe`` turns what was drawn into plain data, which the checks judge."""

import contextlib
import weakref
from unittest import mock

import numpy as np
from matplotlib import pyplot
from matplotlib._pylab_helpers import Gcf
from matplotlib.axes import Axes
from matplotlib.colorbar import Colorbar
from matplotlib.figure import FigureBase
from matplotlib.text import Text

from course.checks.compare import agrees, check_true, kind_of
from course.checks.exam import check
from course.checks.failure import CheckFailed
from course.checks.inputs import normal
from course.encoding import sinusoidal_encoding

_drawn = weakref.WeakKeyDictionary()  # by candidate, of which each exam has its own: what it draws, by size
XLABEL, YLABEL = "Embedding Dimension", "Position"


@contextlib.contextmanager
def drawing():
    """Around a call that draws: another figure is there already, ``plt.show`` is noted and shows nothing.

    Yields what is needed to tell what the call did; closes every figure that it opened.
    """
    before = _open_figures()
    other = pyplot.figure()
    show = mock.Mock(return_value=None)
    try:
        with mock.patch.object(pyplot, "show", show), mock.patch.object(pyplot._get_backend_mod(), "show", show):
            yield {"other": other, "before": before, "show": show}
    finally:
        for figure in _open_figures():
            if figure not in before:
                pyplot.close(figure)


def _open_figures():
    """The figures that pyplot keeps, in the order in which they were last drawn on."""
    return [manager.canvas.figure for manager in Gcf.get_all_fig_managers()]


def describe(result, watched):
    """What was drawn, as plain data: None for no axes at all, a dict otherwise.

    ``arrays`` are the matrices shown as images or meshes whose rows run along y, ``sideways`` those whose
    rows run along x.
    """
    axes = _axes_of(result, watched)
    if axes is None:
        return {"kind": kind_of(result), "axes": False}
    figure = axes.get_figure(root=True)
    shown = [*axes.images, *(mesh for mesh in axes.collections if np.ndim(mesh.get_array()) == 2)]
    everywhere = [part for panel in figure.axes for part in (panel, *panel.child_axes)]
    return {
        "kind": "the colour bar's axes" if _is_colour_bar(result) else kind_of(result),
        "axes": True,
        "returned": result is axes,
        "new": figure is not watched["other"] and figure not in watched["before"],
        "open": getattr(figure, "number", None) is None or figure in _open_figures(),
        "shows": watched["show"].call_count,
        "arrays": [_matrix(part) for part in shown if not _is_sideways(part)],
        "sideways": [_matrix(part) for part in shown if _is_sideways(part)],
        "xlabel": axes.get_xlabel().strip(),
        "ylabel": axes.get_ylabel().strip(),
        "title": _title(axes),
        "title_replaced": not isinstance(axes.title, Text),
        "overwritten": [name for name in ("title", "xlabel", "ylabel") if not callable(getattr(pyplot, name))],
        "hidden": not axes.axison,
        "suptitle": (figure.get_suptitle() or "").strip(),
        "colour_bars": sum(map(_is_colour_bar, everywhere)),
        "related": any(_belongs(panel._colorbar.mappable, shown) for panel in everywhere if _is_colour_bar(panel)),
    }


describe.around = drawing


def _title(axes):
    """The text of the three titles of axes, '' where a student wrote over the attribute that holds them."""
    titles = [axes._left_title, axes.title, axes._right_title]
    return "".join(title.get_text() for title in titles if isinstance(title, Text)).strip()


def _belongs(mappable, shown):
    """Whether a colour bar's mappable is one of what is shown, or has the colours and the range of one."""
    return any(
        part is mappable or (part.cmap.name, part.get_clim()) == (mappable.cmap.name, mappable.get_clim())
        for part in shown
    )


def _axes_of(result, watched):
    """The axes that the result leads to, or else those of the figure that was drawn last."""
    if isinstance(result, Axes):
        return _axes_of(result._colorbar, watched) if _is_colour_bar(result) else result
    if isinstance(result, FigureBase):
        return result.axes[0] if result.axes else None
    if isinstance(result, Colorbar):
        return result.mappable.axes
    if isinstance(getattr(result, "axes", None), Axes):  # an image or a mesh
        return result.axes
    if isinstance(result, tuple | list | np.ndarray | dict):
        items = result.values() if isinstance(result, dict) else np.ravel(np.array(result, dtype=object))
        return next((axes for axes in (_axes_of(item, {}) for item in items) if axes is not None), None)
    figures = [figure for figure in _open_figures() if figure not in watched["before"]] if watched else []
    drawn = [figure for figure in figures if any(axes.has_data() for axes in figure.axes)]
    return drawn[-1].axes[0] if drawn else None


def _is_colour_bar(part):
    return getattr(part, "_colorbar", None) is not None


def _matrix(shown):
    return np.array(np.ma.getdata(shown.get_array()), dtype=float)


def _is_sideways(shown):
    """Whether the rows of a mesh run along x, as when its coordinates are given in the wrong order."""
    if not hasattr(shown, "get_coordinates"):
        return False
    coordinates = np.asarray(shown.get_coordinates())  # (rows + 1, columns + 1, 2)
    along_rows = np.abs(np.diff(coordinates, axis=0)).sum((0, 1))  # how far x and y move from row to row
    return along_rows[0] > along_rows[1]


def _seen(candidate, rows, columns):
    """(pe, what the candidate draws of it); pe (rows, columns) is a matrix of any numbers.

    Drawing takes its time, so all checks of an exam look at one drawing of each size.
    """
    pe = normal(rows, columns, seed=rows, scale=2.0).numpy().astype(float)
    drawn = _drawn.setdefault(candidate, {})
    if pe.shape not in drawn:
        drawn[pe.shape] = candidate.seen_as(describe, pe)
    seen = drawn[pe.shape]
    if not isinstance(seen, dict) or not seen["axes"]:
        kind = seen["kind"] if isinstance(seen, dict) else kind_of(seen)
        raise CheckFailed(
            f"the result is {kind}, and no figure was left open.",
            "Make a figure and its axes with plt.subplots(), draw on the axes, leave the figure open, return the axes.",
        )
    return pe, seen


@check("a heatmap of pe")
def plots_pe(candidate, sizes):
    """sizes: (rows, columns) of pe."""
    for rows, columns in sizes:
        pe, seen = _seen(candidate, rows, columns)
        check_true(
            bool(seen["arrays"] or seen["sideways"]),
            "there is no heatmap on the axes.",
            "Draw pe with ax.imshow(pe, aspect='auto') or ax.pcolormesh(pe), and return the axes that hold it.",
        )
        if any(agrees(array, pe, atol=1e-5) for array in seen["arrays"]):
            continue
        array = (seen["arrays"] + seen["sideways"])[0]
        check_true(array.shape == pe.shape, f"the heatmap is {array.shape} for pe {pe.shape}.", _shape_hint(array, pe))
        raise CheckFailed("the heatmap shows other numbers than pe.", _numbers_hint(array, pe, bool(seen["arrays"])))


def _shape_hint(array, pe):
    if array.shape == pe.shape[::-1]:
        return "Rows are positions: draw pe as it is, not transposed."
    if array.shape[:2] == pe.shape:
        return "Draw numbers and let cmap colour them; here they were turned into colours first."
    return "Draw all of the pe that was given, not a part of it and no table made inside the function."


def _numbers_hint(array, pe, upright):
    if not upright:
        return "Rows are positions: give pcolormesh the dimensions as x and the positions as y."
    if agrees(array, pe[::-1]):
        return "The rows are turned upside down: row 0 is position 0; origin='lower' moves it without changing pe."
    if agrees(array, pe[:, ::-1]):
        return "The columns are in reverse: draw pe as it is."
    if agrees(array, sinusoidal_encoding(*pe.shape)):
        return "Draw the pe that was given; here a new encoding was computed inside the function."
    if abs(np.corrcoef(array.ravel(), pe.ravel())[0, 1]) > 0.999:
        return "Draw pe as it is, without scaling it or rounding it: the colour map does the scaling."
    return "Draw the pe that was given, every number as it is."


@check("on a new figure, left open, the axes returned")
def plots_on_new_figure(candidate, rows, columns):
    """Where it is drawn and what is returned."""
    _, seen = _seen(candidate, rows, columns)
    check_true(
        seen["new"],
        "the heatmap was drawn on a figure that was there already.",
        "Start with fig, ax = plt.subplots(): plt.imshow alone draws into the current figure.",
    )
    check_true(seen["open"], "the figure was closed.", "Leave it open: the notebook shows and closes it.")
    check_true(
        seen["returned"],
        f"the result is {seen['kind']}, wanted the Axes.",
        "Return the axes (ax, or plt.gca()) that hold the heatmap: not the figure, and not the image.",
    )


@check("axis labels")
def plot_labels(candidate, rows, columns):
    """Both labels, letter for letter."""
    _, seen = _seen(candidate, rows, columns)
    found = f"the x label is {seen['xlabel']!r:.40} and the y label {seen['ylabel']!r:.40}."
    swapped = (seen["xlabel"], seen["ylabel"]) == (YLABEL, XLABEL)
    hint = f"x is {XLABEL!r}, y is {YLABEL!r}, letter for letter" + ("; here they are exchanged." if swapped else ".")
    if not (seen["xlabel"] and seen["ylabel"]):
        hint = f"Call ax.set_xlabel({XLABEL!r}) and ax.set_ylabel({YLABEL!r}); ax.xlabel = ... sets nothing."
    if lost := [name for name in seen["overwritten"] if name != "title"]:
        hint = _overwritten(lost[0])
    check_true((seen["xlabel"], seen["ylabel"]) == (XLABEL, YLABEL), found, hint)
    check_true(not seen["hidden"], "the axes are switched off, and their labels with them.", "Take out axis('off').")


def _overwritten(name):
    return f"plt.{name} = ... puts a text in the function's place: write plt.{name}(...), and restart the kernel."


@check("title")
def plot_title(candidate, rows, columns):
    """A title of the axes."""
    _, seen = _seen(candidate, rows, columns)
    hint = "Set one with ax.set_title(...) or plt.title(...)."
    if "title" in seen["overwritten"]:
        hint = _overwritten("title")
    elif seen["title_replaced"]:
        hint = "Call ax.set_title(...): ax.title = ... puts a string in the place of the title."
    elif seen["suptitle"]:
        hint = "suptitle belongs to the figure: use ax.set_title(...) or plt.title(...)."
    check_true(bool(seen["title"]), "the axes have no title.", hint)


@check("colour bar")
def plot_colour_bar(candidate, rows, columns):
    """A colour bar on the figure, with the colours and the range of the heatmap where there is one."""
    _, seen = _seen(candidate, rows, columns)
    hint = "Keep what imshow returns, and add fig.colorbar(image, ax=ax)."
    check_true(seen["colour_bars"] > 0, "there is no colour bar beside the heatmap.", hint)
    related = seen["related"] or not (seen["arrays"] or seen["sideways"])
    check_true(related, "the colour bar has another range or other colours than the heatmap.", hint)


@check("no plt.show()")
def plot_not_shown(candidate, rows, columns):
    """plt.show closes the figure in a notebook, and whoever called the function could not add to it."""
    _, seen = _seen(candidate, rows, columns)
    hint = "Take plt.show() out: whoever calls the function may want to add to the axes first."
    check_true(seen["shows"] == 0, "plt.show() was called.", hint)
