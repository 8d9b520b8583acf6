"""Estimates as a reader is shown them: of patterns, records, procedures and kinds of task."""

import time
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates, estimate
from trackrecord.learning.advice.estimates.wording import rate_in_words, sentence
from trackrecord.store.advice.runs import read_runs

from .kept import KeptAnswers
from .project_rows import project_row

# Those of a large project take megabytes.
_kept: Final = KeptAnswers[Estimates](2)


@dataclass(frozen=True)
class KindOfTask:
    """A kind of task.

    Attributes:
        name: what people call it.
        estimate: how often such tasks succeed.
    """

    name: str
    estimate: Estimate

    @property
    def words(self) -> str:
        """How often such tasks succeed, in words."""
        return rate_in_words(self.estimate.posterior, self.estimate.tally)

    def to_document(self) -> dict[str, Any]:
        """Return the kind as a JSON object."""
        low, high = self.estimate.posterior.interval
        tally = self.estimate.tally
        return {
            "name": self.name,
            "words": self.words,
            "rate": self.estimate.posterior.mean,
            "low": low,
            "high": high,
            "runs": tally.runs,
            "tasks": tally.tasks,
            "successes": tally.successes,
        }


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


def list_kinds(
    connection: Connection, settings: DaemonSettings, project: str, *, at: float | None = None
) -> list[KindOfTask]:
    """Return the kinds of task that a project's runs are of, the commonest first.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    estimates = read_estimates(connection, settings, project, at=at)
    found = [
        KindOfTask(name, estimates.kind(position))
        for position, name in enumerate(estimates.kinds.names)
        if position in estimates.counts.by_kind
    ]
    return sorted(found, key=lambda kind: (-kind.estimate.tally.runs, kind.name))


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
