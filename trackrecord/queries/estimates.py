"""Estimates as a reader is shown them: of patterns, records, procedures and kinds of task."""

import time
from typing import Any

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates, estimate
from trackrecord.learning.advice.estimates.wording import sentence
from trackrecord.store.advice.runs import read_runs

from .project_rows import project_row


def read_estimates(
    connection: Connection, settings: DaemonSettings, project: str, *, at: float | None = None
) -> Estimates:
    """Return the estimates of a project, counted from its runs.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    runs = read_runs(
        connection, project_row(connection, project), limit=settings.rules.advice.max_runs, at=at
    )
    now = time.time() if at is None else at
    return estimate(runs, now=now, half_life_days=settings.decay.half_life_days)


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
