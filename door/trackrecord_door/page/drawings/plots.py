"""Plots as SVG that is part of the page: pure functions, without a style or a script of their own.

Each has a text alternative. Shapes stretch to the width there is; the words around them are HTML,
so that they keep their size on a phone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from markupsafe import Markup

_WIDTH: Final = 600.0
_HEIGHT: Final = 160.0
_BAR_WIDTH: Final = 100.0
_MOST_GAP: Final = 0.2


@dataclass(frozen=True)
class Stack:
    """The outcomes of one day.

    Attributes:
        label: the day.
        successes: whose task reached its goal.
        failures: whose task did not.
        unknown: of which nobody knows.
    """

    label: str
    successes: int
    failures: int
    unknown: int = 0

    @property
    def total(self) -> int:
        """All outcomes of the day."""
        return self.successes + self.failures + self.unknown


def stacked(days: Sequence[Stack], title: str) -> Markup:
    """Return outcomes by day: a column each, from the bottom successes, failures, unknown."""
    if not days:
        return Markup("")
    highest = max(1, *(each.total for each in days))
    step = _WIDTH / len(days)
    columns = Markup("").join(
        _column(each, number * step, step, highest) for number, each in enumerate(days)
    )
    labels = _ends([each.label for each in days])
    return _plot(title, columns, highest, labels)


def _column(day: Stack, left: float, step: float, highest: int) -> Markup:
    width = step * (1 - _MOST_GAP)
    bottom = _HEIGHT
    parts = []
    for name, amount in (
        ("good", day.successes),
        ("bad", day.failures),
        ("plain", day.unknown),
    ):
        height = _HEIGHT * amount / highest
        bottom -= height
        if amount:
            parts.append(_rectangle(f"fill-{name}", left, bottom, width, height))
    words = f"{day.label}: {day.successes} succeeded, {day.failures} failed"
    if day.unknown:
        words += f", {day.unknown} without a verdict"
    return Markup("<g><title>{}</title>{}</g>").format(words, Markup("").join(parts))


def swatch(tone: str) -> Markup:
    """Return a sample of a colour for a legend: "good", "bad" or "plain"."""
    return Markup('<svg aria-hidden="true" viewBox="0 0 12 12">{}</svg>').format(
        _rectangle(f"fill-{tone}", 0, 0, 12, 12)
    )


def bar(value: float | None, low: float | None = None, high: float | None = None) -> Markup:
    """Return a share as a bar with a whisker for its interval; the number is next to it."""
    if value is None or not isfinite(value):
        return Markup("")
    shapes = [
        _rectangle("fill-track", 0, 3, _BAR_WIDTH, 6),
        _rectangle("fill-line", 0, 3, _BAR_WIDTH * _within(value), 6),
    ]
    if low is not None and high is not None:
        ends = [_BAR_WIDTH * _within(each) for each in (low, high)]
        shapes.append(_line("whisker", ends[0], 6, ends[1], 6))
        shapes += [_line("whisker", end, 2, end, 10) for end in ends]
    return _cell(shapes)


def difference(value: float | None, low: float | None, high: float | None) -> Markup:
    """Return a difference with its interval around a line at 0, for a cell of a table.

    It reaches from half less to half more: beyond that the number beside it says enough.
    """
    if value is None or low is None or high is None:
        return Markup("")
    ends = [_middle(each) for each in (low, high)]
    shapes = [
        _line("zero", _BAR_WIDTH / 2, 0, _BAR_WIDTH / 2, 12),
        _line("whisker", ends[0], 6, ends[1], 6),
        *(_line("whisker", end, 3, end, 9) for end in ends),
        _rectangle("fill-line", _middle(value) - 2, 2, 4, 8),
    ]
    return _cell(shapes)


def _cell(shapes: Sequence[Markup]) -> Markup:
    return Markup(
        '<svg class="bar" aria-hidden="true" viewBox="0 0 {:.0f} 12" preserveAspectRatio="none">'
        "{}</svg>"
    ).format(_BAR_WIDTH, Markup("").join(shapes))


def _middle(value: float) -> float:
    return _BAR_WIDTH * (0.5 + max(-0.5, min(0.5, value)))


def _plot(title: str, shapes: Markup, highest: int, labels: Sequence[str]) -> Markup:
    spans = Markup("").join(Markup("<span>{}</span>").format(each) for each in labels)
    return Markup(
        '<div class="plot"><div class="plot-scale" aria-hidden="true"><span>{}</span><span>0'
        '</span></div><svg role="img" aria-label="{}" viewBox="0 0 {:.0f} {:.0f}" '
        'preserveAspectRatio="none">{}</svg><div class="plot-labels" aria-hidden="true">{}</div>'
        "</div>"
    ).format(_number(highest), title, _WIDTH, _HEIGHT, shapes, spans)


def _ends(labels: Sequence[str]) -> list[str]:
    """The first, the middle and the last label: on a phone there is room for three."""
    most = 3
    if len(labels) < most:
        return list(labels)
    return [labels[0], labels[len(labels) // 2], labels[-1]]


def _rectangle(name: str, x: float, y: float, width: float, height: float) -> Markup:
    return Markup('<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>').format(
        name, x, y, width, height
    )


def _line(name: str, x1: float, y1: float, x2: float, y2: float) -> Markup:
    return Markup('<line class="{}" x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}"/>').format(
        name, x1, y1, x2, y2
    )


def _within(share: float) -> float:
    return max(0.0, min(1.0, share))


def _number(value: int) -> str:
    return f"{value:,}".replace(",", "\u202f")
