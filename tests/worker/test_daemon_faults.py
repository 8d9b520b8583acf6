"""The real thing, processes and all, while something kills it or takes its servers away."""

import contextlib
import itertools
import random
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import psutil
import psycopg
import pytest
import redis
from sqlalchemy import Engine

from tests.support.postgres import new_server
from tests.worker.working import (
    alive,
    all_counted,
    body,
    changed,
    learnt_counts,
    log_lines,
    process,
    publish,
    recorded_ids,
    until,
)
from trackrecord.redis.client import agent_client
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.database.engine import connect_store
from trackrecord.store.database.migrate import migrate
from trackrecord_producers.publishing.publisher import Publisher
from trackrecord_worker.job_table import TASKS
from trackrecord_worker.up.daemon import Daemon, beat_command, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

pytestmark = pytest.mark.faults


@pytest.fixture
def log(tmp_path: Path) -> Iterator[IO[bytes]]:
    """The log of the children of the test's daemons."""
    with (tmp_path / "worker.log").open("ab") as file:
        yield file


@pytest.fixture
def quick(home: Path) -> Settings:
    """Settings of a home with short waits."""
    return load_settings(
        home=home,
        claim_idle_s=1.0,
        database_timeout_s=0.5,
        backoff_max_s=1.0,
        retry_after_s=0.1,
    )


@contextlib.contextmanager
def store_of(settings: Settings) -> Iterator[Engine]:
    engine = connect_store(settings.effective_database_url)
    migrate(engine)
    try:
        yield engine
    finally:
        engine.dispose()


def family_of(daemon: Daemon) -> list[psutil.Process]:
    """Every process that the daemon has started, and theirs."""
    roots = [psutil.Process(pid) for pid in daemon.pids().values()]
    if daemon.redis is not None and daemon.redis.process is not None:
        roots.append(psutil.Process(daemon.redis.process.pid))
    return roots + [child for root in roots for child in root.children(recursive=True)]


@pytest.mark.parametrize("processes", [None, 2])
def test_workers_killed_at_random(quick, log, processes):
    """While outcomes flow, a process of the pool or all of the worker: each is learnt, once."""
    chance = random.Random(5)
    rounds, each_round = 2, 300
    number = rounds * each_round
    settings = changed(quick, batch_size=20, worker_concurrency=processes)
    with (
        Daemon(settings, log=log) as daemon,
        store_of(settings) as engine,
        agent_client(settings) as client,
    ):

        def watched(condition: Callable[[], bool]) -> Callable[[], bool]:
            return lambda: daemon.watch(0.01) is None and condition()

        for killing in range(rounds):
            before = learnt_counts(engine)["rows"]
            start = killing * each_round
            publish(client, settings, *(body(n) for n in range(start, start + each_round)))
            until(watched(lambda: learnt_counts(engine)["rows"] >= before + 100), every=0.0)  # noqa: B023 - called at once
            worker = psutil.Process(daemon.pids()["worker"])
            pool = worker.children()
            assert bool(pool) == bool(processes)
            victim = worker if killing % 2 or not pool else chance.choice(pool)
            victim.kill()
            until(watched(lambda: not alive([victim])))  # noqa: B023 - called at once
            if victim is worker:  # its processes notice
                until(watched(lambda: not alive(pool)))  # noqa: B023 - called at once
        until(watched(lambda: client.xlen(settings.keys.outcomes) == 0))
        assert learnt_counts(engine) == all_counted(number)
        assert client.xlen(settings.keys.dead) == 0


