"""Explanations: why something stands where it stands, and what it would take to change it."""

from __future__ import annotations

from typing import Any

from trackrecord.errors import InvalidRequest
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.declaration.checks import OutcomeId, PatternName, Text
from trackrecord.resources.declaration.resource import Answer, Resource


class ExplanationAnswer(Answer, frozen=True, kw_only=True):
    """Why something stands where it stands.

    Attributes:
        id: its whole id, or the name of the criterion.
        numbers: what it is judged by, as its own list shows it.
        because: the rules that decided, in order.
        to_change: what it would take to change it.
        rebuild_due: why the numbers must be computed anew; empty when they need not be.
    """

    id: str
    numbers: dict[str, Any]
    because: tuple[str, ...]
    to_change: tuple[str, ...] = ()
    rebuild_due: tuple[str, ...] = ()


EXPLANATIONS = Resource("explain", "Explain why something stands where it stands.")


@EXPLANATIONS.offers("GET /explain/{some_id:path}")
def explain(some_id: PatternName, *, project: str | None = None) -> ExplanationAnswer:
    """Return why a pattern, a criterion, a competence record or a memory stands where it stands.

    Args:
        some_id: its id, the beginning of it, or the name of the criterion; `criterion:NAME` where a
            pattern has the same name.
        project: whose experience; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from .explain import explained

        return explained(it, some_id)


@EXPLANATIONS.offers("GET /procedures/explanation")
def explain_procedure(
    tools: Text,
    *,
    task: Text | None = None,
    project: str | None = None,
) -> ExplanationAnswer:
    """Return how often a procedure succeeds, and why that is expected.

    There is an answer for every procedure: one that always failed, and one that was never tried.

    Args:
        tools: the names of the procedure's tools, joined with `+`, in any order.
        task: the text of a task that it is meant for; the tasks that it was used for when not
            given.
        project: whose experience; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    if not tools.strip(" +"):
        message = "tools names no tool: join the names of the procedure's tools with +"
        raise InvalidRequest(message)
    with read_project(project) as it:
        from .explain import explained_procedure

        return explained_procedure(it, tools, task)


@EXPLANATIONS.offers("GET /runs/{outcome_id:path}/explanation")
def explain_run(outcome_id: OutcomeId, *, project: str | None = None) -> ExplanationAnswer:
    """Return how a run went, as it was reported, and the grounds of that.

    Args:
        outcome_id: the id of the run's outcome, or the beginning of it.
        project: the run's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from .explain import explained_run

        return explained_run(it, outcome_id)
