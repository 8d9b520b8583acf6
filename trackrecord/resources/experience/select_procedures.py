"""Procedures that fit a task: by the votes of similar tasks, or by the signals of records."""

import time
from typing import Any, Literal

from sqlalchemy import Engine

from trackrecord.learning.competences.episodes.triggers import read_conditions
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.database.engine import reading

from .recommend_competences import RecommendedProcedures, recommend_competences
from .select_competences import SelectionResult, Selector

By = Literal["advice", "seed"]


def select_procedures(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    *,
    task: str | None,
    by: By = "advice",
    conditions: Any = None,  # noqa: ANN401 - whatever JSON the caller gives
    source: str | None = None,
    limit: int = 10,
    at: float | None = None,
    with_fallbacks: bool = True,
) -> RecommendedProcedures | SelectionResult:
    """Return the procedures that fit a task, best first.

    Args:
        engine: the store.
        settings: the rules, and the embedding endpoint if there is one.
        project: its name.
        task: the task's text, if any.
        by: "advice" lets the successes of similar tasks vote, "seed" ranks records by the mean of
            three signals.
        conditions: the conditions of the task, as in a trigger; None for none.
        source: only the runs of this agent vote; None for those of all.
        limit: the maximum number of candidates to return.
        at: the moment that recency and salience are computed for; None for now.
        with_fallbacks: whether to look for the candidates' fallbacks; by "seed" alone.

    Raises:
        InvalidRequest: the conditions are not JSON, or too long.
        UnknownProject: nothing is on record for the project.
        WrongDimension: the embedding endpoint's vectors are not as long as they must be.
    """
    wanted = None if conditions is None else read_conditions(conditions)
    now = time.time() if at is None else at
    if by == "advice":
        with reading(engine) as connection:
            return recommend_competences(
                connection,
                settings,
                project,
                task=task,
                limit=limit,
                source=source,
                now=now,
                conditions=wanted,
            )
    return Selector(engine, settings).select(
        project,
        task=task,
        limit=limit,
        now=now,
        with_fallbacks=with_fallbacks,
        conditions=wanted,
    )
