"""Format numbers, moments and states for the pages."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from math import isfinite
from typing import Any, Final

from markupsafe import Markup, escape

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_DASH: Final = "–"
# The states that have a colour; each is also written out.
_GOOD: Final = frozenset(
    {"proven", "established", "success", "it helps", "active", "helpful", "runs"}
)
_BAD: Final = frozenset(
    {
        "warning",
        "anti-pattern",
        "failure",
        "it hurts",
        "hurts",
        "deprecated",
        "harmful",
        "broken",
        "known pitfall",
        "never ran",
        "does not run",
    }
)


def count(value: float | None) -> str:
    """Return a whole number with thin groups of thousands: "1 234 567"."""
    return _DASH if value is None else f"{value:,.0f}".replace(",", "\u202f")


def share(value: float | None) -> str:
    """Return a share of 1 in percent: "83%"."""
    if value is None or not isfinite(value):
        return _DASH
    return f"{100 * value:.0f}%"


def interval(low: float | None, high: float | None) -> str:
    """Return an interval of shares: "71–90%"."""
    if low is None or high is None:
        return ""
    return f"{100 * low:.0f}{_DASH}{100 * high:.0f}%"


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with some decimals: "0.87"."""
    return _DASH if value is None else f"{value:.{digits}f}"


def seconds(value: float | None) -> str:
    """Return a duration: "340 ms", "12.3 s", "4 min", "2 h", "3 days"."""
    if value is None:
        return _DASH
    if value < 1:
        return f"{1000 * value:.0f} ms"
    if value < _MINUTE:
        return f"{value:.1f} s"
    if value < _HOUR:
        return f"{value / _MINUTE:.0f} min"
    return f"{value / _HOUR:.0f} h" if value < 2 * _DAY else f"{value / _DAY:.0f} days"


def moment(at: float | None) -> str | Markup:
    """Return a moment in UTC, to the minute, for people and for machines."""
    if at is None:
        return _DASH
    when = datetime.fromtimestamp(at, UTC)
    return Markup('<time datetime="{}">{}</time>').format(
        when.isoformat(timespec="seconds"), when.strftime("%Y-%m-%d\u00a0%H:%M")
    )


def ago(at: float | None) -> str | Markup:
    """Return how long ago a moment was: "3 h ago"."""
    if at is None:
        return "never"
    when = datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")
    text = f"{seconds(max(1.0, time.time() - at))} ago"
    return Markup('<time datetime="{}">{}</time>').format(when, text)


def day(at: float) -> str:
    """Return the day of a moment in UTC: "2026-11-22"."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def prose(text: str) -> Markup:
    """Return a sentence of ours as HTML; commands in it are between backticks."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        # A backtick without another one is only a backtick.
        parts[-2:] = ["`".join(parts[-2:])]
    shown = [
        Markup("<code>{}</code>").format(part) if number % 2 else escape(part)
        for number, part in enumerate(parts)
    ]
    return Markup("").join(shown)


def clock(at: float) -> str:
    """Return the time of day of a moment in UTC: "07:27"."""
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M")


def tone(state: str) -> str:
    """Return the colour of a state: "good", "bad" or "plain"."""
    name = state.lower()
    return "good" if name in _GOOD else "bad" if name in _BAD else "plain"


FILTERS: Final[Mapping[str, Callable[..., Any]]] = {
    each.__name__: each
    for each in (count, share, decimal, seconds, moment, ago, day, clock, prose, tone)
} | {"interval": interval}
