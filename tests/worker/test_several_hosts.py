"""Several hosts on one Redis and one PostgreSQL: each has a home, agents and workers of its own."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
import redis
from sqlalchemy import Engine, event, select, text

from tests.forgetting.told_store import RULES, Told
from tests.forgetting.whole_store import Rows, whole
from tests.support.postgres import pgbouncer
from tests.worker.working import learnt_counts, process, recorded_ids, until
from trackrecord.redis.keys import CONSUMER_GROUP
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import open_store
from trackrecord.store.intake.intake import learn
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.wire.outcome import decode_outcome
from trackrecord.wire.outcome_scorer import scorer_of
from trackrecord_worker.up.daemon import beat_command, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

PROJECTS = ("one", "two", "three")
COUNT = 600
NOW = 1_780_000_000.0
# What outcomes lead to, in whatever order and batches they come.
COUNTED = (
    "outcomes", "outcome_commits", "waiting_episodes", "runs", "tried_calls", "items", "totals",
    "receipts",
)  # fmt: skip

pytestmark = pytest.mark.faults


@pytest.fixture
def hosts(
    home: Path, redis_server: EmbeddedRedis, migrated_postgres_url: str
) -> Iterator[list[Settings]]:
    """The settings of five hosts: three with workers, two with agents only.

    The first and the third one reach PostgreSQL itself, the others by a pooler.
    """
    with pgbouncer(migrated_postgres_url, "transaction", sessions=8) as pooled:
        yield [
            load_settings(
                home=home / f"host{number}",
                redis_url=f"unix://{redis_server.socket}",
                database_url=pooled if number % 2 else migrated_postgres_url,
                database_timeout_s=0.5,
                worker_concurrency=2,
                batch_size=25,
                claim_idle_s=1.0,
                consolidation_crontab="0 0 29 2 *",  # not while this runs, whatever the time
                drain_block_s=0.1,
                backoff_max_s=0.5,
            )
            for number in range(5)
        ]


@pytest.fixture
def engine(migrated_postgres_url: str) -> Iterator[Engine]:
    """The test's own look into the store."""
    engine = connect_store(migrated_postgres_url, timeout_s=60.0)
    yield engine
    engine.dispose()


def told(number: int) -> dict[str, Any]:
    """An outcome, one of many that touch the same patterns and criteria."""
    chance = random.Random(number)
    return {
        "outcome_id": f"o{number}",
        "project": PROJECTS[number % len(PROJECTS)],
        "task_id": f"t{number}",
        "timestamp": NOW - chance.randrange(86_400 * 30),
        "source": chance.choice(["claude", "codex", "gemini"]),
        "success": chance.random() < 0.7,
        "error_count": chance.randrange(3),
        "duration_ms": 1000 + number,
        "patterns": chance.sample(["small steps", "tests first", "big bang", "ask early"], 2),
        "criteria": {"fast": chance.choice(["helpful", "harmful"])},
        "tool_graph": [{"tool": tool, "args": {"path": "a"}} for tool in ("grep", "edit")],
        "commits": [f"{number:040x}"],
    }


def publish_all(settings: Settings, seed: int) -> subprocess.Popen[bytes]:
    """Let an agent's host publish all outcomes, in an order of its own."""
    numbers = list(range(COUNT))
    random.Random(seed).shuffle(numbers)
    settings.home.mkdir(exist_ok=True)
    lines = settings.home / "outcomes.jsonl"
    lines.write_text("".join(json.dumps(told(number)) + "\n" for number in numbers))
    return subprocess.Popen(
        [sys.executable, "-m", "trackrecord_cli", "publish", str(lines)],
        env={**os.environ, **settings.as_environment()},
        stdout=subprocess.DEVNULL,
    )


@contextmanager
def working(settings: Settings) -> Iterator[subprocess.Popen[bytes]]:
    """A host's worker and beat."""
    settings.home.mkdir(exist_ok=True)
    with (
        process(beat_command(settings), settings, settings.home / "beat.log"),
        process(worker_command(settings), settings, settings.home / "worker.log") as worker,
    ):
        yield worker


def is_in_a_batch(client: redis.Redis, settings: Settings, worker: subprocess.Popen[bytes]) -> bool:
    """Return whether a process of a worker has read entries that it has not acknowledged."""
    pids = {str(each.pid) for each in psutil.Process(worker.pid).children()}
    try:
        found: Any = client.xinfo_consumers(settings.keys.outcomes, CONSUMER_GROUP)
    except redis.ResponseError:  # no worker has asked for any yet
        return False
    return any(each["pending"] and each["name"].decode().split("-")[-2] in pids for each in found)


@contextmanager
def batches_held(engine: Engine) -> Iterator[None]:
    """Let no batch be recorded, so that who reads one is still in it, however slow a machine is."""
    with writing(engine) as connection:
        connection.execute(text("LOCK TABLE projects IN EXCLUSIVE MODE"))
        yield


