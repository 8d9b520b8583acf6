"""Sums over the episodes of removed outcomes, by signature: a rebuild begins with them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, func, insert, select, update

from trackrecord.learning.competences.episodes.tally import EpisodeTally

from ..database.parts import delete_named, in_parts
from .tables import competence_credits, digest_of, episodes, removed_episodes, signatures

# Those that are counted by a tuple of names.
_OF_NAMES: Final = ("orders", "arguments", "conditions")
_OF_TEXT: Final = (
    "trigger_successes", "trigger_failures", "failure_modes", "speakers", "failed_speakers",
)  # fmt: skip
_NUMBERS: Final = ("successes", "failures", "latency_sum_ms", "latency_count", "last_used_at")


class StoredTally(msgspec.Struct, forbid_unknown_fields=True):
    """The sums as JSON has them; what counts tuples is a list of pairs."""

    successes: int
    failures: int
    latency_sum_ms: int
    latency_count: int
    last_used_at: float | None
    orders: list[tuple[tuple[str, ...], int]]
    arguments: list[tuple[tuple[str, str, str], int]]
    conditions: list[tuple[tuple[str, str], int]]
    trigger_successes: dict[str, int]
    trigger_failures: dict[str, int]
    failure_modes: dict[str, int]
    speakers: dict[str, int]
    failed_speakers: dict[str, int] = {}


def remove_episodes(
    connection: Connection,
    project_id: int,
    rows: Iterable[int],
    tallies: Mapping[str, EpisodeTally],
) -> None:
    """Delete episodes that consolidation has read, and keep their sums.

    Credits of their outcomes stay, each under a number below all others of its record and below
    nothing: rows that are gone, or were another store's, may have had the same numbers.

    Args:
        connection: within the transaction that removes their outcomes.
        project_id: whose.
        rows: the rows of the outcomes.
        tallies: the sums over those that were not taken back, by signature.
    """
    for digests in in_parts(map(digest_of, tallies)):
        query = select(signatures.c.id, signatures.c.name).where(
            signatures.c.project_id == project_id, signatures.c.digest.in_(digests)
        )
        for row in connection.execute(query).all():
            _add(connection, row.id, tallies[row.name])
    credit, other = competence_credits.c, competence_credits.alias().c
    lowest = select(func.coalesce(func.min(other.outcome), 0)).where(
        other.competence_id == credit.competence_id, other.outcome < 0
    )
    for some in in_parts(sorted(rows)):
        delete_named(connection, project_id, episodes.c.outcome, some)
        connection.execute(
            update(competence_credits)
            .where(credit.project_id == project_id, credit.outcome.in_(some))
            .values(outcome=lowest.scalar_subquery() - credit.outcome)
        )


def _add(connection: Connection, signature_id: int, tally: EpisodeTally) -> None:
    known = removed_tally(connection, signature_id)
    merged = known or EpisodeTally()
    merged.merge(tally)
    text = _encoded(merged)
    own = removed_episodes.c.signature_id == signature_id
    if known is None:
        values = {"signature_id": signature_id, "tally": text}
        connection.execute(insert(removed_episodes).values(values))
    else:
        connection.execute(update(removed_episodes).where(own).values(tally=text))


def removed_tally(connection: Connection, signature_id: int) -> EpisodeTally | None:
    """Return the sums over the removed episodes of a signature; None without any."""
    query = select(removed_episodes.c.tally).where(removed_episodes.c.signature_id == signature_id)
    text = connection.execute(query).scalar()
    return None if text is None else _decoded(text)


def removed_tallies(connection: Connection, project_id: int) -> dict[str, EpisodeTally]:
    """Return the sums over the removed episodes of a project, by signature."""
    query = (
        select(signatures.c.name, removed_episodes.c.tally)
        .join(removed_episodes, removed_episodes.c.signature_id == signatures.c.id)
        .where(signatures.c.project_id == project_id)
    )
    return {row.name: _decoded(row.tally) for row in connection.execute(query)}


def credited_by_removed(connection: Connection, project_id: int) -> list[str]:
    """Return the records that removed outcomes credited."""
    credit = competence_credits.c
    query = select(credit.competence_id).where(credit.project_id == project_id, credit.outcome < 0)
    return sorted(connection.execute(query.distinct()).scalars())


def _encoded(tally: EpisodeTally) -> str:
    fields: dict[str, Any] = {name: getattr(tally, name) for name in (*_NUMBERS, *_OF_TEXT)}
    fields |= {name: sorted(getattr(tally, name).items()) for name in _OF_NAMES}
    return msgspec.json.encode(fields, order="deterministic").decode()


_decoder = msgspec.json.Decoder(StoredTally)


def _decoded(text: str) -> EpisodeTally:
    stored = _decoder.decode(text)
    tally = EpisodeTally()
    for name in _NUMBERS:
        setattr(tally, name, getattr(stored, name))
    for name in (*_OF_NAMES, *_OF_TEXT):
        setattr(tally, name, Counter(dict(getattr(stored, name))))
    return tally
