"""Observations of outcomes that are removed: those of a day are put together in few rows.

Such a row counts from the end of its day on, so that the past is answered by the day. Its column
`outcome` is the negative number of one of the outcomes, which no other row has.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, and_, delete, func, select

from trackrecord.learning.numbers.decay import DecayBasis, decayed
from trackrecord.learning.outcomes.scoring import Verdict

from ..database.upsert import insert_rows
from ..outcomes.days import RemovedRecord, day_of, end_of_day
from ..outcomes.verdicts.verdict_sums import several
from .speakers import SpeakerSums
from .sums import PatternDelta, PatternKey
from .tables import observations, patterns

_AT_ONCE: Final = 500
_COLUMNS: Final = tuple(observations.c)


def fold_observations(
    connection: Connection, project_id: int, gone: Sequence[RemovedRecord], half_life_days: float
) -> None:
    """Replace the observations of records by the sums of each day.

    Args:
        connection: within the transaction that removes the records.
        project_id: whose.
        gone: the records.
        half_life_days: what the weights of a row are added up by.
    """
    days = {end_of_day(each.received_at) for each in gone}
    groups: defaultdict[tuple[Any, ...], list[Row[Any]]] = defaultdict(list)
    for row in (*_observed(connection, project_id, gone), *_summed(connection, project_id, days)):
        replaced = None if row.replaced_at is None else end_of_day(row.replaced_at)
        counted = end_of_day(row.received_at)
        if row.outcome < 0:
            replaced, counted = row.replaced_at, row.received_at
        # What came and was replaced within a day never counted at the end of one. It still says
        # that an outcome had named the pattern.
        key = (
            row.pattern_id, counted, replaced, day_of(row.ended_at), row.verdict, row.success,
            row.speaker, row.is_claim,
        )  # fmt: skip
        groups[key].append(row)
    insert_rows(
        connection,
        observations,
        _COLUMNS,
        sorted(
            (_folded(key, rows, half_life_days) for key, rows in groups.items()),
            key=lambda row: row[:3],
        ),
    )


def _span(gone: Sequence[RemovedRecord]) -> tuple[float, float]:
    moments = [each.received_at for each in gone]
    return min(moments), max(moments)


def _observed(
    connection: Connection, project_id: int, gone: Sequence[RemovedRecord]
) -> list[Row[Any]]:
    """Delete the observations of records; return them."""
    seen = observations.c
    found: list[Row[Any]] = []
    for start in range(0, len(gone), _AT_ONCE):
        some = gone[start : start + _AT_ONCE]
        found += _taken(
            connection,
            project_id,
            seen.received_at.between(*_span(some)) & seen.outcome.in_([each.row for each in some]),
        )
    return found


def _summed(connection: Connection, project_id: int, days: Collection[float]) -> list[Row[Any]]:
    """Delete the sums of some days, by their ends, to be added to; return them."""
    seen = observations.c
    return _taken(connection, project_id, seen.received_at.in_(sorted(days)) & (seen.outcome < 0))


def _taken(connection: Connection, project_id: int, where: ColumnElement[bool]) -> list[Row[Any]]:
    own = select(patterns.c.id).where(patterns.c.project_id == project_id)
    those = (observations.c.pattern_id.in_(own), where)
    found = list(connection.execute(select(observations).where(*those)))
    connection.execute(delete(observations).where(*those))
    return found


def _folded(
    key: tuple[Any, ...], rows: Sequence[Row[Any]], half_life_days: float
) -> tuple[Any, ...]:
    """Return the row of a group, its values in the order of the table."""
    pattern_id, counted, replaced, _, verdict, success, speaker, is_claim = key
    last = max(row.ended_at for row in rows)
    values = {
        "pattern_id": pattern_id,
        "received_at": counted,
        "outcome": -min(abs(row.outcome) for row in rows),
        "ended_at": last,
        "verdict": verdict,
        "success": success,
        "replaced_at": replaced,
        "speaker": speaker,
        "is_claim": is_claim,
        "times": sum(row.times for row in rows),
        "weight": sum(decayed(row.weight, last - row.ended_at, half_life_days) for row in rows),
    }
    return tuple([values[column.name] for column in _COLUMNS])


def folded_sums(
    connection: Connection, project_id: int, basis: DecayBasis
) -> dict[PatternKey, PatternDelta]:
    """Return what removed outcomes add to each pattern: a rebuild begins with it.

    Records that were replaced add nothing, and tell how their patterns are spelt.
    """
    seen = observations.c
    query = (
        select(observations, patterns.c.slug, patterns.c.kind, patterns.c.content)
        .join(patterns, patterns.c.id == seen.pattern_id)
        .where(patterns.c.project_id == project_id, seen.outcome < 0)
    )
    found: dict[PatternKey, PatternDelta] = {}
    for row in connection.execute(query):
        delta = found.setdefault(
            (project_id, row.slug), PatternDelta(kind=row.kind, content=row.content)
        )
        if row.replaced_at is not None:
            continue
        weight = row.weight / row.times * basis.weight(row.ended_at)
        verdict = Verdict(row.verdict)
        delta.merge(several(verdict, weight, row.times, row.ended_at))
        delta.succeeded += row.times * int(row.success)
        spoken = delta.speakers.setdefault(row.speaker, SpeakerSums())
        spoken.succeeded += row.times * int(row.success)
        spoken.add(verdict, weight, is_claim=row.is_claim, times=row.times)
    return found


def count_spoken(connection: Connection, project_id: int, speaker: str) -> int:
    """Return how many observations of removed outcomes are a speaker's in a project."""
    query = select(func.coalesce(func.sum(observations.c.times), 0))
    query = query.where(_is_spoken(project_id, speaker))
    return int(connection.execute(query).scalar_one())


def forget_speaker(connection: Connection, project_id: int, speaker: str) -> None:
    """Delete what removed outcomes of a speaker add to the patterns of a project."""
    connection.execute(delete(observations).where(_is_spoken(project_id, speaker)))


def _is_spoken(project_id: int, speaker: str) -> ColumnElement[bool]:
    own = select(patterns.c.id).where(patterns.c.project_id == project_id)
    seen = observations.c
    return and_(seen.pattern_id.in_(own), seen.outcome < 0, seen.speaker == speaker)
