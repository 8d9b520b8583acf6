"""The tasks: thin, without payload, safe to lose and to repeat."""

import time
from collections.abc import Callable
from functools import wraps

import redis
import structlog
from celery import Task, shared_task

from trackrecord.embeddings.embedder import embed_everything
from trackrecord.errors import ServerUnavailable, StoreUnavailable
from trackrecord.store.database.engine import reading
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.similar import mark_waiting
from trackrecord_consolidation.run import consolidate_all
from trackrecord_producers.spool_forwarder import forward_spool

from .housekeeping import forget_artifacts
from .schedule import is_consolidation_due
from .stages import DRAIN_TASK, Stages

# A Redis whose memory is full refuses writes, and takes them again when there is room.
REDIS_AWAY = (redis.ConnectionError, redis.TimeoutError, redis.OutOfMemoryError)

_log = structlog.get_logger(__name__)


def _work(work: Callable[[Stages], None], stages: Stages) -> None:
    try:
        work(stages)
    except StoreUnavailable as error:
        stages.outage.begin(str(error))


def _task(name: str) -> Callable[[Callable[[Stages], None]], Task]:
    """A task that is handed the stages, and for which a server that is away is no error."""

    def decorate(work: Callable[[Stages], None]) -> Task:
        @wraps(work)
        def run(task: Task) -> None:
            stages: Stages = task.app.stages.get()
            try:
                _work(work, stages)
            except (ServerUnavailable, *REDIS_AWAY) as error:
                # What was read stays pending; the next wake-up tries again.
                _log.warning("redis_unavailable", task=name, reason=type(error).__name__)

        return shared_task(run, name=name, bind=True)

    return decorate


@_task(DRAIN_TASK)
def drain(stages: Stages) -> None:
    """Learn what is waiting in the stream."""
    stages.drain.run()


@_task("trackrecord.claim")
def claim(stages: Stages) -> None:
    """Take over what dead workers left pending."""
    stages.drain.take_over()


@_task("trackrecord.forward")
def forward(stages: Stages) -> None:
    """Forward what producers on this machine have spooled."""
    forward_spool(stages.settings, stages.redis)


@_task("trackrecord.refresh")
def refresh(stages: Stages) -> None:
    """Bring what is found by words, and cached rankings, up to the store."""
    index_past_tasks(stages.engine)
    mark_waiting(stages.engine, stages.settings.memories)
    stages.refresher.refresh_stale()
    stages.reminder.remind()


@_task("trackrecord.consolidate")
def consolidate(stages: Stages) -> None:
    """Turn repeated successes into competence records."""
    consolidate_all(stages.engine, stages.settings.competence, now=time.time(), actor="nightly")
    stages.refresher.refresh_stale()
    embed_everything(stages.engine, stages.settings.embeddings, now=time.time())
    forget_artifacts(stages.settings, now=time.time())


@_task("trackrecord.catch_up")
def catch_up(stages: Stages) -> None:
    """Consolidate when the run that was due last did not take place."""
    with reading(stages.engine) as connection:
        due = is_consolidation_due(connection, stages.schedule)
    if due:
        consolidate(stages)
