"""Full-text search: which rows hold words of a question, and how well they fit.

On SQLite an index is an FTS5 table, on PostgreSQL a table of text search vectors. Both hold lexemes
that search_words.py made, none of which needs quoting in any query language.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log

from sqlalchemy import Connection, text

from .engine import is_sqlite

# How much longer texts weigh less, as in BM25 with its usual constants; texts are short.
_USUAL_LENGTH = 15.0


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
        name: its table; that of how many rows hold a word is named after it.
    """

    name: str

    def add(self, connection: Connection, rows: Sequence[tuple[int, list[str]]]) -> None:
        """Let rows be found by their lexemes; none of them is in the index."""
        if not rows:
            return
        if is_sqlite(connection):
            statement = f"INSERT INTO {self.name} (rowid, words) VALUES (?, ?)"  # noqa: S608 - our own name
            connection.exec_driver_sql(statement, [(row, " ".join(found)) for row, found in rows])
            return
        connection.exec_driver_sql(
            f"INSERT INTO {self.name} (id, words) VALUES (%s, array_to_tsvector(%s::text[]))",  # noqa: S608 - as above
            rows,
        )

    def remove(self, connection: Connection, row: int, lexemes: list[str]) -> None:
        """Let a row be found no more; its lexemes are those it was added with."""
        if is_sqlite(connection):
            # The index keeps no texts: what is deleted from it must be told.
            connection.exec_driver_sql(
                f"INSERT INTO {self.name} ({self.name}, rowid, words) VALUES ('delete', ?, ?)",  # noqa: S608 - as above
                (row, " ".join(lexemes)),
            )
            return
        connection.exec_driver_sql(f"DELETE FROM {self.name} WHERE id = %s", (row,))  # noqa: S608 - as above

    def search(self, connection: Connection, lexemes: Iterable[str], most: int) -> list[Hit]:
        """The rows that hold any of the lexemes, the best first; all that there are, or `most`.

        Words that many rows hold are left out where rarer ones are found. When the rarest alone is
        held by too many rows, the newest of them are looked at.
        """
        if is_sqlite(connection):
            found = self._found(connection, lexemes, most)
        else:
            # For the planner a new table is small and best read whole, until it is analysed.
            connection.execute(text("SET LOCAL enable_seqscan = off"))
            found = self._found(connection, lexemes, most)
            connection.execute(text("SET LOCAL enable_seqscan = on"))
        best = max((score for _, score in found), default=0.0)
        if best <= 0:
            return []
        hits = [Hit(row, score / best) for row, score in found]
        return sorted(hits, key=lambda each: (-each.relevance, -each.row))

    def _found(
        self, connection: Connection, lexemes: Iterable[str], most: int
    ) -> list[tuple[int, float]]:
        counts = self._counts(connection, sorted(set(lexemes)), most)
        chosen = _rarest(counts, most)
        if not chosen:
            return []
        find = self._found_on_sqlite if is_sqlite(connection) else self._found_on_postgresql
        return find(connection, chosen, most)

    def _counts(self, connection: Connection, lexemes: Sequence[str], most: int) -> dict[str, int]:
        """How many rows hold each lexeme; beyond `most` it does not matter."""
        if not lexemes:
            return {}
        if is_sqlite(connection):
            marks = ", ".join("?" * len(lexemes))
            rows = connection.exec_driver_sql(
                f"SELECT term, doc FROM {self.name}_count WHERE term IN ({marks})",  # noqa: S608 - as above
                tuple(lexemes),
            )
            return {row.term: row.doc for row in rows}
        # Nearly always there are few, and an index scan ends after `most` rows.
        counts = connection.exec_driver_sql(
            "SELECT word, (SELECT count(*) FROM"  # noqa: S608 - as above
            f" (SELECT 1 FROM {self.name} WHERE words @@ word::tsquery LIMIT %s) found)"
            " FROM unnest(%s::text[]) word",
            (most + 1, list(lexemes)),
        )
        return {word: count for word, count in counts if count}

    def _found_on_sqlite(
        self, connection: Connection, chosen: Mapping[str, int], most: int
    ) -> list[tuple[int, float]]:
        wanted = " OR ".join(chosen)
        newest = f"SELECT rowid FROM {self.name} WHERE {self.name} MATCH ?"  # noqa: S608 - as above
        if next(iter(chosen.values())) > most:
            rows = connection.exec_driver_sql(
                f"{newest} ORDER BY rowid DESC LIMIT ?", (wanted, most)
            )
            return [(row, 1.0) for (row,) in rows]
        rows = connection.exec_driver_sql(
            f"SELECT rowid, -bm25({self.name}) FROM {self.name} WHERE {self.name} MATCH ?",  # noqa: S608 - as above
            (wanted,),
        )
        return [(row, score) for row, score in rows]

    def _found_on_postgresql(
        self, connection: Connection, chosen: Mapping[str, int], most: int
    ) -> list[tuple[int, float]]:
        if next(iter(chosen.values())) > most:
            # Materialised: else the planner may look through all rows, newest first.
            newest = connection.exec_driver_sql(
                f"WITH found AS MATERIALIZED (SELECT id FROM {self.name}"  # noqa: S608 - as above
                " WHERE words @@ %s::tsquery) SELECT id FROM found ORDER BY id DESC LIMIT %s",
                (next(iter(chosen)), most),
            )
            return [(row, 1.0) for (row,) in newest]
        # Of the function for ranks, weights of single words are not to be had.
        weights = {word: log(1 + 2 * most / (count + 0.5)) for word, count in chosen.items()}
        score = " + ".join(
            "CASE WHEN words @@ %s::tsquery THEN %s::float8 ELSE 0 END" for _ in weights
        )
        # Materialised for the same reason.
        rows = connection.exec_driver_sql(
            f"WITH found AS MATERIALIZED (SELECT id, words FROM {self.name}"  # noqa: S608 - as above
            f" WHERE words @@ %s::tsquery) SELECT id, ({score})"
            f" / (1.3 + 0.9 * length(words) / {_USUAL_LENGTH})"
            " FROM found ORDER BY id DESC LIMIT %s",
            (
                " | ".join(weights),
                *(value for pair in weights.items() for value in pair),
                most,
            ),
        )
        return [(row, score) for row, score in rows]


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
