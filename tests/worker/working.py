"""Shared by the worker's tests: entries, a look into the store, patience, and real processes."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import psutil
import redis
from sqlalchemy import Engine, func, select

from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import reading
from trackrecord.store.ledger.read import read_counts
from trackrecord.store.ledger.receipts import OUTCOME
from trackrecord.store.ledger.subjects import PATTERN
from trackrecord.store.ledger.tables import receipts
from trackrecord.store.outcomes.tables import outcomes, projects
from trackrecord_worker.services import Services


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


def learn(worker: Services, *bodies: bytes) -> None:
    """Have a worker learn outcomes from the stream."""
    publish(worker.redis, worker.settings, *bodies)
    worker.drain.run()


def as_sent(entry: object) -> bytes:
    """An entry as JSON, where it is not bytes already."""
    return entry if isinstance(entry, bytes) else msgspec.json.encode(entry)


def add(client: redis.Redis, settings: Settings, kind: str, *entries: object) -> None:
    """Put entries of a kind onto the stream, as any language can."""
    for each in entries:
        client.xadd(settings.keys.outcomes, {"v": "1", kind: as_sent(each)})


def until(condition: Callable[[], Any], seconds: float = 100.0, *, every: float = 0.05) -> None:
    """Wait until the condition holds; a test that waits in vain fails."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "this did not happen in time"
        time.sleep(every)


def changed(settings: Settings, **fields: Any) -> Settings:
    """Return the same settings but for some."""
    return load_settings(**settings.model_dump(exclude_unset=True) | fields)


def run_python(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these settings and arguments: a module by `-m`, or a program by `-c`."""
    return subprocess.run(
        [sys.executable, "-P", *arguments],
        env={**os.environ, **settings.as_environment()},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def command_line(settings: Settings, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the command line with these settings."""
    return run_python(settings, "-m", "trackrecord_cli", *arguments)


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


def alive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that have not ended: an ended one may wait for its parent."""
    found = []
    for each in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            if each.status() != psutil.STATUS_ZOMBIE:
                found.append(each)
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
