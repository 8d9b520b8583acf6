"""Signatures: the sums over the episodes of each procedure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, exists, select, update

from trackrecord.learning.competences.episodes.tally import EpisodeTally

from ..database.engine import dialect_of
from ..database.leases import for_update
from ..database.upsert import Columns, Upsert, later
from .episodes import use_again
from .signature_counts import add_facts, drop_empty_facts
from .tables import competences, digest_of, episodes, signature_facts, signatures


@dataclass(frozen=True)
class StoredSignature:
    """A signature as it is on record; the tally has its sums, `read_facts` fills in the rest."""

    id: int
    name: str
    tally: EpisodeTally


def add_tallies(
    connection: Connection, project_id: int, tallies: Mapping[str, EpisodeTally]
) -> dict[str, int]:
    """Add tallies, by signature, to a project's sums; mark the signatures as changed.

    Returns:
        The row of each signature.
    """
    rows = sorted(_row(project_id, name, tally) for name, tally in tallies.items())
    _ADD.execute(connection, rows)
    ids = {each.name: each.id for each in stored_signatures(connection, project_id, tallies)}
    add_facts(connection, {ids[name]: tally for name, tally in tallies.items()})
    return ids


def take_back_tallies(
    connection: Connection, project_id: int, tallies: Mapping[str, EpisodeTally]
) -> None:
    """Add tallies that lie below nothing to a project's sums, and mark the signatures as changed.

    Args:
        connection: within a writing transaction, after their episodes were marked as retracted.
        project_id: whose sums.
        tallies: what is taken back, by signature.
    """
    if not tallies:
        return
    ids = add_tallies(connection, project_id, tallies)
    drop_empty_facts(connection, list(ids.values()))
    for signature_id in sorted(ids.values()):
        use_again(connection, signature_id)


_COLUMNS = tuple(column.name for column in signatures.c if column.name != "id")


_SUMS = ("successes", "failures", "latency_sum_ms", "latency_count")


def _row(project_id: int, name: str, tally: EpisodeTally) -> tuple[Any, ...]:
    sums = (getattr(tally, column) for column in _SUMS)
    return (project_id, digest_of(name), name, *sums, tally.last_used_at, True)


def _added(table: Columns, new: Columns) -> dict[str, Any]:
    return {
        **{name: table[name] + new[name] for name in _SUMS},
        "last_used_at": later(table.last_used_at, new.last_used_at),
        "changed": new.changed,
    }


_ADD: Final = Upsert(signatures, _COLUMNS, key=_COLUMNS[:2], combine=_added)


def stored_signatures(
    connection: Connection, project_id: int, names: Collection[str]
) -> list[StoredSignature]:
    """Return the stored ones of the named signatures."""
    digests = [digest_of(name) for name in names]
    return _read(
        connection, signatures.c.project_id == project_id, signatures.c.digest.in_(digests)
    )


def changed_signatures(
    connection: Connection, project_id: int, *, limit: int, after: int = 0
) -> list[StoredSignature]:
    """Signatures whose records must still follow, in the order of their rows.

    A writing transaction holds them: nobody stores a record of them by hand at the same time.
    """
    return _read(
        connection,
        signatures.c.project_id == project_id,
        # Spelt as in the partial index, so that it is used.
        signatures.c.changed,
        signatures.c.id > after,
        limit=limit,
    )


class FailingSignature(NamedTuple):
    """A procedure that no episode succeeded with.

    Attributes:
        name: its signature.
        failures: its episodes.
    """

    name: str
    failures: int


def failing_signatures(
    connection: Connection, project_id: int, *, from_failures: int, limit: int
) -> list[FailingSignature]:
    """Return the procedures that never succeeded, those with the most failures first.

    Args:
        connection: a reading transaction.
        project_id: whose procedures.
        from_failures: how many episodes one must have.
        limit: how many to return at most.
    """
    table = signatures.c
    by_name = dialect_of(connection).by_code_point(table.name)
    query = select(table.name, table.failures).where(
        table.project_id == project_id, table.successes == 0, table.failures >= from_failures
    )
    rows = connection.execute(query.order_by(table.failures.desc(), by_name).limit(limit))
    return [FailingSignature(name, int(failures)) for name, failures in rows]


def _read(
    connection: Connection, *where: ColumnElement[bool], limit: int | None = None
) -> list[StoredSignature]:
    table = signatures.c
    query = select(table.id, table.name, *(table[each] for each in _SUMS), table.last_used_at)
    wanted = query.where(*where).order_by(table.id).limit(limit)
    rows = connection.execute(for_update(connection, wanted, signatures))
    return [StoredSignature(id_, name, EpisodeTally(*sums)) for id_, name, *sums in rows]


def clear_changed(connection: Connection, ids: Collection[int]) -> None:
    """Note that the records of signatures have followed."""
    connection.execute(
        update(signatures).where(signatures.c.id.in_(list(ids))).values(changed=False)
    )


def clear_sums(connection: Connection, which: ColumnElement[bool]) -> None:
    """Set the sums of some signatures to nothing, for a rebuild to add them up again."""
    those = select(signatures.c.id).where(which)
    connection.execute(delete(signature_facts).where(signature_facts.c.signature_id.in_(those)))
    nothing = dict.fromkeys(_SUMS, 0)
    connection.execute(
        update(signatures).where(which).values(nothing | {"last_used_at": None, "changed": True})
    )


def drop_unused(connection: Connection, project_id: int) -> None:
    """Remove the signatures of a project that have neither episodes nor a record."""
    connection.execute(
        delete(signatures).where(
            signatures.c.project_id == project_id,
            signatures.c.successes + signatures.c.failures == 0,
            ~exists().where(episodes.c.signature_id == signatures.c.id),
            ~exists().where(competences.c.signature_id == signatures.c.id),
        )
    )
