"""Shared by the worker's tests: entries, a look into the store, patience, and real processes."""

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import redis
from sqlalchemy import Engine, func, select

from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import reading
from trackrecord.store.ledger.read import read_counts
from trackrecord.store.ledger.receipts import OUTCOME
from trackrecord.store.ledger.subjects import PATTERN
from trackrecord.store.ledger.tables import receipts
from trackrecord.store.outcomes.tables import outcomes, projects


def body(number: int = 0, **fields: Any) -> bytes:
    """The body of an outcome, the same for the same arguments."""
    values = {
        "outcome_id": f"o{number}",
        "task_id": f"t{number}",
        "success": True,
        "duration_ms": 1000,
        "error_count": 0,
        "retry_count": 0,
        "patterns": ["Split by feature"],
    }
    return msgspec.json.encode(values | fields)


def publish(client: redis.Redis, settings: Settings, *bodies: bytes) -> list[bytes]:
    """Put bodies onto the stream, as any language can; answers the entries' ids."""
    with client.pipeline(transaction=False) as pipe:
        for each in bodies:
            pipe.xadd(settings.keys.outcomes, {"v": "1", "body": each})
        answers: list[bytes] = pipe.execute()
    return answers


def until(condition: Callable[[], Any], seconds: float = 100.0, *, every: float = 0.05) -> None:
    """Wait until the condition holds; a test that waits in vain fails."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this did not happen in time"
        time.sleep(every)


def recorded_ids(engine: Engine) -> set[str]:
    """The ids of all outcomes on record."""
    with reading(engine) as connection:
        return set(connection.execute(select(outcomes.c.outcome_id)).scalars())


def learnt_counts(engine: Engine) -> dict[str, int]:
    """Return how often outcomes were counted, in each place where they are counted."""
    with reading(engine) as connection:

        def one(query: Any) -> int:
            return int(connection.execute(query).scalar() or 0)

        return {
            "rows": one(select(func.count()).select_from(outcomes)),
            "counted": one(select(func.sum(projects.c.outcomes))),
            "in patterns": sum(
                sum(cells.values()) for cells in read_counts(connection, None, PATTERN).values()
            ),
            "with receipts": one(select(func.count()).where(receipts.c.kind == OUTCOME)),
        }


def all_counted(number: int) -> dict[str, int]:
    """Return the value of `learnt_counts` when that many were learnt once each."""
    return dict.fromkeys(("rows", "counted", "in patterns", "with receipts"), number)


def log_lines(log: Path, event: str) -> list[dict[str, Any]]:
    """The lines of a worker's log about an event."""
    found = []
    for line in log.read_bytes().splitlines():
        with contextlib.suppress(msgspec.DecodeError):
            entry = msgspec.json.decode(line)
            if isinstance(entry, dict) and entry.get("event") == event:
                found.append(entry)
    return found


@contextlib.contextmanager
def process(command: list[str], settings: Settings, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process of ours with these settings; stopped at the end."""
    with log.open("ab") as file:
        started = subprocess.Popen(
            command,
            env={**os.environ, **settings.as_environment()},
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(200)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()
