"""Rates over time: those of a pattern, a criterion or a memory at moments of the past.

Each value is the one that the same question gives for that moment (`--at`), but all of them come
from one walk through what is on record.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import InvalidRequest
from trackrecord.learning.numbers.verdict_counts import VerdictCounts
from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.resources.memories import Memory
from trackrecord.store.criteria.over_time import criteria_over_time, first_feedback
from trackrecord.store.memories.over_time import memories_over_time
from trackrecord.store.patterns.over_time import first_observed, patterns_over_time
from trackrecord.times import iso

from .project_rows import project_row

MOST_MOMENTS: Final = 200
MOST_SUBJECTS: Final = 500
MOMENTS: Final = 60


@dataclass(frozen=True)
class PastRate:
    """A rate as of a moment.

    Attributes:
        at: the moment, seconds since the epoch.
        rate: the share of helpful verdicts, a memory's confidence or a lesson's strength, each
            weighed by age; None where nothing was on record.
        low: the lower end of its 95% interval; None where it has none.
        high: the upper end.
        evidence: the verdicts that it was counted from, weighed by age.
    """

    at: float
    rate: float | None
    low: float | None = None
    high: float | None = None
    evidence: float = 0.0

    def to_document(self) -> dict[str, Any]:
        """Return the rate as a JSON object."""
        return dict(vars(self)) | {"at": iso(self.at)}


Rates = tuple[PastRate, ...]


def evenly(since: float, until: float, count: int = MOMENTS) -> list[float]:
    """Return moments at equal distances, the last one of which is `until`.

    Args:
        since: the first moment; at `until` or later, `until` is the only one.
        until: the last moment.
        count: how many at most.

    Raises:
        InvalidRequest: these are too many, or none.
    """
    if not 1 <= count <= MOST_MOMENTS:
        message = f"the number of moments must lie in 1..{MOST_MOMENTS}, not {count}"
        raise InvalidRequest(message)
    if count == 1 or since >= until:
        return [until]
    step = (until - since) / (count - 1)
    return [*(since + number * step for number in range(count - 1)), until]


def pattern_rates(
    connection: Connection, project: str, slugs: Sequence[str], moments: Sequence[float]
) -> Mapping[str, Rates]:
    """Return the rates of patterns at moments; a pattern that no outcome names is left out.

    Args:
        connection: a reading transaction.
        project: whose patterns.
        slugs: their whole ids, those of anti-patterns without `anti-`; 500 at most.
        moments: rising, 200 at most; see `evenly`.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRequest: too many are asked for.
    """
    _check(slugs, moments)
    row = project_row(connection, project)
    found = patterns_over_time(connection, row, slugs, moments)
    return _rates(found, moments)


def criterion_rates(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    names: Sequence[str],
    moments: Sequence[float],
) -> Mapping[str, Rates]:
    """Return the rates of criteria at moments; a criterion without feedback is left out.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRequest: too many are asked for.
    """
    _check(names, moments)
    row = project_row(connection, project)
    found = criteria_over_time(connection, row, names, settings.criteria.defaults, moments)
    return _rates(found, moments)


def memory_confidences(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    memory_ids: Sequence[str],
    moments: Sequence[float],
) -> Mapping[str, Rates]:
    """Return the effective confidence of memories at moments; unknown memories are left out.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRequest: too many are asked for.
    """
    _check(memory_ids, moments)
    row = project_row(connection, project)
    found = memories_over_time(connection, row, memory_ids, settings.memories, moments)
    return {
        name: tuple(PastRate(at, value) for at, value in zip(moments, values, strict=True))
        for name, values in found.items()
    }


def pattern_rate_over_time(
    connection: Connection, project: str, slug: str, *, at: float | None = None
) -> Rates:
    """Return a pattern's rate from the first outcome that names it up to now, or to a moment.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    since = first_observed(connection, project_row(connection, project), slug)
    moments = _until(since, at)
    return pattern_rates(connection, project, [slug], moments).get(slug, ())


def criterion_rate_over_time(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    name: str,
    *,
    at: float | None = None,
) -> Rates:
    """Return a criterion's rate from its first feedback up to now, or to a moment.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    row = project_row(connection, project)
    since = first_feedback(connection, row, name, is_default=name in settings.criteria.defaults)
    return criterion_rates(connection, settings, project, [name], _until(since, at)).get(name, ())


def memory_confidence_over_time(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    memory: Memory,
    *,
    at: float | None = None,
) -> Rates:
    """Return a memory's effective confidence since it was stored up to now, or to a moment.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    moments = _until(memory.created_at, at)
    return memory_confidences(connection, settings, project, [memory.id], moments).get(
        memory.id, ()
    )


def _until(since: float | None, at: float | None) -> list[float]:
    until = time.time() if at is None else at
    return [until] if since is None else evenly(since, until)


def _check(names: Sequence[str], moments: Sequence[float]) -> None:
    if len(names) > MOST_SUBJECTS or len(moments) > MOST_MOMENTS:
        message = f"at most {MOST_SUBJECTS} rates at {MOST_MOMENTS} moments can be asked for"
        raise InvalidRequest(message)
    if list(moments) != sorted(moments):
        message = "the moments must rise"
        raise InvalidRequest(message)


def _rates(
    found: Mapping[str, Sequence[VerdictCounts | None]], moments: Sequence[float]
) -> Mapping[str, Rates]:
    return {
        name: tuple(_rate(at, counts) for at, counts in zip(moments, then, strict=True))
        for name, then in found.items()
    }


def _rate(at: float, counts: VerdictCounts | None) -> PastRate:
    if counts is None or counts.helpful_share is None:
        return PastRate(at, None)
    low, high = wilson_interval(counts.decayed_helpful, counts.decayed_harmful)
    return PastRate(at, counts.helpful_share, low, high, counts.decayed_total)
