"""Forgotten ids, marked so that they do not come back, and a record of each act.

Neither holds anything of what was forgotten. A mark is a digest of an id with its project, so that
a delivery that is repeated, an amendment and a log that is read again are recognised.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal

from sqlalchemy import Column, Connection, Double, LargeBinary, String, Text, insert, select, update

from trackrecord.wire.subject import Subject

from ..database.leases import advisory_lock, shared_locks
from ..database.metadata import Id, table
from ..database.parts import in_parts
from ..database.upsert import insert_rows

_DIGEST_BYTES: Final = 16

Kind = Literal["outcome", "memory", "exposure", "feedback", "hint"]
# A project and an id in it.
Name = tuple[str, str]

forgotten_ids = table(
    "forgotten_ids",
    Column("digest", LargeBinary(_DIGEST_BYTES), primary_key=True),
    Column("at", Double, nullable=False),
)

# One row for each act; finished_at stays empty until nothing is left anywhere.
forgettings = table(
    "forgettings",
    Column("id", Id, primary_key=True),
    # Of what was forgotten: by it, an act that was interrupted is found again.
    Column("digest", LargeBinary(_DIGEST_BYTES), nullable=False),
    # "source", "task" or "project"
    Column("what", String(16), nullable=False),
    Column("actor", Text, nullable=False),
    Column("at", Double, nullable=False),
    Column("finished_at", Double),
    # A JSON object: kind → how many of it were erased.
    Column("counts", Text, nullable=False),
)


def lock_project(connection: Connection, project: str) -> None:
    """Let nothing be learnt of a project until the transaction ends."""
    advisory_lock(connection, _lock_key(project))


def share_projects(connection: Connection, names: Iterable[str]) -> None:
    """Lock these projects against being forgotten until the transaction ends."""
    shared_locks(connection, [_lock_key(name) for name in sorted(set(names))])


def _lock_key(project: str) -> int:
    digest = blake2b(f"learning {project}".encode(errors="replace"), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def digest_of_id(kind: Kind, project: str, given_id: str) -> bytes:
    """Return the digest of a forgotten id."""
    return _digest(kind, project, given_id)


def _digest(*parts: str) -> bytes:
    text = "".join(f"{len(part)}:{part}" for part in parts)
    return blake2b(text.encode(errors="surrogatepass"), digest_size=_DIGEST_BYTES).digest()


def mark_forgotten(connection: Connection, digests: Iterable[bytes], now: float) -> None:
    """Remember ids as forgotten; see `digest_of_id`."""
    for some in in_parts(((digest, now) for digest in sorted(set(digests))), 10_000):
        insert_rows(connection, forgotten_ids, tuple(forgotten_ids.c), some)


def forgotten_among(connection: Connection, kind: Kind, names: Collection[Name]) -> set[Name]:
    """Return which of some ids were forgotten.

    Args:
        connection: a transaction that shares their projects, so that none is forgotten meanwhile.
        kind: of what the ids are.
        names: ids with their projects.
    """
    # Nearly always nothing was ever forgotten.
    if connection.execute(select(forgotten_ids.c.digest).limit(1)).first() is None:
        return set()
    by_digest = {digest_of_id(kind, *name): name for name in names}
    found: set[Name] = set()
    for some in in_parts(sorted(by_digest)):
        query = select(forgotten_ids.c.digest).where(forgotten_ids.c.digest.in_(some))
        found.update(by_digest[bytes(digest)] for digest in connection.execute(query).scalars())
    return found


def forgotten_since(connection: Connection, moment: float) -> frozenset[bytes]:
    """Return the digests of the subjects that were forgotten at a moment or later."""
    query = select(forgettings.c.digest).where(forgettings.c.at >= moment)
    return frozenset(bytes(digest) for digest in connection.execute(query).scalars())


def digest_of_subject(subject: Subject) -> bytes:
    """Return the digest of what was forgotten in one act."""
    return _digest(subject.what, subject.project, subject.name)


@dataclass(frozen=True)
class Begun:
    """An act of forgetting that is on record.

    Attributes:
        row: its row.
        counts: how many of each kind were erased.
    """

    row: int
    counts: Mapping[str, int]


def note_forgetting(
    connection: Connection, subject: Subject, counts: Mapping[str, int], *, actor: str, now: float
) -> None:
    """Put an act on record, as one that is not finished yet."""
    connection.execute(
        insert(forgettings).values(
            digest=digest_of_subject(subject),
            what=subject.what,
            actor=actor,
            at=now,
            counts=json.dumps(counts),
        )
    )


def unfinished(connection: Connection, subject: Subject) -> list[Begun]:
    """Return the acts about a subject that were interrupted before nothing was left anywhere."""
    query = select(forgettings.c.id, forgettings.c.counts).where(
        forgettings.c.digest == digest_of_subject(subject),
        forgettings.c.finished_at.is_(None),
    )
    return [
        Begun(row.id, json.loads(row.counts))
        for row in connection.execute(query.order_by(forgettings.c.id))
    ]


def finish_forgetting(
    connection: Connection, row: int, counts: Mapping[str, int], *, now: float
) -> None:
    """Note that nothing is left anywhere."""
    connection.execute(
        update(forgettings)
        .where(forgettings.c.id == row)
        .values(finished_at=now, counts=json.dumps(counts))
    )
