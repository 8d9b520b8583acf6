"""Each job of the table, run by a real worker process that finds work to do.

And run by a worker that is its own beat: all work waits for it.
"""

import contextlib
import math
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import Engine, select, update

from tests.support.endpoint_server import EndpointServer, serving
from tests.worker.working import body, process, publish, recorded_ids, until
from trackrecord.artifacts.store import ArtifactStore
from trackrecord.prompt.reading.cache import cached_ages, read_document
from trackrecord.prompt.reading.client import RankingsReader
from trackrecord.redis.keys import CONSUMER_GROUP
from trackrecord.settings.settings import Settings, load_settings
from trackrecord.store.competences.read import read_competences
from trackrecord.store.database.engine import connect_store, reading, writing
from trackrecord.store.database.migrate import migrate
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.store.outcomes.tables import outcomes
from trackrecord_producers.publishing.publisher import Publisher
from trackrecord_worker import jobs
from trackrecord_worker.app import create_app
from trackrecord_worker.job_table import JOBS, TASKS, UPKEEP
from trackrecord_worker.learning.stream import OutcomeStream
from trackrecord_worker.services import Services
from trackrecord_worker.up.daemon import solo_command, worker_command
from trackrecord_worker.up.embedded_redis import EmbeddedRedis

NIGHT_S = 86_400.0
BEAT_S = 5.0
CLAIM_IDLE_S = 0.05


class Wakened:
    """A worker that sleeps until a test sends it a task; there is no beat.

    Args:
        settings: of the worker.
        client: of its Redis.
        engine: of its store.
        endpoint: of embeddings.
        send: send a task to it.
    """

    def __init__(
        self,
        settings: Settings,
        client: redis.Redis,
        engine: Engine,
        endpoint: EndpointServer,
        send: Callable[..., object],
    ) -> None:
        self.settings = settings
        self.client = client
        self.engine = engine
        self.endpoint = endpoint
        self.wake = send

    def learn(self, *bodies: bytes) -> None:
        """Have outcomes learnt, to prepare what another task then works on."""
        publish(self.client, self.settings, *bodies)
        self.wake("trackrecord.drain")
        until(lambda: self.client.xlen(self.settings.keys.outcomes) == 0)

    def wake_until(self, is_done: Callable[[], bool], *message: Any) -> None:
        """Send a task again and again, as beat does, until it has done its work.

        A turn of some jobs ends after half a second, and leaves the rest to the next one.
        """
        sent_at = -math.inf

        def sent_and_done() -> bool:
            nonlocal sent_at
            if time.monotonic() - sent_at > BEAT_S:
                self.wake(*message)
                sent_at = time.monotonic()
            return is_done()

        until(sent_and_done)

    def competences(self, project: str) -> int:
        """Count the competence records of a project."""
        with reading(self.engine) as connection:
            project_id = project_id_of(connection, project)
            return 0 if project_id is None else len(read_competences(connection, project_id))


@contextlib.contextmanager
def servers(**more: Any) -> Iterator[tuple[Settings, redis.Redis, Engine, EndpointServer]]:
    """All that a worker with each service needs: a Redis, a store, an endpoint of embeddings."""
    with (
        tempfile.TemporaryDirectory(prefix="tr-", ignore_cleanup_errors=True) as folder,
        serving() as endpoint,
    ):
        settings = load_settings(
            home=Path(folder),
            claim_idle_s=CLAIM_IDLE_S,
            embeddings={"url": endpoint.url},
            **more,
        )
        engine = connect_store(settings.effective_database_url)
        migrate(engine)
        server = EmbeddedRedis(settings.home / "redis", settings.embedded_redis_socket)
        with server, server.client() as client:
            yield settings, client, engine, endpoint
        engine.dispose()


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wakened]:
    """One worker, its Redis and its store, shared by the tests of this module."""
    log = tmp_path_factory.mktemp("worker") / "worker.log"
    with (
        # A drain waits for more for ten seconds: the next job need not wait for it.
        servers(worker_concurrency=4) as (settings, *others),
        process(worker_command(settings), settings, log),
    ):
        yield Wakened(settings, *others, create_app(settings).send_task)


def an_outcome_is_learnt(worker: Wakened) -> Callable[[], bool]:
    """An outcome waits in the stream; the drain records it."""
    publish(worker.client, worker.settings, body(1))
    return lambda: "o1" in recorded_ids(worker.engine)


def a_dead_workers_outcome_is_learnt(worker: Wakened) -> Callable[[], bool]:
    """An outcome was read by a worker that then died; another worker takes it over."""
    key = worker.settings.keys.outcomes
    OutcomeStream(worker.client, worker.settings.keys).ensure_group()
    # At once: a drain of the test before may still wait for entries.
    with worker.client.pipeline() as both:
        both.xadd(key, {"v": "1", "body": body(2)})
        both.xreadgroup(CONSUMER_GROUP, "killed", {key: ">"})
        assert both.execute()[-1]
    idle_ms = int(CLAIM_IDLE_S * 1000) + 1
    until(
        lambda: worker.client.xpending_range(key, CONSUMER_GROUP, "-", "+", 1, idle=idle_ms),
    )
    return lambda: "o2" in recorded_ids(worker.engine)


def a_spooled_outcome_reaches_the_stream(worker: Wakened) -> Callable[[], bool]:
    """A producer spooled an outcome while Redis was away; it is forwarded to the stream."""
    away = worker.settings.model_copy(update={"redis_url": "redis://127.0.0.1:1/0"})
    publisher = Publisher(lambda: away)
    assert publisher.publish({"outcome_id": "spooled", "task_id": "t", "success": True})
    publisher.close()

    def arrived() -> bool:
        entries = worker.client.xrange(worker.settings.keys.outcomes)
        return any(
            b'"spooled"' in fields[b"body"] for _, fields in entries
        ) or "spooled" in recorded_ids(worker.engine)

    assert not arrived()
    return arrived


