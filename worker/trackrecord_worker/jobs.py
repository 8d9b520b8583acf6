"""The bodies of the tasks: one function for each, safe to lose and to repeat."""

import time

from trackrecord.embeddings.embedder import embed_everything
from trackrecord.store.database.engine import reading
from trackrecord.store.memories.past_tasks import index_past_tasks
from trackrecord.store.memories.similar import mark_waiting
from trackrecord.store.outcomes.projects import project_names
from trackrecord_consolidation.run import consolidate_all
from trackrecord_producers.spool_forwarder import forward_spool

from .counting import counted_consolidation
from .housekeeping import forget_artifacts
from .missed_run import is_consolidation_due
from .services import Services


def learn_waiting(stages: Services) -> None:
    """Learn the entries that are waiting in the stream, and write what retries read."""
    stages.drain.run()
    index_past_tasks(stages.engine)
    stages.errors.refresh_texts()


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
    """Find what people are to be told, if anybody is; beat's process tells it."""
    stages.news.look()


def consolidate_all_projects(stages: Services) -> None:
    """Turn repeated successes into competence records, then do the nightly housekeeping."""
    with counted_consolidation(stages):
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
