"""The calls for competence records: which procedure fits a task, and procedures by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trackrecord.beside import awaited
from trackrecord.errors import InvalidRequest
from trackrecord.resources.checks import (
    Moment,
    choice_of,
    decided_by,
    limit_of,
    moment_of,
    optional_text_of,
)
from trackrecord.resources.project_store import open_project

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trackrecord.queries.competences import CompetenceRecord
    from trackrecord.queries.recommend_competences import RecommendedProcedures
    from trackrecord.queries.select_competences import SelectionResult

_WAYS = ("advice", "seed")
_MOST_CANDIDATES = 1000
_BY_HAND = "by hand"


def select_competences(
    task: str | None = None,
    *,
    conditions: object = None,
    by: Literal["advice", "seed"] = "advice",
    source: str | None = None,
    limit: int = 10,
    at: Moment | None = None,
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
        at: a past moment to answer for.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    wanted, moment = optional_text_of("task", task), moment_of(at)
    most, runs_of = limit_of(limit, most=_MOST_CANDIDATES), optional_text_of("source", source)
    if choice_of("by", by, _WAYS) != "advice" and runs_of is not None:
        message = "a source tells whose runs vote; by 'seed' records are ranked without votes"
        raise InvalidRequest(message)
    with open_project(project) as here:
        from trackrecord.queries.select_procedures import select_procedures

        return select_procedures(
            here.engine,
            here.settings,
            here.project,
            task=wanted,
            conditions=conditions,
            by=by,
            source=runs_of,
            limit=most,
            at=moment,
        )


def add_competence(
    tools: Sequence[str | Mapping[str, object]],
    *,
    triggers: Sequence[str | Mapping[str, object]],
    by: str | None = None,
    reason: str | None = None,
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
        by: its author, for its history; this process's user when not given.
        reason: why, for its history; "by hand" when not given.
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
    actor, why = decided_by(by, reason)
    with open_project(project) as here:
        from trackrecord.changes.competences import add_competences
        from trackrecord.learning.competences.new_record import read_new_competence

        new = read_new_competence(given, here.settings.competence)
        (record,) = add_competences(
            here.engine, here.settings, here.project, [new], by=actor, reason=why or _BY_HAND
        )
        return record


aadd_competence = awaited(add_competence)
aselect_competences = awaited(select_competences)
