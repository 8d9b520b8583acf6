"""Full-text search: which rows hold words of a question, and how well they fit.

The indexes hold lexemes that search_words.py made, none of which needs quoting in any query
language; how they are stored and searched is each database's own matter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from .engine import dialect_of


@dataclass(frozen=True)
class Hit:
    """A row that holds a word of a question.

    Attributes:
        row: its id.
        relevance: 0..1, relative to the best hit, which has 1.
    """

    row: int
    relevance: float


@dataclass(frozen=True)
class WordIndex:
    """One full-text index.

    Attributes:
        name: its table.
    """

    name: str

    def add(self, connection: Connection, rows: Sequence[tuple[int, list[str]]]) -> None:
        """Add rows with their lexemes; none of them is in the index yet."""
        if rows:
            dialect_of(connection).full_text_add(connection, self.name, rows)

    def remove(self, connection: Connection, row: int, lexemes: list[str]) -> None:
        """Let a row be found no more; its lexemes are those it was added with."""
        dialect_of(connection).full_text_remove(connection, self.name, row, lexemes)

    def search(self, connection: Connection, lexemes: Iterable[str], most: int) -> list[Hit]:
        """The rows that hold any of the lexemes, the best first; all that there are, or `most`.

        Words that many rows hold are left out where rarer ones are found. When the rarest alone is
        held by too many rows, the newest of them are looked at.
        """
        wanted = sorted(set(lexemes))
        if not wanted:
            return []
        dialect = dialect_of(connection)
        with dialect.full_text_planning(connection):
            chosen = _rarest(dialect.full_text_count(connection, self.name, wanted, most), most)
            found = dialect.full_text_search(connection, self.name, chosen, most) if chosen else []
        best = max((score for _, score in found), default=0.0)
        if best <= 0:
            return []
        hits = [Hit(row, score / best) for row, score in found]
        return sorted(hits, key=lambda hit: (-hit.relevance, -hit.row))


def _rarest(counts: Mapping[str, int], most: int) -> dict[str, int]:
    """The rarest lexemes whose rows are not too many together; at least the rarest one."""
    chosen: dict[str, int] = {}
    for word, count in sorted(counts.items(), key=lambda item: (item[1], item[0])):
        if chosen and sum(chosen.values()) + count > most:
            break
        chosen[word] = count
    return chosen


MEMORY_WORDS = WordIndex("memory_words")
TASK_WORDS = WordIndex("task_words")
