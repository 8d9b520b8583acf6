"""Removing old outcomes: their rows go, and what they add to every statistic stays.

One call is one short transaction, which leaves nothing half done: whatever is killed, the next call
goes on. The totals are not touched; what a rebuild needs of the removed outcomes is put together by
the speaker and the day.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Table,
    and_,
    bindparam,
    case,
    exists,
    func,
    or_,
    select,
    update,
)

from trackrecord.learning.competences.episodes.tally import EpisodeTally
from trackrecord.learning.numbers.decay import DAY
from trackrecord.wire.join import OutcomeEntry
from trackrecord.wire.outcome_scorer import OutcomeScorer
from trackrecord.wire.thinned import is_thinned, thinned

from ..advice.runs import drop_runs, drop_texts
from ..advice.tables import exposures, hints
from ..advice.worker_counts import drop_counts
from ..competences.episodes import EpisodeRow, bodies, stream
from ..competences.removed import remove_episodes
from ..competences.tables import episodes
from ..database.parts import delete_named, in_parts
from ..ledger.upkeep import fold
from ..memories.past_tasks import drop_past_tasks
from ..outcomes.entries import entries_of, write_entries
from ..outcomes.forgotten import lock_project
from ..outcomes.projects import note_change, set_project
from ..outcomes.recorded_rules import hold_bases
from ..outcomes.removed import RemovedRecord, mark_removed
from ..outcomes.tables import (
    outcome_commits,
    outcome_entries,
    outcomes,
    projects,
    waiting_episodes,
    waiting_retractions,
)

# Outcomes of one transaction: others wait for it.
AT_ONCE: Final = 1000
# A position in the order of receipt: a moment, and a row.
Place = tuple[float, int]
BEFORE_ALL: Final[Place] = (float("-inf"), 0)


@dataclass(frozen=True)
class OldOutcomes:
    """Outcomes whose last record is old.

    Attributes:
        records: all records of those that can be removed now.
        last: the position up to which outcomes were looked at.
    """

    records: tuple[RemovedRecord, ...]
    last: Place


def hold_project(connection: Connection, project: str, project_id: int) -> None:
    """Keep others from learning, forgetting and rebuilding a project until the transaction ends."""
    lock_project(connection, project)
    hold_bases(connection, project_id)


def begin_removal(connection: Connection, project: str, project_id: int, until: float) -> None:
    """Lock a project, and note up to when its outcomes are removed.

    From then on an outcome that ended before that moment and is not on record is too old to be
    learnt: else a late delivery of a removed one would count twice. See `removed.py` for those
    that do not say when they ended.

    Args:
        connection: within a writing transaction.
        project: its name.
        project_id: its row.
        until: outcomes that were received before are removed.
    """
    hold_project(connection, project, project_id)
    table = projects.c
    connection.execute(
        update(projects)
        .where(
            table.id == project_id,
            or_(table.outcomes_until.is_(None), table.outcomes_until < until),
        )
        .values(outcomes_until=until)
    )


def count_old(connection: Connection, project_id: int, until: float) -> int:
    """Return how many outcomes of a project are old and can be removed.

    Args:
        connection: a transaction.
        project_id: whose.
        until: outcomes that were received before are old.
    """
    query = select(func.count()).where(
        outcomes.c.project_id == project_id,
        outcomes.c.received_at < until,
        outcomes.c.replaced_at == 0,
        ~_is_kept(project_id),
    )
    return connection.execute(query).scalar_one()


def oldest_left(connection: Connection, until: Column[float]) -> float | None:
    """Return when the oldest outcome was received that retention has yet to come to.

    Args:
        connection: a reading transaction.
        until: of `projects`, up to when it has: `outcomes_until` or `bodies_until`.
    """
    table = outcomes.c
    # For each project one look into an index.
    oldest = select(func.min(table.received_at)).where(
        table.project_id == projects.c.id,
        table.received_at >= func.coalesce(until, 0.0),
        table.replaced_at == 0,
    )
    every = select(oldest.scalar_subquery().label("at")).select_from(projects).subquery()
    return connection.execute(select(func.min(every.c.at))).scalar()


def count_with_texts(
    connection: Connection, project_id: int, until: float, gone_until: float
) -> int:
    """Return how many outcomes are old, have texts, and are not removed as a whole.

    Args:
        connection: a transaction.
        project_id: whose.
        until: outcomes that were received before are old.
        gone_until: those that were received before are removed where they can be.
    """
    table = outcomes.c
    done = select(projects.c.bodies_until).where(projects.c.id == project_id)
    query = select(func.count()).where(
        table.project_id == project_id,
        table.received_at < until,
        table.received_at >= func.coalesce(done.scalar_subquery(), 0.0),
        table.replaced_at == 0,
        or_(table.received_at >= gone_until, _is_kept(project_id)),
    )
    return connection.execute(query).scalar_one()


def _is_kept(project_id: int) -> ColumnElement[bool]:
    """Return whether an outcome is kept, however old it is.

    Consolidation has yet to read a record of it, or to take one back; or it was recorded last:
    SQLite would give its number to another one.
    """
    record = outcomes.alias()
    newest = select(func.max(outcomes.alias().c.id)).scalar_subquery()
    waits = (
        exists().where(table.c.project_id == project_id, table.c.outcome == record.c.id)
        for table in (waiting_episodes, waiting_retractions)
    )
    return exists().where(
        record.c.project_id == project_id,
        record.c.outcome_id == outcomes.c.outcome_id,
        or_(record.c.id == newest, *waits),
    )


def thin_outcomes(
    connection: Connection,
    project_id: int,
    until: float,
    scorer: OutcomeScorer,
    *,
    after: Place,
    limit: int = AT_ONCE,
) -> tuple[int, Place | None]:
    """Take the texts out of the next outcomes that are old.

    Args:
        connection: within a transaction that `hold_project` began.
        project_id: whose.
        until: outcomes that were received before are old.
        scorer: by the rules of today.
        after: where the outcomes before these ended.
        limit: how many outcomes at most.

    Returns:
        How many had texts, and where these end; None after the last one.
    """
    done = connection.execute(
        select(projects.c.bodies_until).where(projects.c.id == project_id)
    ).scalar()
    after = max(after, (float("-inf") if done is None else done, 0))
    found = _next_old(connection, project_id, until, after, limit)
    if not found:
        until = until if done is None else max(done, until)
        set_project(connection, project_id, bodies_until=until)
        return 0, None
    thinned_rows: list[tuple[int, bytes]] = []
    ended: list[tuple[int, float]] = []
    had_texts: set[str] = set()
    table = outcomes.c
    entries: dict[tuple[int, str], list[OutcomeEntry]] = {}
    for some in in_parts(found):
        ids = [each.outcome_id for each in some]
        query = select(table.id, table.outcome_id, table.ended_at, table.body).where(
            table.project_id == project_id, table.outcome_id.in_(ids)
        )
        rows = [row for row in connection.execute(query).all() if not is_thinned(row.body)]
        thinned_rows += [(row.id, thinned(row.body, scorer)) for row in rows]
        ended += [(row.id, row.ended_at) for row in rows]
        had_texts |= {row.outcome_id for row in rows}
        entries |= entries_of(connection, ((project_id, each) for each in ids))
    if thinned_rows:
        connection.execute(
            update(outcomes)
            .where(table.id == bindparam("row"))
            .values(body=bindparam("replacing")),
            [{"row": row, "replacing": body} for row, body in thinned_rows],
        )
    write_entries(connection, {key: _without_texts(some, scorer) for key, some in entries.items()})
    drop_past_tasks(connection, project_id, [row for row, _ in thinned_rows])
    drop_texts(connection, project_id, ended)
    last = (found[-1].received_at, found[-1].id)
    set_project(connection, project_id, bodies_until=last[0])
    return len(had_texts), last


def _without_texts(
    entries: Sequence[OutcomeEntry], scorer: OutcomeScorer
) -> Sequence[OutcomeEntry]:
    """Return entries without texts, each body once, as it was received first."""
    first: dict[bytes, float] = {}
    for body, received_at in entries:
        text = thinned(body, scorer)
        first[text] = min(received_at, first.get(text, received_at))
    return [OutcomeEntry(body, at) for body, at in first.items()]


def _next_old(
    connection: Connection, project_id: int, until: float, after: Place, limit: int
) -> list[Row[Any]]:
    """Return the next outcomes whose record is old, in the order of receipt."""
    table = outcomes.c
    then, row = after
    query = (
        select(table.outcome_id, table.received_at, table.id)
        .where(
            table.project_id == project_id,
            table.received_at < until,
            table.received_at >= then,
            or_(table.received_at > then, and_(table.received_at == then, table.id > row)),
            table.replaced_at == 0,
        )
        .order_by(table.received_at, table.id)
        .limit(limit)
    )
    return list(connection.execute(query))


def old_outcomes(
    connection: Connection, project_id: int, until: float, *, after: Place, limit: int = AT_ONCE
) -> OldOutcomes | None:
    """Return the next outcomes that are old; None after the last one.

    Args:
        connection: within a transaction that `begin_removal` began.
        project_id: whose.
        until: outcomes that were received before are old.
        after: where the outcomes before these ended.
        limit: how many outcomes at most.
    """
    found = _next_old(connection, project_id, until, after, limit)
    if not found:
        return None
    records: list[RemovedRecord] = []
    for some in in_parts(each.outcome_id for each in found):
        records += _records(connection, project_id, some)
    last = found[-1]
    return OldOutcomes(tuple(records), (last.received_at, last.id))


def _records(
    connection: Connection, project_id: int, outcome_ids: Sequence[str]
) -> Iterator[RemovedRecord]:
    """Yield all records of those of some outcomes that can be removed."""
    table = outcomes.c
    query = select(
        table.id, table.outcome_id, table.received_at, table.ended_at, table.replaced_at
    ).where(
        table.project_id == project_id, table.outcome_id.in_(outcome_ids), ~_is_kept(project_id)
    )
    return (RemovedRecord(*row) for row in connection.execute(query.order_by(table.id)))


def read_episodes(
    connection: Connection, project_id: int, records: Sequence[RemovedRecord]
) -> Iterator[EpisodeRow]:
    """Yield the episodes of records whose sums count."""
    for some in in_parts(each.row for each in records):
        query = (
            bodies()
            .join(episodes, episodes.c.outcome == outcomes.c.id)
            .where(
                episodes.c.project_id == project_id,
                episodes.c.outcome.in_(some),
                episodes.c.retracted_at.is_(None),
            )
            .order_by(episodes.c.outcome)
        )
        yield from stream(connection, query)


def remove_outcomes(
    connection: Connection,
    project_id: int,
    records: Sequence[RemovedRecord],
    tallies: Mapping[str, EpisodeTally],
    *,
    now: float,
) -> None:
    """Remove outcomes; every statistic of today stays as it is.

    Args:
        connection: within a transaction that `begin_removal` began.
        project_id: whose.
        records: all records of these outcomes.
        tallies: the sums over what `read_episodes` returned, by signature.
        now: seconds since the epoch.
    """
    bases = hold_bases(connection, project_id)
    assert bases is not None  # noqa: S101 - there is one from the first outcome on
    fold(connection, project_id, bases, [(each.ended_at, each.row) for each in records])
    mark_removed(connection, project_id, records)
    rows = [each.row for each in records]
    remove_episodes(connection, project_id, rows, tallies)
    drop_past_tasks(connection, project_id, rows)
    drop_runs(connection, project_id, ((each.row, each.ended_at) for each in records))
    ids = sorted({each.outcome_id for each in records})
    for column in (outcome_entries.c.outcome_id, outcome_commits.c.outcome_id):
        delete_named(connection, project_id, column, ids)
    delete_named(connection, project_id, outcomes.c.id, rows)
    # Lessons and the effect of advice are counted from what is left.
    drop_counts(connection, project_id)
    first = min(each.received_at for each in records) // DAY * DAY
    before = projects.c.removed_from
    removed_from = case((before < first, before), else_=first)
    note_change(connection, project_id, now, removed_from=removed_from)


def remove_advice(connection: Connection, project_id: int, until: float) -> int:
    """Delete some of what tasks and calls were told before a moment; return how many rows."""
    return sum(_delete_told(connection, table, project_id, until) for table in (exposures, hints))


def _delete_told(connection: Connection, table: Table, project_id: int, until: float) -> int:
    query = (
        select(table.c.id)
        .where(table.c.project_id == project_id, table.c.at < until, table.c.received_at < until)
        .order_by(table.c.at)
        .limit(AT_ONCE)
    )
    rows = connection.execute(query).scalars().all()
    delete_named(connection, project_id, table.c.id, rows)
    return len(rows)