def send(worker: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to a worker and its processes."""
    os.killpg(worker.pid, number)


def replayed(engine: Engine, settings: Settings, tmp_path: Path) -> Engine:
    """Learn what is on record again, each outcome once, in another store."""
    scorer = scorer_of(settings.rules)
    with reading(engine) as connection:
        rows = connection.execute(select(outcomes).order_by(outcomes.c.id)).all()
    batch = [
        scorer.score(
            decode_outcome(row.body), row.body, received_at=row.received_at, outcome_id="none"
        )
        for row in rows
    ]
    replay = open_store(f"sqlite:///{tmp_path}/replay.db")
    with writing(replay) as connection:
        learn(connection, batch, settings.rules, now=NOW)
    return replay


def counted(store: Engine, project: str) -> dict[str, Rows]:
    """Return what the outcomes of a project led to."""
    found = whole(store, project, at=NOW)
    return {name: found[name] for name in COUNTED}


def test_one_is_killed_and_one_is_frozen(hosts, client, engine, tmp_path):
    """All is told twice, by two hosts in two orders: each outcome counts once, none is lost."""
    first, second, third, *agents = hosts
    with ExitStack() as stack:
        killed, frozen = (stack.enter_context(working(each)) for each in (first, second))
        with batches_held(engine):
            publishing = [stack.enter_context(publish_all(agents[0], 0))]
            until(lambda: is_in_a_batch(client, first, killed))
            send(killed, signal.SIGKILL)
        with batches_held(engine):
            publishing.append(stack.enter_context(publish_all(agents[1], 1)))
            until(lambda: is_in_a_batch(client, second, frozen))
            send(frozen, signal.SIGSTOP)
        try:
            with working(third):
                # Longer than any worker is waited for: all that the two had read is taken over.
                until(lambda: len(recorded_ids(engine)) == COUNT)
                until(lambda: client.xlen(first.keys.outcomes) == 0)
                send(frozen, signal.SIGCONT)
                assert [each.wait(200) for each in publishing] == [0, 0]
                client.xadd(first.keys.outcomes, {"v": "1", "body": json.dumps(told(COUNT))})
                until(lambda: client.xlen(first.keys.outcomes) == 0)
                until(lambda: recorded_ids(engine) == {f"o{n}" for n in range(COUNT + 1)})
                time.sleep(2 * third.claim_idle_s)
        finally:
            send(frozen, signal.SIGCONT)
    assert learnt_counts(engine) == {
        "rows": COUNT + 1,
        "counted": COUNT + 1,
        "in patterns": 2 * (COUNT + 1),
        "with receipts": COUNT + 1,
    }
    assert client.xlen(first.keys.dead) == 0
    replay = replayed(engine, third, tmp_path)
    try:
        for project in PROJECTS:
            assert counted(engine, project) == counted(replay, project)
    finally:
        replay.dispose()


HOLD = """
import sys, time
from sqlalchemy import text
from trackrecord.store.database.engine import connect_store, writing
with writing(connect_store(sys.argv[1], timeout_s=0.2)) as connection:
    connection.execute(text("LOCK TABLE projects IN EXCLUSIVE MODE"))
    # The driver sends many at once in a way that makes the server forget its time-out.
    unread = text("UPDATE projects SET revision = revision WHERE id = :id")
    connection.execute(unread, [{"id": -number} for number in range(1, 20)])
    print("held", flush=True)
    time.sleep(3600)
"""


def test_what_a_frozen_host_has_locked(migrated_postgres_url, engine):
    """Others wait for it no longer than twelve times the time-out of a lock."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, migrated_postgres_url], stdout=subprocess.PIPE
    ) as frozen:
        try:
            assert frozen.stdout is not None
            assert frozen.stdout.readline() == b"held\n"
            frozen.send_signal(signal.SIGSTOP)
            with writing(engine) as connection:
                connection.execute(text("LOCK TABLE projects IN EXCLUSIVE MODE"))
        finally:
            frozen.kill()


def test_amendments_beside_new_outcomes(migrated_postgres_url, engine):
    """A batch that adds to sums twice lets no other one in between: neither is a deadlock's victim.

    The one with the amendment has counted its new outcome; now it is interrupted until the other
    one waits for it.
    """
    amending, other = (connect_store(migrated_postgres_url, timeout_s=60.0) for _ in range(2))
    Told(engine, RULES, "shop").learn([patterned("old", "tests first")], NOW)
    counted, resume = threading.Event(), threading.Event()

    def wait(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.startswith("UPDATE projects") and not counted.is_set():
            counted.set()
            assert resume.wait(200)

    event.listen(amending, "after_cursor_execute", wait)
    try:
        with ThreadPoolExecutor(2) as pool:
            both = [patterned("new", "small steps"), patterned("old", "tests first", error_count=3)]
            first = pool.submit(Told(amending, RULES, "shop").learn, both, NOW + 1)
            assert counted.wait(200)
            last = [patterned("other", "tests first")]
            second = pool.submit(Told(other, RULES, "shop").learn, last, NOW + 2)
            until(lambda: is_waiting(engine))
            resume.set()
            first.result()
            second.result()
    finally:
        resume.set()
        amending.dispose()
        other.dispose()
    assert learnt_counts(engine)["counted"] == 3


def patterned(outcome_id: str, pattern: str, **fields: Any) -> dict[str, Any]:
    """An outcome that touches a pattern."""
    return {"outcome_id": outcome_id, "task_id": outcome_id, "patterns": [pattern]} | {
        "success": True,
        **fields,
    }


def is_waiting(engine: Engine) -> bool:
    """Return whether a session waits for another one's lock."""
    with reading(engine) as connection:
        query = "SELECT count(*) FROM pg_locks WHERE NOT granted"
        return bool(connection.execute(text(query)).scalar())
