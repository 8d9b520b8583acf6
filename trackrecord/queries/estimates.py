"""Estimates as a reader is shown them: of patterns, records, procedures and kinds of task."""

import time
from typing import Any, Final

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates, estimate
from trackrecord.learning.advice.estimates.wording import sentence
from trackrecord.store.advice.runs import read_runs

from .kept import KeptAnswers
from .project_rows import project_row

# Those of a large project take megabytes.
_kept: Final = KeptAnswers[Estimates](2)


def read_estimates(
    connection: Connection, settings: DaemonSettings, project: str, *, at: float | None = None
) -> Estimates:
    """Return the estimates of a project, counted from its runs; see `KeptAnswers`.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    most, half_life = settings.rules.advice.max_runs, settings.decay.half_life_days

    def count() -> Estimates:
        runs = read_runs(connection, project_id, limit=most, at=at)
        return estimate(runs, now=time.time() if at is None else at, half_life_days=half_life)

    return _kept.answer(connection, project_id, (most, half_life, at), count)


def estimate_document(estimate: Estimate) -> dict[str, Any]:
    """Return an estimate as a JSON object."""
    low, high = estimate.posterior.interval
    tally, effect = estimate.tally, estimate.effect
    return {
        "words": sentence(estimate),
        "rate": estimate.posterior.mean,
        "low": low,
        "high": high,
        "level": estimate.level.value,
        "runs": tally.runs,
        "tasks": tally.tasks,
        "successes": tally.successes,
        "decayed_runs": tally.decayed_runs,
        "decayed_successes": tally.decayed_successes,
        "usual": estimate.usual,
        "prior": estimate.prior,
        "effect": effect.difference if effect.is_known else None,
        "effect_low": effect.low if effect.is_known else None,
        "effect_high": effect.high if effect.is_known else None,
        "effect_groups": effect.strata,
        "is_worth_recommending": estimate.is_worth_recommending,
    }
