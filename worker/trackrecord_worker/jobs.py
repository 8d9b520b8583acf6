"""The bodies of the tasks: one function for each, safe to lose and to repeat."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import redis
import structlog
from sqlalchemy import Connection

from trackrecord.artifacts.store import prune_artifacts
from trackrecord.embeddings.embedder import embed_everything
from trackrecord.errors import RetentionFailed, ServerUnavailable, StoreUnavailable
from trackrecord.redis.fleet_counts import Ending, consolidation_count
from trackrecord.redis.problems import is_away, is_out_of_memory
from trackrecord.settings.daemon_settings import DaemonSettings, RetentionSettings
from trackrecord.store.database.engine import dialect_of, reading
from trackrecord.store.intake.status import unconsolidated_since
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.similar import mark_waiting
from trackrecord.store.outcomes.projects import project_names
from trackrecord_consolidation.retention import due_since, remove_all_old
from trackrecord_consolidation.run import consolidate_all
from trackrecord_producers.spool.forwarder import forward_spool

from .job_table import DRAIN, Job
from .services import Services, Stopping

if TYPE_CHECKING:
    from celery.schedules import crontab

_log = structlog.get_logger(__name__)

# One task refreshes for so long: what is spooled waits for it, and so does the end of the process.
_REFRESH_SLICE_S: Final = 1.0


def carry_out(job: Job, stages: Services, *, begun: Callable[[], None]) -> None:
    """Run a job; a server that is away is not an error.

    Args:
        job: its row in the table.
        stages: what it is done with.
        begun: called when a drain begins.
    """
    body: Callable[[Services], None] = globals()[job.body]
    drains = job.name == DRAIN
    try:
        stages.sign_of_life.give(drains=drains)
        if drains:
            begun()
        try:
            body(stages)
        except StoreUnavailable as error:
            stages.outage.begin(str(error))
        stages.redis_outage.end()
    except (ServerUnavailable, redis.RedisError) as error:
        # A Redis whose memory is full refuses writes, and takes them again when there is room.
        if not (isinstance(error, ServerUnavailable) or is_away(error) or is_out_of_memory(error)):
            raise
        stages.redis_outage.begin()
        # The entries that were read stay pending; the next wake-up tries again.
        _log.warning("redis_unavailable", task=job.name, reason=type(error).__name__)
    except Stopping:
        _log.info("job_stopped", task=job.name, effect="the rest is caught up after the next start")


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
    written = dialect_of(stages.engine).last_write(stages.engine)
    if written is None or written != stages.indexed_write:
        index_past_tasks(stages.engine)
        mark_waiting(stages.engine, stages.settings.memories)
        stages.indexed_write = written
    else:
        stages.rest()
    stages.refresher.refresh_stale(stages.adviser.look_again, within_s=_REFRESH_SLICE_S)
    stages.reminder.remind()
    dialect_of(stages.engine).bound_log(stages.engine)


def renew_advice(stages: Services) -> None:
    """Count the advice of projects with new runs again."""
    stages.adviser.advise_due()


def embed_records(stages: Services) -> None:
    """Embed the competence records in the cached rankings, if an embedding endpoint is set."""
    with reading(stages.engine) as connection:
        projects = project_names(connection)
    stages.record_vectors.renew(projects)


def consolidate_all_projects(stages: Services) -> None:
    """Turn repeated successes into competence records, then do the nightly housekeeping."""
    settings = stages.settings
    ending: Ending = "failed"
    try:
        consolidate_all(
            stages.engine,
            settings.competence,
            now=time.time(),
            actor="nightly",
            report_read=stages.end_if_stopping,
        )
        remove_all_old(
            stages.engine,
            settings.retention,
            settings.rules,
            now=time.time(),
            report=stages.end_if_stopping,
        )
        ending = "finished"
    except RetentionFailed:
        _keep_house(stages)
        raise
    finally:
        stages.redis.hincrby(settings.keys.counters, consolidation_count(ending), 1)
    _keep_house(stages)


def _keep_house(stages: Services) -> None:
    """Bring up to date, and clear away, what follows from a night's consolidation."""
    stages.refresher.refresh_stale()
    embed_everything(stages.engine, stages.settings.embeddings, now=time.time())
    forget_artifacts(stages.settings, now=time.time())


def catch_up_consolidation(stages: Services) -> None:
    """Consolidate now if the last scheduled run did not take place."""
    with reading(stages.engine) as connection:
        is_due = is_consolidation_due(connection, stages.schedule, stages.settings.retention)
    if is_due:
        consolidate_all_projects(stages)


def is_consolidation_due(
    connection: Connection, schedule: crontab, retention: RetentionSettings
) -> bool:
    """Return whether a project missed a run, due since its last run or its first episode.

    Or since something became too old. Beat does not remember what it missed while it was down; what
    is on record tells.
    """
    return any(
        since is not None and schedule.is_due(datetime.fromtimestamp(since, UTC)).is_due
        for since in (unconsolidated_since(connection), due_since(connection, retention))
    )


def forget_artifacts(settings: DaemonSettings, *, now: float) -> None:
    """Delete this home's artifacts whose retention time is over; log a failing disk."""
    try:
        removed = prune_artifacts(settings.home, settings.artifacts.retention_s, now=now)
    except OSError as error:
        _log.warning("artifacts_not_pruned", reason=error.strerror or str(error))
        return
    if removed:
        _log.info("artifacts_pruned", count=removed)