def test_everything_killed_at_once(quick, log):
    """Redis too: what it acknowledged, and what lay in the spool, is learnt after the next start.

    And no process outlives the one that was killed, or the one that was stopped.
    """
    acknowledged: list[str] = []
    stop = threading.Event()

    def flow() -> None:
        with contextlib.suppress(redis.RedisError), agent_client(quick) as client:
            for n in itertools.count():
                publish(client, quick, body(n))
                acknowledged.append(f"o{n}")
                if stop.is_set():
                    return

    daemon = Daemon(quick, log=log)
    daemon.start()
    agent = threading.Thread(target=flow)
    agent.start()
    try:
        with store_of(quick) as engine:
            until(lambda: learnt_counts(engine)["rows"] > 100)
        family = family_of(daemon)
        assert len(family) == 2  # Redis and the worker
        daemon.kill()
        until(lambda: not alive(family))
    finally:
        daemon.kill()
        stop.set()
        agent.join()
    publisher = Publisher(lambda: quick)
    spooled = {publisher.publish({"task_id": "t", "success": True}) for _ in range(20)}
    publisher.close()
    assert None not in spooled

    with Daemon(quick, log=log) as daemon, store_of(quick) as engine:
        wanted = {*acknowledged, *spooled}
        until(lambda: recorded_ids(engine) >= wanted)
        counts = learnt_counts(engine)
        assert counts["rows"] == counts["counted"] == counts["with receipts"]
        assert counts["in patterns"] == counts["rows"] - len(spooled)
        family = family_of(daemon)
    until(lambda: not alive(family))
    assert not quick.embedded_redis_socket.exists()


def test_redis_away_while_agents_publish(quick, log, home):
    """Agents notice nothing and lose nothing; the worker finds its way back by itself."""
    outside = EmbeddedRedis(home / "outside", home / "outside.sock")
    away = changed(quick, redis_url=f"unix://{outside.socket}")
    publisher = Publisher(lambda: away)
    ids: list[str | None] = []
    slowest_call = longest_pause = 0.0

    def publish_for(seconds: float) -> None:
        nonlocal slowest_call, longest_pause
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            started = time.monotonic()
            ids.append(publisher.publish({"task_id": "t", "success": True, "patterns": ["a"]}))
            published = time.monotonic()
            time.sleep(0.002)
            slowest_call = max(slowest_call, published - started)
            longest_pause = max(longest_pause, time.monotonic() - published)

    try:
        outside.start()
        with Daemon(away, log=log), store_of(away) as engine:
            publish_for(1.0)
            outside.stop()
            publish_for(1.0)
            outside.start()
            publish_for(0.5)
            outside.kill()
            publish_for(0.5)
            outside.start()
            assert publisher.flush(100)
            publisher.close()
            wanted = set(ids)
            assert None not in wanted
            until(lambda: recorded_ids(engine) == wanted)
            assert learnt_counts(engine) == all_counted(len(ids))
        # A call that waited for Redis would take its time-out. A machine that is busy holds up
        # pauses of two milliseconds just as long as calls.
        assert slowest_call < 0.5 + 2 * longest_pause
        assert publisher.stats().dropped == {}
    finally:
        publisher.close()
        outside.stop()


def test_redis_away_while_the_worker_holds_wake_ups(quick, log, home):
    """The worker holds as many wake-ups as it may, can do none of them, and reads on after that.

    Its children are stopped while it takes the wake-ups, and continue when Redis is away.
    """
    outside = EmbeddedRedis(home / "outside", home / "outside.sock")
    away = changed(quick, redis_url=f"unix://{outside.socket}", worker_concurrency=1)
    outside.start()
    try:
        with Daemon(away, log=log) as daemon, store_of(away) as engine:
            with agent_client(away) as client:
                publish(client, away, body(1))
                until(lambda: len(recorded_ids(engine)) == 1)
                children = psutil.Process(daemon.pids()["worker"]).children()
                for child in children:
                    child.suspend()
                queues = [f"{away.redis_prefix}:celery:{task}" for task in TASKS]
                until(lambda: sum(client.llen(queue) for queue in queues) > 0)
            outside.stop()
            for child in children:
                child.resume()
            until(lambda: b"redis_unavailable" in Path(log.name).read_bytes())
            outside.start()
            with agent_client(away) as client:
                publish(client, away, body(2))
            until(lambda: len(recorded_ids(engine)) == 2)
    finally:
        outside.stop()


