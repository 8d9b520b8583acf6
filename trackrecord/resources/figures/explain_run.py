"""Explaining a verdict: the probability that a run succeeded, from similar runs."""

from collections.abc import Iterable, Iterator

from sqlalchemy import select

from trackrecord.errors import UnknownId
from trackrecord.learning.advice.rules import MAX_RUNS
from trackrecord.learning.advice.runs.runs import NotedRun, with_verdict
from trackrecord.learning.advice.verdict.model import Model, Term, fit
from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.times import iso
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.reports.runs import find_run, whole_outcome_id
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.runs import read_noted_runs
from trackrecord.store.outcomes.as_of import outcome_current_as_of
from trackrecord.store.outcomes.tables import outcomes
from trackrecord.wire.outcome import Outcome

from .explanations import ExplanationAnswer


def explained_run(it: Transaction, outcome_id: str) -> ExplanationAnswer:
    """Return how probably the run of an outcome succeeded, judged by the project's other runs.

    Args:
        it: a reading transaction.
        outcome_id: the outcome's id, or the beginning of it.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such outcome, or its run is too old to count.
        AmbiguousId: several outcomes' ids begin so.
    """
    connection, settings, at = it.connection, it.settings, it.at
    whole = whole_outcome_id(connection, it.project, outcome_id)
    row = connection.execute(
        select(outcomes.c.id)
        .where(
            outcomes.c.project_id == it.project_id,
            outcomes.c.outcome_id == whole,
            outcome_current_as_of(at),
        )
        .order_by(outcomes.c.id)
        .limit(1)
    ).scalar_one()
    noted = read_noted_runs(connection, it.project_id, at=at)
    asked = next((run for run in noted if run.outcome == row), None)
    if asked is None:
        raise UnknownId(_not_compared(whole, len(noted), MAX_RUNS, at))
    judged = _model(noted, settings, it.moment).probability(asked)
    return ExplanationAnswer(
        id=whole,
        numbers={"probability": judged.probability, "success": asked.success},
        because=(
            *map(_line, judged.terms),
            f"together: it succeeded with a probability of {judged.probability:.0%}",
            f"reported: {_reported(asked)}",
            *_grounds(find_run(connection, it.project, whole, at=at).outcome),
        ),
    )


def _model(noted: Iterable[NotedRun], settings: DaemonSettings, now: float) -> Model:
    return fit(with_verdict(noted), now=now, half_life_days=settings.decay.half_life_days)


def _reported(run: NotedRun) -> str:
    if run.success is None:
        return "no verdict"
    return f"it {'succeeded' if run.success else 'failed'}, which was not looked at"


def _grounds(said: Outcome) -> Iterator[str]:
    """Yield the grounds of the reported verdict, where they were captured."""
    for ground in said.grounds or ():
        yield one_line(f"because: {ground.kind}{': ' if ground.says else ''}{ground.says}")


def _not_compared(outcome_id: str, count: int, limit: int, at: float | None) -> str:
    if at is not None and count < limit:
        return f"outcome {outcome_id!r} was not on record at {iso(at)}"
    return f"outcome {outcome_id!r} is not among the newest {count} runs, which are compared"


def _line(term: Term) -> str:
    # Plus zero: a small negative number is not shown as -0.00.
    return f"{term.name}: {round(term.log_odds, 2) + 0.0:+.2f} in log odds; {term.said}"
