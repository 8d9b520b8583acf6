"""Explaining a verdict: who said how a run went, and on what grounds."""

from collections.abc import Iterator

from trackrecord.learning.text.inert import one_line
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.reports.runs import RunDetails, find_run

from .explanations import ExplanationAnswer


def explained_run(it: Transaction, outcome_id: str) -> ExplanationAnswer:
    """Return how a run went, as it was reported, and the grounds of that.

    Args:
        it: a reading transaction.
        outcome_id: the outcome's id, or the beginning of it.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such outcome.
        AmbiguousId: several outcomes' ids begin so.
    """
    run = find_run(it.connection, it.project, outcome_id)
    return ExplanationAnswer(
        id=run.outcome_id, numbers={"success": run.success}, because=tuple(_evidence(run))
    )


def _evidence(run: RunDetails) -> Iterator[str]:
    said = {None: "no verdict", True: "it succeeded", False: "it failed"}[run.success]
    source = f" (evidence: {run.outcome_source})" if run.outcome_source else ""
    yield f"reported: {said}{source}"
    for ground in run.grounds:
        yield one_line(f"because: {ground.kind}{': ' if ground.says else ''}{ground.says}")