@contextlib.contextmanager
def locked(url: str) -> Iterator[None]:
    """The store, held by someone else."""
    if url.startswith("sqlite"):
        with contextlib.closing(
            sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        ) as holder:
            holder.execute("BEGIN IMMEDIATE")
            yield
            holder.execute("ROLLBACK")
    else:
        with psycopg.connect(url.replace("+psycopg", "")) as holder:
            holder.execute("LOCK TABLE outcomes IN ACCESS EXCLUSIVE MODE")
            yield
            holder.rollback()


def test_the_database_locked(quick, log):
    """Outcomes wait in the stream; the log says so once, and once that it is over."""
    url = quick.effective_database_url
    path = Path(log.name)
    with Daemon(quick, log=log), store_of(quick) as engine:
        outlast(quick, engine, path, locked(url), number=1)
    (said,) = log_lines(path, "database_unavailable")
    assert said["level"] == "error"
    assert len(log_lines(path, "database_available_again")) == 1
    assert b"Traceback" not in path.read_bytes()


def outlast(
    settings: Settings,
    engine: Engine,
    log: Path,
    outage: contextlib.AbstractContextManager[None],
    *,
    number: int,
) -> None:
    """Learn an outcome, then publish 299 during an outage of the database; they are learnt after.

    Args:
        settings: of the daemon that runs.
        engine: its store.
        log: its log.
        outage: makes the database unusable.
        number: which outage it is; each is in the log once.
    """
    first = 300 * (number - 1)
    with agent_client(settings) as client:
        publish(client, settings, body(first))
        until(lambda: learnt_counts(engine)["rows"] == first + 1)
        with outage:
            publish(client, settings, *(body(n) for n in range(first + 1, first + 300)))
            until(lambda: len(log_lines(log, "database_unavailable")) == number)
            time.sleep(3)  # several more tries
            assert client.xlen(settings.keys.outcomes) == 299
            assert client.xlen(settings.keys.dead) == 0
        until(lambda: client.xlen(settings.keys.outcomes) == 0)
    assert learnt_counts(engine) == all_counted(first + 300)
    until(lambda: len(log_lines(log, "database_available_again")) == number)
    assert len(log_lines(log, "database_unavailable")) == number


def test_postgresql_locked_and_stopped(quick, log):
    """As with SQLite; and the same if the server is stopped for a while."""
    path = Path(log.name)
    with new_server() as server:
        url = server.get_uri()
        settings = changed(quick, database_url=url)
        with Daemon(settings, log=log), store_of(settings) as engine:

            @contextlib.contextmanager
            def stopped() -> Iterator[None]:
                engine.dispose()
                server.stop()
                yield
                server.ensure_postgres_running()

            outlast(settings, engine, path, locked(url), number=1)
            assert b"Traceback" not in path.read_bytes()
            outlast(settings, engine, path, stopped(), number=2)
    levels = {said["level"] for said in log_lines(path, "database_unavailable")}
    assert levels == {"error"}
    assert len(log_lines(path, "database_available_again")) == 2


def test_workers_before_their_servers(quick, log):
    """Started before Redis and before the database can be reached, they recover by themselves."""
    folder = quick.home / "later"
    folder.write_text("in the way")
    settings = changed(quick, database_url=f"sqlite:///{folder}/trackrecord.db")
    path = Path(log.name)
    server = EmbeddedRedis(quick.home / "redis", quick.embedded_redis_socket)
    with (
        process(worker_command(settings), settings, path),
        process(beat_command(settings), settings, path),
    ):
        try:
            time.sleep(2.5)
            server.start()
            with server.client() as client:
                publish(client, settings, *(body(n) for n in range(50)))
                until(lambda: log_lines(path, "database_unavailable"))
                assert client.xlen(settings.keys.outcomes) == 50
                folder.unlink()
                until(lambda: client.xlen(settings.keys.outcomes) == 0)
                with store_of(settings) as engine:
                    assert learnt_counts(engine) == all_counted(50)
        finally:
            server.stop()
    assert len(log_lines(path, "database_unavailable")) == 1
