"""A Jupyter Server extension that saves an explorer as its picture, without the widget.

A live explorer's output holds both. Opened again, JupyterLab prefers the widget, of which no kernel
knows any more, and would say "model not found" in place of the picture. Other outputs are left alone.
"""

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
WIDGET_STATE = "application/vnd.jupyter.widget-state+json"
MARK = 'class="course-explorer"'  # in the page of every explorer, which tells its output from any other


def leave_pictures(notebook):
    """Take the widget out of every explorer's output in a notebook (a dict), unless its state is saved as well."""
    saved = notebook.get("metadata", {}).get("widgets", {}).get(WIDGET_STATE, {}).get("state", {})
    for cell in notebook.get("cells", ()):
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            model = data.get(WIDGET_VIEW, {}).get("model_id")
            if model not in saved and MARK in "".join(data.get("text/html", "")):
                data.pop(WIDGET_VIEW, None)


def before_saving(model, **_):
    if model.get("type") == "notebook" and isinstance(model.get("content"), dict):
        leave_pictures(model["content"])


def _load_jupyter_server_extension(server):
    # Once the server runs: an extension loaded later may put another contents manager in place, as Jupytext's does.
    server.io_loop.add_callback(lambda: server.contents_manager.register_pre_save_hook(before_saving))
