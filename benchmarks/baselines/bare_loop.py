"""The ceiling: read a batch, decode it, insert a row for each, acknowledge; learn nothing."""

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import msgspec
import psycopg
import redis

from trackrecord.redis.keys import CONSUMER_GROUP
from trackrecord.settings.settings import Settings

# A project, an outcome_id and a body.
Row = tuple[str, str, bytes]
Insert = Callable[[Sequence[Row]], None]

_BATCH = 1000


class _Identity(msgspec.Struct):
    outcome_id: str
    project: str


def drain_barely(settings: Settings, client: redis.Redis) -> float:
    """Empty the stream the bare way, into a database of the same kind; return the seconds."""
    with _inserting(settings) as insert:
        return _loop(client, settings.keys.outcomes, insert)


def _loop(client: redis.Redis, stream: str, insert: Insert) -> float:
    client.xgroup_create(stream, CONSUMER_GROUP, id="0", mkstream=True)
    decoder = msgspec.json.Decoder(_Identity)
    started = time.perf_counter()
    while answer := client.xreadgroup(CONSUMER_GROUP, "bare", {stream: ">"}, _BATCH):
        entries = answer[0][1]
        decoded = [(decoder.decode(fields[b"body"]), fields[b"body"]) for _, fields in entries]
        insert([(identity.project, identity.outcome_id, body) for identity, body in decoded])
        ids = [entry_id for entry_id, _ in entries]
        with client.pipeline(transaction=True) as pipe:
            pipe.xack(stream, CONSUMER_GROUP, *ids)
            pipe.xdel(stream, *ids)
            pipe.execute()
    return time.perf_counter() - started


@contextmanager
def _inserting(settings: Settings) -> Iterator[Insert]:
    url = settings.database_url
    with _on_postgresql(url) if url else _on_sqlite(settings) as insert:
        yield insert


_TABLE = (
    "CREATE TABLE bare_outcomes (project TEXT NOT NULL, outcome_id TEXT NOT NULL, "
    "body {blob} NOT NULL, UNIQUE (project, outcome_id))"
)


@contextmanager
def _on_sqlite(settings: Settings) -> Iterator[Insert]:
    connection = sqlite3.connect(settings.home / "bare.db", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(_TABLE.format(blob="BLOB"))

    def insert(rows: Sequence[Row]) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "INSERT INTO bare_outcomes VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows
        )
        connection.execute("COMMIT")

    try:
        yield insert
    finally:
        connection.close()


@contextmanager
def _on_postgresql(url: str) -> Iterator[Insert]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(_TABLE.format(blob="BYTEA"))

        def insert(rows: Sequence[Row]) -> None:
            # In one statement: one for each row takes several times as long.
            connection.execute(
                "INSERT INTO bare_outcomes SELECT * FROM unnest("
                "%b::text[], %b::text[], %b::bytea[]) ON CONFLICT DO NOTHING",
                tuple([row[index] for row in rows] for index in range(3)),
            )

        yield insert
