"""Recent trends of numbers, drawn next to them on a terminal; no queries outside a terminal."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from .drawing import sparkline
from .screen import on_terminal

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from trackrecord.resources.experience.rates_over_time import Rates
    from trackrecord.settings.daemon_settings import DaemonSettings

DAYS: Final = 30
_DAY_S: Final = 86_400.0
# One for a column of a table, one for a page about one thing.
_MOMENTS: Final = 10
_MANY_MOMENTS: Final = 30
# More rows than this are not for people to look at.
_MOST: Final = 100
# Each takes a microsecond to be counted, and a table must be there at once.
_MOST_VERDICTS: Final = 200_000


def pattern_trends(
    connection: Connection, project: str, verdicts: Mapping[str, int], at: float | None
) -> Mapping[str, str]:
    """Return by slug how the rate of each pattern went in the last 30 days.

    Args:
        connection: a reading transaction.
        project: whose patterns.
        verdicts: the number of verdicts on each by its slug, in the order of the table; the first
            ones are drawn as long as that is quick.
        at: the moment that the days lead up to; None for now.
    """
    slugs = _affordable(verdicts)
    if not _is_drawn(slugs):
        return {}
    from trackrecord.resources.experience.rates_over_time import pattern_rates

    return _drawn(pattern_rates(connection, project, slugs, _moments(at, len(slugs))))


def criterion_trends(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    verdicts: Mapping[str, int],
    at: float | None,
) -> Mapping[str, str]:
    """Return by name how the rate of each criterion went in the last 30 days; as above."""
    names = _affordable(verdicts)
    if not _is_drawn(names):
        return {}
    from trackrecord.resources.experience.rates_over_time import criterion_rates

    moments = _moments(at, len(names))
    return _drawn(criterion_rates(connection, settings, project, names, moments))


def memory_trends(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    ids: Sequence[str],
    at: float | None,
) -> Mapping[str, str]:
    """Return by id how the effective confidence of each memory went in the last 30 days."""
    if not _is_drawn(ids):
        return {}
    from trackrecord.resources.experience.rates_over_time import memory_confidences

    return _drawn(memory_confidences(connection, settings, project, ids, _moments(at, len(ids))))


def day_trends(
    connection: Connection, projects: Sequence[str], at: float | None
) -> tuple[str, str]:
    """Return the outcomes of each of the last 30 days, and the share that succeeded."""
    if not _is_drawn(projects):
        return "", ""
    from trackrecord.resources.figures.days import outcomes_by_day

    until = time.time() if at is None else at
    found = [outcomes_by_day(connection, name, days=DAYS, until=until, at=at) for name in projects]
    outcomes = [sum(day.outcomes for day in days) for days in zip(*found, strict=True)]
    shares = []
    for days in zip(*found, strict=True):
        judged = sum(day.successes + day.failures for day in days)
        shares.append(sum(day.successes for day in days) / judged if judged else None)
    return sparkline(outcomes), sparkline(shares, high=1.0)


def trend(drawn: str | None) -> dict[str, str]:
    """Return the field that shows the trend on a page about one thing; none if not drawn."""
    return {f"last {DAYS} days": drawn} if drawn else {}


def _affordable(verdicts: Mapping[str, int]) -> list[str]:
    sums = accumulate(verdicts.values())
    return [name for name, so_far in zip(verdicts, sums, strict=True) if so_far <= _MOST_VERDICTS]


def _is_drawn(things: Sequence[str]) -> bool:
    return on_terminal() and 0 < len(things) <= _MOST


def _moments(at: float | None, things: int) -> list[float]:
    from trackrecord.resources.experience.rates_over_time import evenly

    until = time.time() if at is None else at
    return evenly(until - DAYS * _DAY_S, until, _MANY_MOMENTS if things == 1 else _MOMENTS)


def _drawn(rates: Mapping[str, Rates]) -> dict[str, str]:
    return {
        name: sparkline([then.rate for then in history], high=1.0)
        for name, history in rates.items()
    }
