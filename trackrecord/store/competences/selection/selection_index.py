"""The index of selection: numbers and words of records, stored next to each record."""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final

from sqlalchemy import Connection, delete, tuple_

from trackrecord.learning.competences.phrases import phrases_of_record, text_of, word_numbers
from trackrecord.learning.competences.record import Competence

from ...database.parts import in_parts
from ...database.upsert import Columns, Upsert, insert_rows
from ..tables import competence_numbers, competence_words

# A phrase's number takes the last bits of what it is known by.
PHRASE_BITS = 7

_COLUMNS = (
    "project_id", "competence_id", "is_selectable", "confidence", "successes", "failures",
    "last_reinforced_at", "half_life_days", "words_key", "text_digest", "credited_successes",
    "credited_failures", "credited_latency_sum_ms", "credited_latency_count",
)  # fmt: skip
_REPLACED = _COLUMNS[2:10]
# Parameters of one statement.
_AT_ONCE = 5_000

Word = tuple[int, int, int]


# Procedures of one project share their triggers.
_known_numbers = lru_cache(maxsize=2048)(word_numbers)


def write_numbers(
    connection: Connection,
    project_id: int,
    records: Sequence[Competence],
    before: Mapping[str, Competence],
) -> None:
    """Update the numbers and words of records; their credit stays.

    Args:
        connection: within a writing transaction.
        project_id: the project's row.
        records: as they are from now on.
        before: as they were until now, by id; a new one is not in it.
    """
    rows = sorted(_row(project_id, record) for record in records)
    _REPLACE.execute(connection, rows)
    # Most records change by their numbers alone.
    other = [record for record in records if _phrases(record) != _phrases(before.get(record.id))]
    words = {each for record in other for each in _words_of(record)}
    earlier = {
        each for record in other if record.id in before for each in _words_of(before[record.id])
    }
    _drop_words(connection, project_id, earlier - words)
    added = [(project_id, *each) for each in sorted(words - earlier)]
    insert_rows(connection, competence_words, tuple(competence_words.c), added)


def drop_numbers(connection: Connection, project_id: int, records: Iterable[Competence]) -> None:
    """Remove the numbers and words of records that are no more."""
    gone = list(records)
    _drop_words(connection, project_id, {each for record in gone for each in _words_of(record)})
    connection.execute(
        delete(competence_numbers).where(
            competence_numbers.c.project_id == project_id,
            competence_numbers.c.competence_id.in_([record.id for record in gone]),
        )
    )


def digest_of_text(text: str) -> bytes:
    """Return the key of a text in the cache of embeddings."""
    return sha256(text.encode()).digest()


def _row(project_id: int, record: Competence) -> tuple[Any, ...]:
    has_words = record.status.is_selectable and any(map(_known_numbers, phrases_of_record(record)))
    return (
        project_id,
        record.id,
        record.status.is_selectable,
        record.confidence,
        record.performance.success_count,
        record.performance.failure_count,
        record.lifecycle.last_reinforced_at,
        record.lifecycle.half_life_days,
        _words_key(record.id) if has_words else None,
        digest_of_text(text_of(record)),
        0,
        0,
        0,
        0,
    )


def _replaced(_table: Columns, new: Columns) -> dict[str, Any]:
    return {name: new[name] for name in _REPLACED}


_REPLACE: Final = Upsert(competence_numbers, _COLUMNS, key=_COLUMNS[:2], combine=_replaced)


def _words_key(competence_id: str) -> int:
    """56 bits of the id, so that with a phrase's number they fit into 63."""
    return int.from_bytes(sha256(competence_id.encode()).digest()[:7])


def _phrases(record: Competence | None) -> tuple[str, ...]:
    """Return the phrases whose words are in the index: those of a selectable record."""
    return phrases_of_record(record) if record and record.status.is_selectable else ()


def _words_of(record: Competence) -> Iterable[Word]:
    """Yield (word, phrase, size) for each word of each phrase of selectable records."""
    key = _words_key(record.id) << PHRASE_BITS
    for number, phrase in enumerate(_phrases(record)):
        words = _known_numbers(phrase)
        for word in words:
            yield word, key | number, len(words)


def _drop_words(connection: Connection, project_id: int, words: set[Word]) -> None:
    table = competence_words.c
    for some in in_parts(sorted((word, phrase) for word, phrase, _ in words), _AT_ONCE):
        connection.execute(
            delete(competence_words).where(
                table.project_id == project_id, tuple_(table.word, table.phrase).in_(some)
            )
        )
