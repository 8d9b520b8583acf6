"""Estimates as a reader is shown them: of patterns, records, procedures and kinds of task."""

import time
from typing import Final

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.estimates.estimates import Estimates, estimate
from trackrecord.store.advice.runs import read_runs

from .answer_cache import AnswerCache
from .project_rows import project_row

# Those of a large project take megabytes.
_kept: Final = AnswerCache[Estimates](2)


def read_estimates(
    connection: Connection, settings: DaemonSettings, project: str, *, at: float | None = None
) -> Estimates:
    """Return the estimates of a project, counted from its runs; see `AnswerCache`.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    most, half_life = settings.rules.advice.max_runs, settings.decay.half_life_days

    def count() -> Estimates:
        runs = read_runs(connection, project_id, limit=most, at=at)
        return estimate(runs, now=time.time() if at is None else at, half_life_days=half_life)

    return _kept.answer(connection, project_id, (most, half_life, at), count)
