"""The widgets of an explorer: its controls, a status line, and the picture; each is written to, none ever replaced."""

import ipywidgets as widgets

from course.live.controls import control
from course.live.page import live_picture, live_status


class View:
    """Controls for the parameters; ``moved(name, control, input)`` is called when one of its inputs changes."""

    def __init__(self, parameters, moved):
        self.parameters = parameters
        self.controls = {parameter.name: control(parameter) for parameter in parameters}
        self.picture = widgets.HTML()
        self.status = widgets.HTML()
        boxes = [entry.box for entry in self.controls.values()]
        row = widgets.HBox(boxes, layout=widgets.Layout(flex_flow="row wrap", align_items="center"))
        # Between the two: below a picture as high as the page nobody would see what is wrong.
        self.box = widgets.VBox([row, self.status, self.picture])
        for name, entry in self.controls.items():
            for widget in entry.inputs:
                widget.observe(listener(moved, name, entry), names="value")

    def write(self, state, names, source=None):
        """Let the controls of these names show the state, as near as they can, but leave the input ``source`` alone.

        Other controls are not touched: one of them may be moving on another thread.
        """
        for parameter in self.parameters:
            if parameter.name in names:
                self.controls[parameter.name].write(parameter.nearest(state[parameter.name]), source)

    def show(self, frame):
        self.picture.value = live_picture(frame)
        self.status.value = live_status(frame)


def listener(moved, name, entry):
    return lambda change: moved(name, entry, change["owner"])
