"""Whether a nightly consolidation was missed."""

from datetime import UTC, datetime

from celery.schedules import crontab
from sqlalchemy import Connection

from trackrecord.store.intake.status import unconsolidated_since


def is_consolidation_due(connection: Connection, schedule: crontab) -> bool:
    """Return whether a project missed a run, due since its last run or its first episode.

    Beat does not remember what it missed while it was down; the runs on record do.
    """
    since = unconsolidated_since(connection)
    return since is not None and bool(schedule.is_due(datetime.fromtimestamp(since, UTC)).is_due)