def lost_rankings_are_cached_again(worker: Wakened) -> Callable[[], bool]:
    """Check that rankings lost from the cache are computed again."""
    worker.learn(body(3, project="uncached"))

    def cached() -> bool:
        names = ["uncached"]
        return bool(cached_ages(worker.client, worker.settings, names, now=time.time()))

    until(cached)
    worker.client.delete(worker.settings.keys.rankings("uncached"))
    assert not cached()
    return cached


def advice_is_counted(worker: Wakened) -> Callable[[], bool]:
    """A project has a run of which its cached advice does not know yet."""
    worker.learn(body(4, project="advised", instruction="book a flight"))
    reader = RankingsReader(worker.settings)
    assert reader.cached("advised").advice is None

    def counted() -> bool:
        advice = reader.cached("advised").advice
        return advice is not None and advice.past_tasks.index.size == 1

    return counted


def _procedures(project: str) -> list[bytes]:
    graph = [{"tool": "grep"}, {"tool": "edit"}]
    return [
        body(project=project, outcome_id=f"{project}-{number}", tool_graph=graph)
        for number in range(3)
    ]


def repeated_successes_become_a_record(worker: Wakened) -> Callable[[], bool]:
    """Tonight's run makes a record of fresh episodes, and forgets artifacts that are too old."""
    worker.learn(*_procedures("nightly"))
    store = ArtifactStore(worker.settings.home, "nightly", retention_s=10**9, clock=lambda: 1e6)
    store.put(b"old")
    assert store.entries()
    assert worker.competences("nightly") == 0
    return lambda: worker.competences("nightly") == 1 and not store.entries()


def a_missed_night_is_caught_up(worker: Wakened) -> Callable[[], bool]:
    """Episodes two nights old that no run has read become a record."""
    worker.learn(*_procedures("missed"))
    with writing(worker.engine) as connection:
        wanted = select(outcomes.c.id).where(outcomes.c.outcome_id.startswith("missed-"))
        connection.execute(
            update(outcomes)
            .where(outcomes.c.id.in_(wanted))
            .values(received_at=time.time() - 2 * NIGHT_S)
        )
    assert worker.competences("missed") == 0
    return lambda: worker.competences("missed") == 1


def a_records_text_is_embedded(worker: Wakened) -> Callable[[], bool]:
    """A competence record is cached, and the endpoint was not asked for its vector yet."""
    worker.learn(*_procedures("embedded"))
    worker.wake("trackrecord.consolidate")
    until(lambda: worker.competences("embedded") == 1)
    # The cache, too, knows the record before it is embedded.
    worker.wake("trackrecord.refresh")
    until(lambda: b"grep" in (read_document(worker.client, worker.settings, "embedded")[1] or b""))
    assert worker.endpoint.texts == []
    return lambda: bool(worker.endpoint.texts)


# For each task: prepares something for it to do, and returns how its effect is seen. In an order
# in which no preparation does what another one has left to do.
EFFECTS: dict[str, Callable[[Wakened], Callable[[], bool]]] = {
    "trackrecord.embed": a_records_text_is_embedded,
    "trackrecord.refresh": lost_rankings_are_cached_again,
    "trackrecord.advise": advice_is_counted,
    "trackrecord.consolidate": repeated_successes_become_a_record,
    "trackrecord.catch_up": a_missed_night_is_caught_up,
    "trackrecord.claim": a_dead_workers_outcome_is_learnt,
    "trackrecord.drain": an_outcome_is_learnt,
    "trackrecord.forward": a_spooled_outcome_reaches_the_stream,
}


@pytest.mark.parametrize("task", [job.name for job in JOBS])
def test_the_job_has_its_effect(worker, task):
    """The task of its name does in a worker process what it is there for."""
    is_done = EFFECTS[task](worker)
    worker.wake_until(is_done, task)


def test_one_process_does_it_all_by_itself(tmp_path):
    """The worker of one machine, with a pool of threads; it consolidates: a night was missed."""
    log = tmp_path / "log"
    with servers() as (settings, *others):
        stages = Services(settings, None)
        bodies = {job.name: getattr(jobs, job.body) for job in JOBS}
        prepared = Wakened(settings, *others, lambda task: bodies[task](stages))
        is_done = {task: prepare(prepared) for task, prepare in EFFECTS.items()}
        assert not [task for task, done in is_done.items() if done()]
        stages.engine.dispose()
        stages.redis.close()
        with process(solo_command(settings), settings, log):
            for done in is_done.values():
                until(done)
    assert "raised unexpected" not in log.read_text()


def test_a_job_that_fails_does_not_hold_up_the_others(worker):
    """Nor does one that this version does not know."""
    kind = worker.settings.keys.dead
    worker.client.delete(kind)
    worker.client.lpush(kind, "of another type")
    try:
        worker.learn(body(70, project="late", instruction="book a flight"))
        reader = RankingsReader(worker.settings)
        names = ["trackrecord.unknown", "trackrecord.claim", "trackrecord.advise"]
        worker.wake_until(lambda: reader.cached("late").advice is not None, UPKEEP, [names])
    finally:
        worker.client.delete(kind)


def test_every_task_is_known(worker):
    """To the worker, so that none that beat sends is refused; remote control says so."""
    inspect = create_app(worker.settings).control.inspect(timeout=5, limit=1)
    known: set[str] = set()

    def answered() -> bool:
        # A question is heard by who listens at that moment: one that still starts does not.
        for names in (inspect.registered() or {}).values():
            known.update(names)
        return bool(known)

    until(answered)
    assert set(TASKS) <= known
