"""Outcomes on record: the entries that each is joined from, and the commits that it names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, literal, or_, select

from trackrecord.learning.outcomes.scoring import Verdict
from trackrecord.wire.join import OutcomeEntry

from ..database.parts import in_parts_by_project
from ..database.upsert import insert_rows
from .tables import outcome_commits, outcome_entries, outcomes

if TYPE_CHECKING:
    from trackrecord.wire.outcome_scorer import ScoredOutcome

OUTCOME_IS_CURRENT: Final[ColumnElement[bool]] = outcomes.c.replaced_at == 0


def current_as_of(
    replaced_at: ColumnElement[float | None], at: float | None
) -> ColumnElement[bool]:
    """Return whether a row had not been replaced yet, by a column that is NULL until then.

    Args:
        replaced_at: the column.
        at: a past moment; None for now.
    """
    if at is None:
        return replaced_at.is_(None)
    return or_(replaced_at.is_(None), replaced_at > at)


_DIGEST_BYTES: Final = 16

Key = tuple[int, str]


def entries_of(connection: Connection, keys: Iterable[Key]) -> dict[Key, list[OutcomeEntry]]:
    """Return the entries of outcomes by project and outcome_id; nothing for those with one."""
    table = outcome_entries.c
    found: defaultdict[Key, list[OutcomeEntry]] = defaultdict(list)
    for project_id, some in in_parts_by_project(keys):
        # Those of one batch came at the same moment: their order must be that of any database.
        query = (
            select(table.outcome_id, table.body, table.received_at)
            .where(table.project_id == project_id, table.outcome_id.in_(some))
            .order_by(table.outcome_id, table.received_at, table.digest)
        )
        for outcome_id, body, received_at in connection.execute(query):
            found[project_id, outcome_id].append(OutcomeEntry(body, received_at))
    return dict(found)


def outcomes_in_parts(
    connection: Connection,
    project_id: int | None,
    *columns: ColumnElement[Any],
    where: ColumnElement[bool] | None = None,
    at_once: int = 2000,
) -> Iterator[Sequence[Row[Any]]]:
    """Yield records of outcomes, also replaced ones, in the order of their rows.

    Args:
        connection: a transaction, which may change them meanwhile.
        project_id: whose outcomes; None for all.
        columns: what is read of them, with their ids.
        where: a further condition.
        at_once: how many.
    """
    own, last = outcomes.c.id, 0
    query = select(*columns).order_by(own).limit(at_once)
    if project_id is not None:
        query = query.where(outcomes.c.project_id == project_id)
    if where is not None:
        query = query.where(where)
    while rows := connection.execute(query.where(own > last)).all():
        yield rows
        last = rows[-1].id


def write_entries(connection: Connection, kept: Mapping[Key, Sequence[OutcomeEntry]]) -> None:
    """Replace the entries of outcomes.

    Args:
        connection: within a writing transaction that holds the outcomes' records.
        kept: the entries by project and outcome_id.
    """
    table = outcome_entries.c
    for project_id, outcome_id in sorted(kept):
        connection.execute(
            delete(outcome_entries).where(
                table.project_id == project_id, table.outcome_id == outcome_id
            )
        )
    rows = [
        (*key, blake2b(each.body, digest_size=_DIGEST_BYTES).digest(), each.received_at, each.body)
        for key, entries in sorted(kept.items())
        for each in entries
    ]
    insert_rows(connection, outcome_entries, tuple(outcome_entries.c), rows)


SHORTEST_PREFIX: Final = 7


def note_commits(
    connection: Connection,
    project_ids: Mapping[str, int],
    recorded: Iterable[tuple[int, ScoredOutcome]],
) -> None:
    """Note the commits of outcomes; few have any."""
    rows = {
        (project_ids[each.project], commit.lower(), each.outcome_id)
        for _, each in recorded
        for commit in each.commits or ()
    }
    insert_rows(connection, outcome_commits, tuple(outcome_commits.c), sorted(rows))


def rows_of_commit(project_id: int, prefix: str) -> Select[tuple[int]]:
    """Select the rows of the outcomes that made a commit.

    Args:
        project_id: whose outcomes.
        prefix: the commit's hash, or the beginning of it; fewer than seven characters stand for
            no commit. The outcomes, too, may know no more than the beginning.
    """
    table, named = outcome_commits.c, prefix.lower()
    begun = [named[:length] for length in range(SHORTEST_PREFIX, len(named))]
    is_it = table.commit_id.startswith(named, autoescape=True) | table.commit_id.in_(begun)
    made = select(table.outcome_id).where(table.project_id == project_id, is_it)
    return select(outcomes.c.id).where(
        outcomes.c.project_id == project_id,
        outcomes.c.outcome_id.in_(made),
        literal(len(prefix) >= SHORTEST_PREFIX),
    )


@dataclass(frozen=True, slots=True)
class Replaced:
    """A record that is replaced, or is about to be.

    Attributes:
        row: its row.
        project_id: its project.
        replaced_at: from when on it counts no longer, seconds since the epoch; 0 until then.
        outcome: what it says, with the score and the verdict that it was counted with.
    """

    row: int
    project_id: int
    replaced_at: float
    outcome: ScoredOutcome


# A member of an enum gives its value slowly.
_VERDICTS = {verdict: verdict.value for verdict in Verdict}
_COLUMNS = tuple(column for column in outcomes.c if column.name not in ("id", "replaced_at"))


def record(
    connection: Connection, project_ids: Mapping[str, int], batch: Iterable[ScoredOutcome]
) -> list[tuple[int, ScoredOutcome]]:
    """Insert the outcomes that are not on record yet; return them with their rows, in order.

    Args:
        connection: within a writing transaction.
        project_ids: the rows of the projects by name.
        batch: outcomes, no two of one project with the same id.
    """
    by_key = {(project_ids[each.project], each.outcome_id): each for each in batch}
    rows: list[tuple[Any, ...]] = [
        (
            key[0],
            key[1],
            each.task_id,
            each.received_at,
            each.ended_at,
            each.success,
            each.raw_score,
            each.verdict and _VERDICTS[each.verdict],
            each.body,
            bool(each.named),
        )
        for key, each in sorted(by_key.items(), key=lambda item: item[0])
    ]
    returning = (outcomes.c.id, outcomes.c.project_id, outcomes.c.outcome_id)
    inserted = insert_rows(connection, outcomes, _COLUMNS, rows, returning=returning)
    return sorted(
        ((row_id, by_key[project_id, outcome_id]) for row_id, project_id, outcome_id in inserted),
        key=lambda pair: pair[0],
    )
