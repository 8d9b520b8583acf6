"""Estimates: how often runs succeed with a pattern or a procedure, as answers tell it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, Self

from trackrecord.resources.access.answer_cache import CountedAnswers
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.declaration.resource import Answer

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates
    from trackrecord.settings.daemon_settings import DaemonSettings


class EstimateAnswer(Answer, frozen=True, kw_only=True):
    """How often runs with something succeed, estimated.

    Attributes:
        words: the estimate in a sentence.
        rate: the share of runs that succeed.
        low: the lower end of its interval.
        high: the upper end of its interval.
        level: whose runs were counted.
        runs: the runs that were counted.
        tasks: their tasks.
        successes: the runs that succeeded.
        decayed_runs: the runs, each weighed by its age.
        decayed_successes: the runs that succeeded, each weighed by its age.
        usual: how often comparable runs succeed.
        prior: the rate that is expected without a run.
        effect: the difference from comparable runs; null where none can be compared.
        effect_low: the lower end of its interval.
        effect_high: the upper end of its interval.
        effect_groups: the groups of runs that were compared.
        is_worth_recommending: whether it is recommended.
    """

    words: str
    rate: float
    low: float
    high: float
    level: str
    runs: int
    tasks: int
    successes: int
    decayed_runs: float
    decayed_successes: float
    usual: float
    prior: float
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    effect_groups: int
    is_worth_recommending: bool

    @classmethod
    def of(cls, estimate: Estimate) -> Self:
        """Return an estimate as an answer."""
        from trackrecord.learning.advice.estimates.wording import sentence

        low, high = estimate.posterior.interval
        tally, effect = estimate.tally, estimate.effect
        return cls.taken(
            estimate,
            tally,
            words=sentence(estimate),
            rate=estimate.posterior.mean,
            low=low,
            high=high,
            level=estimate.level.value,
            prior=estimate.usual,
            effect=effect.difference if effect.is_known else None,
            effect_low=effect.low if effect.is_known else None,
            effect_high=effect.high if effect.is_known else None,
            effect_groups=effect.strata,
        )


def _type() -> type[Estimates]:
    from trackrecord.learning.advice.estimates.estimates import Estimates

    return Estimates


# Those of a large project take megabytes.
counted_estimates: Final = CountedAnswers["Estimates"]("estimates", _type, 3)


def read_estimates(connection: Connection, settings: DaemonSettings, project: str) -> Estimates:
    """Return the estimates of a project, counted from its runs; see `CountedAnswers`.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    project_id = project_row(connection, project)
    half_life = settings.decay.half_life_days

    def count() -> Estimates:
        from trackrecord.learning.advice.estimates.estimates import estimate
        from trackrecord.learning.advice.runs.runs import with_verdict
        from trackrecord.learning.advice.tasks.heard import heard_runs
        from trackrecord.store.advice.runs import read_runs

        noted = read_runs(connection, project_id)
        runs = with_verdict(heard_runs(noted, settings.caps))
        return estimate(runs, now=time.time(), half_life_days=half_life)

    return counted_estimates.counted(connection, settings, project_id, half_life, count)
