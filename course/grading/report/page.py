"""The report as one HTML page: no script, nothing loaded, no student named."""

import datetime
import math
import re
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from course.grading.report.headlines import headlines
from course.grading.report.numbers import section_title
from course.grading.wording import decimal, plural, short

SHOWN_HINTS = 3  # of an exercise; hints.csv has them all


class Bar(NamedTuple):
    """A bar of the histogram, in the picture's units."""

    x: float
    y: float
    width: float
    height: float
    count: int
    label: str


def html_page(lessons, course_name):
    """The page for LessonSummaries."""
    environment = Environment(
        loader=PackageLoader("course.grading.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"plural": plural, "breakable": breakable, "section": section_title, "points": points}
    environment.filters |= {"percent": percent, "number": decimal, "interval": interval, "short": short}
    environment.globals |= {"headlines": headlines, "bars": bars, "describe": describe_distribution}
    template = environment.get_template("page.html.j2")
    today = datetime.date.today()
    return template.render(
        lessons=lessons, course=course_name, date=f"{today.day} {today:%B %Y}", shown_hints=SHOWN_HINTS
    )


def percent(share):
    """A share as whole per cent, a dash when unknown."""
    return "–" if math.isnan(share) else f"{share:.0%}"


def points(value):
    """``1 point``, ``2.5 points``."""
    return plural(short(value) if value != 1 else 1, "point")


def breakable(name):
    """A name as code that may break after an underscore."""
    return Markup("<code>{}</code>").format(Markup("<wbr>").join(re.split("(?<=_)(?=[^_])", name)))


def interval(estimate, places=2):
    """``low to high`` of an Estimate, an empty string when unknown."""
    if math.isnan(estimate.low):
        return ""
    return f"{decimal(estimate.low, places)} to {decimal(estimate.high, places)}"


def bars(lesson, width=1000, height=240):
    """Bars of the lesson's distribution, for a picture of width x height with the labels below it."""
    step = width / max(1, len(lesson.counts))
    top = max([1, *lesson.counts])
    return [
        Bar(k * step + 3, height * (1 - count / top), step - 6, height * count / top, int(count), f"{low:g}–{high:g}")
        for k, (count, low, high) in enumerate(zip(lesson.counts, lesson.edges, lesson.edges[1:], strict=False))
    ]


def describe_distribution(lesson):
    """The histogram in words."""
    graded = sum(lesson.counts)
    if not graded:
        return "No total is known yet."
    filled = [(bar.label, bar.count) for bar in bars(lesson) if bar.count]
    listed = "; ".join(f"{label} points: {count}" for label, count in filled)
    return f"Totals of {graded} students out of {lesson.maximum:g} points. {listed}."
