"""A frame as HTML: with SVG where it is live, with PNG where there is no kernel."""

from html import escape

from course.live.raster import to_png
from course.live.saving import MARK
from course.live.svg import to_svg

# JupyterLab's and Colab's theme colours, then VS Code's; without any of them the surrounding text's.
INK = "var(--jp-ui-font-color1,var(--colab-primary-text-color,var(--vscode-editor-foreground,currentColor)))"
ROW = "display:flex;flex-wrap:wrap;gap:4px 12px;align-items:flex-start"
# Room for three lines, so that the picture below stands still as they change; a name as long as
# F.scaled_dot_product_attention is broken where a narrow or enlarged page has no room for it.
BROKEN = "overflow-wrap:anywhere"
LINES = f"line-height:1.4;min-height:4.2em;{BROKEN}"
SHRINKING = "max-width:100%;height:auto"
LINE = "flex:0 0 100%"
WARNING = "border-left:4px solid #D55E00;padding-left:8px;margin:0"


def live_picture(frame):
    """Panels and ledger of the frame; they change with every move."""
    return f'<div style="color:{INK};{ROW}">{ledger_table(frame.ledger)}{side_by_side(frame.panels, to_svg)}</div>'


def live_status(frame):
    """What the picture shows or what is wrong, announced politely by screen readers."""
    return f'<div role="status" aria-live="polite" style="color:{INK};{LINES}">{sentences(frame)}</div>'


def static_page(frame, title):
    """The whole frame without scripts, styles of a theme, or SVG; says how to make it live."""
    panels = side_by_side(frame.panels, to_img)
    return (
        f'<div {MARK}>{sentences(frame)}<div style="{ROW}">{ledger_table(frame.ledger)}{panels}</div>'
        f"<p><em>{escape(title)}, as a picture. To move its sliders, open this notebook in JupyterLab, VS Code "
        "or Colab and run this cell.</em></p></div>"
    )


def side_by_side(panels, draw):
    """Panels that keep together: beside the ledger where there is room for all of them, otherwise all below it.

    If they stood in a row with it, a longer number in the ledger would push one of them away from its neighbour.
    """
    drawn = (f'<div style="{LINE}">{draw(panel)}</div>' if panel.alone else draw(panel) for panel in panels)
    return f'<div style="{ROW};max-width:100%">{"".join(drawn)}</div>'


def to_img(panel):
    """The panel as one ``<img>`` element with its alternative text."""
    size = f'width="{panel.width}" height="{panel.height}"'
    return f'<img src="{to_png(panel)}" {size} style="{SHRINKING}" alt="{escape(panel.alt)}">'


def sentences(frame):
    problem = f'<p style="{WARNING}"><strong>{escape(frame.problem)}</strong></p>' if frame.problem else ""
    summary = f'<p style="margin:0 0 4px">{escape(frame.summary)}</p>' if frame.summary else ""
    return problem + summary


def ledger_table(rows):
    if not rows:
        return ""
    cells = "".join(
        f'<tr><th scope="row" style="text-align:left;font-weight:normal;padding-right:12px">{escape(name)}</th>'
        f'<td style="text-align:left;font-family:monospace">{escape(value)}</td></tr>'
        for name, value in rows
    )
    style = f"border-collapse:collapse;line-height:1.5;font-size:13px;margin:0;{BROKEN}"
    return f'<table style="{style}">{cells}</table>'
