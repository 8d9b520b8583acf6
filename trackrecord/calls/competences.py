"""The calls for competence records: which procedure fits a task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trackrecord.beside import awaited

from .here import store_here

if TYPE_CHECKING:
    from trackrecord.queries.recommend_competences import RecommendedProcedures
    from trackrecord.queries.select_competences import SelectionResult


def select_competences(
    task: str | None = None,
    *,
    conditions: object = None,
    by: Literal["advice", "seed"] = "advice",
    source: str | None = None,
    limit: int = 10,
    at: float | None = None,
    project: str | None = None,
) -> RecommendedProcedures | SelectionResult:
    """Return the procedures that fit a task, best first, and how sure the choice is.

    The answer has `candidates`, `confidence`, `needs_more` (whether more information is needed) and
    `to_document()`, as `trackrecord competences select --json` prints it.

    Args:
        task: the task's text; without one every success votes alike, or records are ranked by their
            confidence.
        conditions: the conditions under which the task appeared, for example `{"os": "linux"}`:
            what was used under other ones ranks below, what was used under these ranks above.
        by: "advice": each success of a similar task votes for the tools that it used; "seed":
            records are ranked by the mean of applicability, success and recency.
        source: only the runs of this agent vote; by "advice" alone.
        limit: the maximum number of candidates to return.
        at: a past moment to answer for, in seconds since the epoch.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with store_here(project) as here:
        from trackrecord.queries.select_procedures import select_procedures

        return select_procedures(
            here.engine,
            here.settings,
            here.project,
            task=task,
            conditions=conditions,
            by=by,
            source=source,
            limit=limit,
            at=at,
        )


aselect_competences = awaited(select_competences)
