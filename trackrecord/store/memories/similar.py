"""Finding the memories that a text is similar to: all of them, without reading them all.

Trigrams are marked in blocks, see learning/memories/trigrams.py; what passes is compared
exactly. Whoever marks or looks holds the project's lock.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from sqlalchemy import Connection, Engine, Row, bindparam, func, select, update

from trackrecord.learning.memories.rules import MemoryRules, standing_at_any_time, without_prefix
from trackrecord.learning.memories.trigrams import (
    classes_within,
    cleared,
    jaccard,
    marked,
    possibly_similar,
    size_class,
    slots_in,
    trigrams,
)
from trackrecord.learning.text.words import indexed_words, lexemes

from ..database.engine import dialect_of, reading, writing
from ..database.full_text import MEMORY_WORDS
from ..database.leases import advisory_lock
from ..database.parts import in_parts
from ..database.upsert import Upsert
from .read import memory_state
from .tables import memories, memory_blocks

_BLOCK_KEY = ("project_id", "size_class", "number")
_REPLACE: Final = Upsert(
    memory_blocks,
    (*_BLOCK_KEY, "planes"),
    key=_BLOCK_KEY,
    combine=lambda _table, new: {"planes": new.planes},
)
_MARK_AT_ONCE = 5000


@dataclass(frozen=True)
class SimilarMemory:
    """A memory that a text is similar to."""

    row: Row[Any]
    similarity: float


def lock_memories(connection: Connection, project_id: int) -> None:
    """Let no one else store or forget memories of the project until the transaction ends."""
    name = f"memories of {project_id}".encode()
    advisory_lock(connection, int.from_bytes(blake2b(name, digest_size=8).digest(), signed=True))


def similar_memories(
    connection: Connection, project_id: int, text: str, threshold: float
) -> list[SimilarMemory]:
    """Every memory of a project whose similarity to a text is at least the threshold."""
    grams = trigrams(without_prefix(text))
    found = []
    for row in _candidates(connection, project_id, grams, threshold):
        alike = jaccard(grams, trigrams(without_prefix(row.text)))
        if alike >= threshold:
            found.append(SimilarMemory(row, alike))
    return found


def _candidates(
    connection: Connection, project_id: int, grams: frozenset[str], threshold: float
) -> Iterator[Row[Any]]:
    own = memories.c.project_id == project_id
    if not grams:  # like any other text of less than three characters
        yield from connection.execute(select(memories).where(own, memories.c.size_class == 0))
        return
    for kind, planes_of_kind in _blocks_of(connection, project_id, grams, threshold).items():
        # Blocks are numbered without a gap, so that a place among them is a position.
        positions = possibly_similar(planes_of_kind, kind, grams, threshold)
        # Class by class: of pairs of class and position, SQLite's planner makes a long search.
        for some in in_parts(positions):
            yield from connection.execute(
                select(memories).where(
                    own, memories.c.size_class == kind, memories.c.position.in_(some)
                )
            )


def _blocks_of(
    connection: Connection, project_id: int, grams: frozenset[str], threshold: float
) -> dict[int, list[bytes]]:
    """The blocks in which similar memories may be marked, by class, in their order."""
    kinds = classes_within(len(grams), threshold)
    blocks = memory_blocks.c
    query = (
        select(blocks.size_class, blocks.planes)
        .where(
            blocks.project_id == project_id,
            blocks.size_class.between(kinds.start, kinds.stop - 1),
        )
        .order_by(blocks.size_class, blocks.number)
    )
    found: dict[int, list[bytes]] = {}
    for kind, planes in dialect_of(connection).fetch_blobs(connection, query):
        found.setdefault(kind, []).append(planes)
    return found


def mark_waiting(engine: Engine, rules: MemoryRules) -> int:
    """Let memories be found that a migration took over; answers how many there were."""
    with reading(engine) as connection:
        query = select(memories.c.project_id).where(memories.c.position.is_(None))
        projects = sorted(set(connection.execute(query).scalars()))
    total = 0
    for project_id in projects:
        with writing(engine) as connection:
            lock_memories(connection, project_id)
            total += mark_new(connection, project_id, rules)
    return total


def mark_new(connection: Connection, project_id: int, rules: MemoryRules) -> int:
    """Let memories that are not marked yet be found; answers how many there were."""
    query = (
        select(memories)
        .where(memories.c.project_id == project_id, memories.c.position.is_(None))
        .order_by(memories.c.id)
        .limit(_MARK_AT_ONCE)
    )
    total = 0
    while rows := connection.execute(query).all():
        mark(connection, project_id, rows, rules)
        total += len(rows)
        if len(rows) < _MARK_AT_ONCE:
            break
    return total


def mark(
    connection: Connection, project_id: int, rows: Iterable[Row[Any]], rules: MemoryRules
) -> None:
    """Index new memories for similarity search."""
    blocks: dict[tuple[int, int], bytes] = {}
    next_of: dict[int, int] = {}
    places, words = [], []
    for row in rows:
        plain = without_prefix(row.text)
        grams = trigrams(plain)
        kind = size_class(len(grams))
        if kind not in next_of:
            next_of[kind] = _next_position(connection, project_id, kind)
        position = next_of[kind]
        next_of[kind] += 1
        number, slot = divmod(position, slots_in(kind))
        if (kind, number) not in blocks:
            blocks[kind, number] = _block(connection, project_id, kind, number)
        blocks[kind, number] = marked(blocks[kind, number], grams, slot)
        standing = standing_at_any_time(rules, memory_state(row))
        places.append({"row": row.id, "kind": kind, "place": position, "stands": standing})
        words.append(words_of(row))
    connection.execute(_PLACE, places)
    _write_blocks(connection, project_id, blocks)
    MEMORY_WORDS.add(connection, words)


def words_of(row: Row[Any]) -> tuple[int, list[str]]:
    """Return what the index of words has of a memory: its row, and its lexemes."""
    plain = without_prefix(row.text)
    return row.id, lexemes(row.project_id, indexed_words(plain))


_PLACE = (
    update(memories)
    .where(memories.c.id == bindparam("row"))
    .values(size_class=bindparam("kind"), position=bindparam("place"), standing=bindparam("stands"))
)


def _next_position(connection: Connection, project_id: int, kind: int) -> int:
    last = connection.execute(
        select(func.max(memories.c.position)).where(
            memories.c.project_id == project_id, memories.c.size_class == kind
        )
    ).scalar()
    return 0 if last is None else int(last) + 1


def unmark(connection: Connection, row: Row[Any]) -> None:
    """Let a memory that is about to be erased be found no more."""
    if row.position is None:
        return
    plain = without_prefix(row.text)
    number, slot = divmod(row.position, slots_in(row.size_class))
    block = _block(connection, row.project_id, row.size_class, number)
    block = cleared(block, trigrams(plain), slot)
    _write_blocks(connection, row.project_id, {(row.size_class, number): block})
    MEMORY_WORDS.remove(connection, *words_of(row))


def _block(connection: Connection, project_id: int, kind: int, number: int) -> bytes:
    planes = connection.execute(
        select(memory_blocks.c.planes).where(
            memory_blocks.c.project_id == project_id,
            memory_blocks.c.size_class == kind,
            memory_blocks.c.number == number,
        )
    ).scalar()
    return bytes(planes or b"")


def _write_blocks(
    connection: Connection, project_id: int, blocks: dict[tuple[int, int], bytes]
) -> None:
    _REPLACE.execute(
        connection,
        [(project_id, kind, number, planes) for (kind, number), planes in sorted(blocks.items())],
    )
