"""The ceiling: read a batch, decode it, insert a row for each, acknowledge; learn nothing."""

import os
import sqlite3
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import msgspec
import psycopg
import redis

from benchmarks.harness.producing import WaitingProcess, talking
from trackrecord.redis.client import worker_client
from trackrecord.redis.keys import CONSUMER_GROUP
from trackrecord.settings.settings import Settings, load_settings

# A project, an outcome_id and a body.
Row = tuple[str, str, bytes]
Insert = Callable[[Sequence[Row]], None]

_BATCH = 1000


class _Identity(msgspec.Struct):
    outcome_id: str
    project: str


@dataclass(frozen=True)
class BareDrain:
    """The time of a bare drain, in seconds.

    Attributes:
        seconds: by the clock.
        cpu_seconds: of this process's processor time: nothing where others do the work.
    """

    seconds: float
    cpu_seconds: float


def drain_barely(settings: Settings, client: redis.Redis, *, loops: int = 1) -> BareDrain:
    """Empty the stream the bare way, into a database of the same kind.

    Several loops are processes of their own.
    """
    stream = settings.keys.outcomes
    client.xgroup_create(stream, CONSUMER_GROUP, id="0", mkstream=True)
    if loops == 1:
        with _inserting(settings) as insert:
            started, cpu_started = time.perf_counter(), time.process_time()
            _loop(client, stream, insert)
            return BareDrain(time.perf_counter() - started, time.process_time() - cpu_started)
    with _inserting(settings), ExitStack() as processes:
        command = (sys.executable, "-m", __name__)
        every = [
            WaitingProcess(process)
            for process in [
                processes.enter_context(talking(command, settings)) for _ in range(loops)
            ]
        ]
        started = time.perf_counter()
        for each in every:
            each.go()
        for each in every:
            each.next_line()
        return BareDrain(time.perf_counter() - started, 0.0)


def main() -> None:
    """Be one of several loops: wait for a line, empty the stream, say so."""
    settings = load_settings()
    with _inserting(settings) as insert, worker_client(settings) as client:
        client.ping()
        print("ready", flush=True)
        sys.stdin.readline()
        _loop(client, settings.keys.outcomes, insert)
        print("done", flush=True)


def _loop(client: redis.Redis, stream: str, insert: Insert) -> None:
    decoder = msgspec.json.Decoder(_Identity)
    consumer = f"bare-{os.getpid()}"
    while answer := client.xreadgroup(CONSUMER_GROUP, consumer, {stream: ">"}, _BATCH):
        entries: list[tuple[bytes, dict[bytes, bytes]]] = answer[0][1]  # type: ignore[index, assignment]
        decoded = [(decoder.decode(fields[b"body"]), fields[b"body"]) for _, fields in entries]
        insert([(identity.project, identity.outcome_id, body) for identity, body in decoded])
        ids = [entry_id for entry_id, _ in entries]
        with client.pipeline(transaction=True) as pipe:
            pipe.xack(stream, CONSUMER_GROUP, *ids)
            pipe.xdel(stream, *ids)
            pipe.execute()


@contextmanager
def _inserting(settings: Settings) -> Iterator[Insert]:
    url = settings.database_url
    with _on_postgresql(url) if url else _on_sqlite(settings) as insert:
        yield insert


_TABLE = (
    "CREATE TABLE IF NOT EXISTS bare_outcomes (project TEXT NOT NULL, outcome_id TEXT NOT NULL, "
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


if __name__ == "__main__":
    main()
