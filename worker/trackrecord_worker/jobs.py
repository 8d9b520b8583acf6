"""The bodies of the tasks: one function for each, safe to lose and to repeat."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import structlog
from celery.schedules import crontab
from sqlalchemy import Connection

from trackrecord.artifacts.store import prune_artifacts
from trackrecord.embeddings.embedder import embed_everything
from trackrecord.redis.fleet_counts import Ending, consolidation_counts
from trackrecord.settings.settings import Settings
from trackrecord.store.database.engine import reading
from trackrecord.store.intake.status import unconsolidated_since
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.similar import mark_waiting
from trackrecord.store.outcomes.projects import project_names
from trackrecord_consolidation.run import consolidate_all
from trackrecord_producers.spool.forwarder import forward_spool

from .services import Services

_log = structlog.get_logger(__name__)


def learn_waiting(stages: Services) -> None:
    """Learn the entries that are waiting in the stream, and let retries and searches find them."""
    done = stages.drain.run()
    stages.retry_texts.refresh()
    if done["batches"]:
        index_past_tasks(stages.engine)


def take_over_pending(stages: Services) -> None:
    """Learn the entries that dead workers have left pending."""
    stages.drain.take_over()


def forward_spooled(stages: Services) -> None:
    """Forward the outcomes that producers on this machine have spooled."""
    forward_spool(stages.settings, stages.redis)


def refresh_caches(stages: Services) -> None:
    """Bring the word index and the cached rankings up to date with the store."""
    index_past_tasks(stages.engine)
    mark_waiting(stages.engine, stages.settings.memories)
    stages.refresher.refresh_stale()
    stages.reminder.remind()


def renew_advice(stages: Services) -> None:
    """Count the advice of projects with new runs again."""
    stages.adviser.advise_due()


def embed_records(stages: Services) -> None:
    """Embed the competence records in the cached rankings, if an embedding endpoint is set."""
    with reading(stages.engine) as connection:
        projects = project_names(connection)
    stages.record_vectors.renew(projects)


def look_for_news(stages: Services) -> None:
    """Find news for the receivers, if there are any; beat's process sends them."""
    stages.news.detect()


def consolidate_all_projects(stages: Services) -> None:
    """Turn repeated successes into competence records, then do the nightly housekeeping."""
    with _counted_consolidation(stages):
        consolidate_all(stages.engine, stages.settings.competence, now=time.time(), actor="nightly")
    stages.refresher.refresh_stale()
    embed_everything(stages.engine, stages.settings.embeddings, now=time.time())
    forget_artifacts(stages.settings, now=time.time())


def catch_up_consolidation(stages: Services) -> None:
    """Consolidate now if the last scheduled run did not take place."""
    with reading(stages.engine) as connection:
        due = is_consolidation_due(connection, stages.schedule)
    if due:
        consolidate_all_projects(stages)


@contextmanager
def _counted_consolidation(stages: Services) -> Iterator[None]:
    """Count the consolidation of all projects in the block: how it ends, and how long it takes."""
    started = time.perf_counter()
    ending: Ending = "failed"
    try:
        yield
        ending = "finished"
    finally:
        failed = None if ending == "finished" else "consolidation"
        stages.spans.note("consolidate", started, failed=failed)
        _add_consolidation(stages, ending, time.perf_counter() - started)


def _add_consolidation(stages: Services, ending: Ending, seconds: float) -> None:
    with stages.redis.pipeline(transaction=True) as pipe:
        for name, number in consolidation_counts(ending, seconds).items():
            pipe.hincrby(stages.settings.keys.counters, name, number)
        pipe.execute()


def is_consolidation_due(connection: Connection, schedule: crontab) -> bool:
    """Return whether a project missed a run, due since its last run or its first episode.

    Beat does not remember what it missed while it was down; the runs on record do.
    """
    since = unconsolidated_since(connection)
    return since is not None and bool(schedule.is_due(datetime.fromtimestamp(since, UTC)).is_due)


def forget_artifacts(settings: Settings, *, now: float) -> None:
    """Delete this home's artifacts whose retention time is over; log a failing disk."""
    try:
        removed = prune_artifacts(settings.home, settings.artifacts.retention_s, now=now)
    except OSError as error:
        _log.warning("artifacts_not_pruned", reason=error.strerror or str(error))
        return
    if removed:
        _log.info("artifacts_pruned", count=removed)
