"""The calls for competence records: which procedure fits a task, and procedures by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trackrecord.beside import awaited

from .here import store_here

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trackrecord.queries.competences import CompetenceRecord
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


def add_competence(
    tools: Sequence[str | Mapping[str, object]],
    *,
    triggers: Sequence[str | Mapping[str, object]],
    by: str,
    reason: str = "by hand",
    skill_name: str | None = None,
    failure_modes: Sequence[str] = (),
    tags: Sequence[str] = (),
    confidence: float | None = None,
    half_life_days: float | None = None,
    pinned: bool = False,
    project: str | None = None,
) -> CompetenceRecord:
    """Store a procedure by hand, and return its record; nobody has tried it yet.

    Outcomes that name the record, and those that use just these tools, count for it. Its triggers
    and its recipe stay, whatever is learnt.

    Args:
        tools: the tools in order, each by its name or as `{"tool": …, "args_schema": {…}}`.
        triggers: the signals that it answers to, each a text or `{"signal": …, "conditions": …}`.
        by: its author, for its history.
        reason: why, for its history.
        skill_name: its name; made of its tools when not given.
        failure_modes: how it is known to fail.
        tags: what it can be found by.
        confidence: how far it is trusted, from 0 to 1; the settings' when not given.
        half_life_days: days without reinforcement after which its salience is half; as above.
        pinned: whether its salience is kept from decaying.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    given = {
        "tools": tools,
        "triggers": triggers,
        "skill_name": skill_name,
        "failure_modes": failure_modes,
        "tags": tags,
        "confidence": confidence,
        "half_life_days": half_life_days,
        "pinned": pinned,
    }
    with store_here(project) as here:
        from trackrecord.changes.competences import add_competences
        from trackrecord.learning.competences.new_record import read_new_competence

        new = read_new_competence(given, here.settings.competence)
        (record,) = add_competences(
            here.engine, here.settings, here.project, [new], by=by, reason=reason
        )
        return record


aadd_competence = awaited(add_competence)
aselect_competences = awaited(select_competences)
