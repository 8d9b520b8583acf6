"""Credit: outcomes confirm and reject the memories that they used.

Confirming and rejecting stop at bounds, so their order matters: it is the one in which outcomes are
received, within what one batch brings; batches count in the order of their commits.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Row, select

from trackrecord.learning.memories.rules import MemoryRules, confirmed, rejected
from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.outcome_scorer import ScoredOutcome

from ...database.row_locks import for_update
from ..read import CHUNK
from ..tables import memories
from .judging import record_judgement

_JUDGES = {Verdict.HELPFUL: confirmed, Verdict.HARMFUL: rejected}


def credit_memories(
    connection: Connection,
    project_ids: Mapping[str, int],
    recorded: Iterable[ScoredOutcome],
    rules: MemoryRules,
    now: float,
) -> None:
    """Confirm what helpful outcomes used, reject what harmful ones did; unknown ids are passed.

    Args:
        connection: within the intake's transaction.
        project_ids: the rows of projects by name.
        recorded: outcomes that are new, so that each has its say exactly once.
        rules: how far a confirmation or rejection reaches.
        now: seconds since the epoch.
    """
    judging = [
        (each, _JUDGES[each.verdict])
        for each in recorded
        if each.memory_ids and each.verdict in _JUDGES
    ]
    if not judging:
        return
    judging.sort(key=lambda pair: (pair[0].received_at, pair[0].project, pair[0].outcome_id))
    keys = {(project_ids[each.project], name) for each, _ in judging for name in each.memory_ids}
    known = lock_existing(connection, keys)
    for outcome, judge in judging:
        for name in outcome.memory_ids:
            key = (project_ids[outcome.project], name)
            if key in known:
                record_judgement(
                    connection,
                    memory_row(connection, *key),
                    judge,
                    rules,
                    now=now,
                    because_of=outcome.outcome_id,
                )


def lock_existing(connection: Connection, keys: set[tuple[int, str]]) -> set[tuple[int, str]]:
    """Lock the memories that exist, in id order: transactions cannot deadlock; return their keys.

    Args:
        connection: within a writing transaction.
        keys: the project of each memory, and its id.
    """
    known: set[tuple[int, str]] = set()
    for project_id, group in groupby(sorted(keys), key=itemgetter(0)):
        names = [name for _, name in group]
        for start in range(0, len(names), CHUNK):
            query = (
                select(memories.c.project_id, memories.c.memory_id)
                .where(memories.c.project_id == project_id)
                .where(memories.c.memory_id.in_(names[start : start + CHUNK]))
                .order_by(memories.c.id)
            )
            rows = connection.execute(for_update(connection, query, memories))
            known.update((row.project_id, row.memory_id) for row in rows)
    return known


def memory_row(connection: Connection, project_id: int, memory_id: str) -> Row[Any]:
    """Read a memory that exists, again each time: a batch may judge it more than once."""
    query = select(memories).where(
        memories.c.project_id == project_id, memories.c.memory_id == memory_id
    )
    return connection.execute(query).one()
