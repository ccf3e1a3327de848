"""Stock ipywidgets for parameters, from ipywidgets 7.7.1 on (no tooltip=, titles=, Stack, jslink).

A slider of ipywidgets has no accessible name, so each one stands beside a number box that has.
``control(parameter)`` returns a Control that shows nothing in particular until it is written to.
"""

from functools import singledispatch

import ipywidgets as widgets

from course.live.parameters import Choice, Flag, Order, Row, Whole


class Control:
    """The widget to show for one parameter, and its inputs: the widgets whose ``value`` a learner changes."""

    def __init__(self, box, *inputs):
        self.box, self.inputs = box, inputs or (box,)

    def read(self, changed):
        """The parameter's value, after the input ``changed`` has changed."""
        return changed.value

    def spread(self, value):
        """The values of the inputs that show this value of the parameter."""
        return [value] * len(self.inputs)

    def write(self, value, source=None):
        """Show the value in every input but the one that it came from, where it may be newer already."""
        for widget, shown in zip(self.inputs, self.spread(value), strict=True):
            if widget is not source:
                widget.value = shown


class TextControl(Control):
    def spread(self, order):
        return [order if isinstance(order, str) else " ".join(map(str, order or ()))]


class RowControl(Control):
    def read(self, changed):
        return tuple(box.value for box in self.inputs)

    def spread(self, row):
        return row or [0.0] * len(self.inputs)


@singledispatch
def control(parameter):
    raise TypeError(f"no control for {type(parameter).__name__}")


@control.register
def _(parameter: Whole):
    limits = {"min": parameter.low, "max": parameter.high, "value": parameter.default}
    width = max(140, 90 + 7 * len(parameter.label))  # the digits keep their room beside a long label
    box = widgets.BoundedIntText(**limits, **named(parameter.label, f"{width}px"))
    # The box shows the number and carries the name; a readout would be one more control without a name.
    slider = widgets.IntSlider(**limits, step=parameter.step, readout=False, layout=layout("120px"))
    # On a narrow or enlarged page the slider goes below the box, which keeps its room.
    row = widgets.Layout(width=f"{width + 140}px", flex_flow="row wrap")
    return Control(widgets.HBox([box, slider], layout=row), slider, box)


@control.register
def _(parameter: Choice):
    return Control(widgets.Dropdown(options=list(parameter.options), **named(parameter.label, "max-content")))


@control.register
def _(parameter: Flag):
    return Control(widgets.Checkbox(description=parameter.label, indent=False, layout=layout("max-content")))


@control.register
def _(parameter: Order):
    # On Enter or on leaving the box: half a permutation, while it is being typed, is no mistake yet.
    return TextControl(widgets.Text(continuous_update=False, **named(parameter.label, "340px")))


@control.register
def _(parameter: Row):
    boxes = [
        widgets.BoundedFloatText(min=0.0, max=1.0, step=0.05, **named(f"{parameter.label} {entry}", "190px"))
        for entry in parameter.entries
    ]
    return RowControl(widgets.HBox(boxes, layout=widgets.Layout(flex_flow="row wrap")), *boxes)


def named(label, width):
    return {"description": label, "style": {"description_width": "initial"}, "layout": layout(width)}


def layout(width):
    return widgets.Layout(width=width, max_width="calc(100% - 4px)")  # beside the margins that every widget has
