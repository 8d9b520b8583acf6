"""Reading a project's rates from its recorded outcomes.

Most of it stands in the bodies only, so they are read, each as far as it is needed: a million
outcomes take a few seconds, and no column more is written for each one that is learnt.
"""

from collections.abc import Iterator

import msgspec
from sqlalchemy import ColumnElement, Connection, select

from trackrecord.learning.outcomes.rates import ProcessFacts, Snapshot, snapshot
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.rules_bundle import Rules

from ..ledger.read import own_items
from ..ledger.receipts import OUTCOME, read_receipts
from ..ledger.subjects import PATTERN
from ..ledger.tables import items, receipts
from ..outcomes.entries import OUTCOME_IS_CURRENT
from ..outcomes.tables import outcomes
from ..patterns.read import read_standings

# Bodies may have a megabyte each: no more than this many are in memory at once.
_BODIES = 200


class _Process(msgspec.Struct, gc=False):
    reviews: int | None = None
    rejections: int | None = None
    test_fail_loops: int | None = None
    hard_limit_hits: int | None = None


class _Body(msgspec.Struct, gc=False):
    """The part of an outcome that the rates are made of; all else is skipped undecoded."""

    process: _Process | None = None
    retry_count: int | None = None
    tool_graph: list[msgspec.Raw] | None = None


_decoder = msgspec.json.Decoder(_Body)
_NOTHING = _Process()


def read_snapshot(
    connection: Connection,
    project_id: int | None,
    rules: Rules,
    *,
    now: float,
    since: float | None = None,
) -> Snapshot:
    """Return the rates of a project over everything received so far.

    Args:
        connection: a reading transaction.
        project_id: whose rates; None for a project of which nothing is on record.
        rules: what makes a pattern proven.
        now: the moment, seconds since the epoch.
        since: the moment of receipt from which on outcomes count; None: all of them.
    """
    if project_id is None:
        return snapshot((), touching_proven=0, at=now, since=since)
    return snapshot(
        _facts(connection, project_id, now, since),
        touching_proven=_touching_proven(connection, project_id, rules, now, since),
        at=now,
        since=since,
    )


def _facts(
    connection: Connection, project_id: int, now: float, since: float | None
) -> Iterator[ProcessFacts]:
    query = select(
        outcomes.c.success, outcomes.c.raw_score, outcomes.c.task_id, outcomes.c.body
    ).where(
        outcomes.c.project_id == project_id,
        # Of a task that nobody knows the end of, nothing is compared.
        outcomes.c.success.is_not(None),
        OUTCOME_IS_CURRENT,
        *_received(outcomes.c.received_at, now, since),
    )
    rows = connection.execute(query.execution_options(yield_per=_BODIES))
    for success, raw_score, task_id, body in rows:
        told = _decoder.decode(body)
        process = told.process or _NOTHING
        yield ProcessFacts(
            success,
            raw_score,
            process.reviews,
            process.rejections,
            process.test_fail_loops,
            process.hard_limit_hits,
            told.retry_count,
            None if told.tool_graph is None else len(told.tool_graph),
            task_id,
        )


def _touching_proven(
    connection: Connection,
    project_id: int,
    rules: Rules,
    now: float,
    since: float | None,
) -> int:
    """Return how many outcomes touched a pattern that is proven now, each counted once."""
    standings = read_standings(connection, project_id, rules, now=now)
    proven = {
        each.facts.slug
        for each in standings
        if each.state is Maturity.PROVEN and not each.is_inverted
    }
    if not proven:
        return 0
    known = select(items.c.id, items.c.name).where(own_items(project_id, PATTERN))
    ids = {row.id for row in connection.execute(known) if row.name in proven}
    query = select(outcomes.c.id).where(
        outcomes.c.project_id == project_id, *_received(outcomes.c.received_at, now, since)
    )
    received = set(connection.execute(query).scalars())
    return sum(
        receipt.number in received and not ids.isdisjoint(row[0] for row in receipt.rows)
        for receipt in read_receipts(connection, project_id, receipts.c.kind == OUTCOME)
    )


def _received(
    column: ColumnElement[float], now: float, since: float | None
) -> list[ColumnElement[bool]]:
    return [column <= now] if since is None else [column >= since, column <= now]
