"""Selection: which competence records or procedures fit a task, by words, embeddings or votes."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Engine

from trackrecord.embeddings.embedder import Embedder
from trackrecord.learning.competences.document import RecordReading
from trackrecord.learning.competences.episodes.triggers import read_conditions
from trackrecord.learning.competences.record import fallbacks_among
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.declaration.resource import HasAnswer
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.competences.read import read_competences
from trackrecord.store.competences.selection.select import (
    ScoredRecord,
    Selected,
    select_competences,
)
from trackrecord.store.database.engine import reading

from .competences import CompetenceRecord, SelectedCompetences
from .recommend_competences import RecommendedProcedures, may_fall_back, recommend_competences


@dataclass(frozen=True)
class SelectionResult(HasAnswer):
    """The answer to a selection.

    Attributes:
        answer: the candidates, and how sure the choice is.
        compared_by: what applicability is: "confidence" without a task, else "words" or
            "embeddings".
        task: the task's text, if any.
        now: the moment that it is an answer for, seconds since the epoch.
        needs_more_below: the confidence below which a choice needs more information.
        fallbacks: of each candidate, by id.
    """

    answer: Selected
    compared_by: str
    task: str | None
    now: float
    needs_more_below: float
    fallbacks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def candidates(self) -> tuple[ScoredRecord, ...]:
        """The records that fit, best first."""
        return self.answer.candidates

    @property
    def confidence(self) -> float:
        """Return the lead of the first candidate, 0..1."""
        return self.answer.choice.confidence

    @property
    def needs_more(self) -> bool:
        """Return whether the lead is too small to act on, so that more information is needed."""
        return self.answer.choice.needs_more

    @property
    def records(self) -> list[CompetenceRecord]:
        """The candidates' records, best first."""
        return [
            CompetenceRecord(
                each.record, RecordReading(self.now, self.fallbacks.get(each.record.id, ()))
            )
            for each in self.answer.candidates
        ]

    def as_answer(self) -> SelectedCompetences:
        """Return what JSON has of it."""
        answer = self.answer
        return SelectedCompetences(
            task=self.task,
            selected=answer.candidates[0].record.id if answer.candidates else None,
            confidence=answer.choice.confidence,
            needs_more=answer.choice.needs_more,
            needs_more_below=self.needs_more_below,
            count=answer.count,
            compared_by=self.compared_by,
            candidates=tuple(
                {
                    "id": candidate.record.id,
                    "score": candidate.signals.score,
                    "applicability": candidate.signals.applicability,
                    "success": candidate.signals.success,
                    "recency": candidate.signals.recency,
                    "record": record.to_document(),
                }
                for candidate, record in zip(answer.candidates, self.records, strict=True)
            ),
        )


class Selector:
    """Selects competence records of any project of one store.

    Args:
        engine: the store.
        settings: the rules, and the embedding endpoint if there is one.
    """

    def __init__(self, engine: Engine, settings: DaemonSettings) -> None:
        self._engine = engine
        self._settings = settings
        self._embedder = Embedder(engine, settings.embeddings)

    def select(
        self,
        project: str,
        *,
        task: str | None,
        limit: int,
        now: float,
        conditions: Any = None,  # noqa: ANN401 - whatever JSON the agents gave
    ) -> SelectionResult:
        """Rank the records of a project for a task.

        Args:
            project: its name.
            task: the task's text, if any.
            limit: the maximum number of candidates to return.
            now: the moment that recency and salience are computed for, seconds since the epoch.
            conditions: the conditions of the task; records that were used under other ones rank
                below, those that were used under these rank above.

        Raises:
            UnknownProject: nothing is on record for the project.
            WrongDimension: the embedding endpoint's vectors are not as long as they must be.
        """
        wanted = task if task and task.strip() else None
        with reading(self._engine) as connection:
            project_id = project_row(connection, project)
        by_vectors = None
        if wanted is not None:
            by_vectors = self._embedder.applicability(project_id, wanted, now=time.time())
        with reading(self._engine) as connection:
            answer = select_competences(
                connection,
                project_id,
                self._settings.competence,
                task=wanted,
                limit=limit,
                now=now,
                applicability=by_vectors,
                conditions=conditions,
            )
            # All records are read only where one may have a fallback.
            has_any = may_fall_back(each.record for each in answer.candidates)
            records = read_competences(connection, project_id) if has_any else []
        compared_by = "words" if by_vectors is None else "embeddings"
        return SelectionResult(
            answer,
            compared_by if wanted else "confidence",
            task=task,
            now=now,
            needs_more_below=self._settings.competence.needs_more_below,
            fallbacks=fallbacks_among(records),
        )


def select_procedures(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    *,
    task: str | None,
    by: Literal["advice", "seed"],
    conditions: Any,  # noqa: ANN401 - whatever JSON the caller gives
    source: str | None,
    limit: int,
    at: float | None,
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

    Raises:
        InvalidRequest: the conditions are not JSON, or too long.
        UnknownProject: nothing is on record for the project.
        WrongDimension: the embedding endpoint's vectors are not as long as they must be.
    """
    wanted = None if conditions is None else read_conditions(conditions)
    now = time.time() if at is None else at
    asked: dict[str, Any] = {"task": task, "limit": limit, "now": now, "conditions": wanted}
    if by == "advice":
        with reading(engine) as connection:
            return recommend_competences(connection, settings, project, source=source, **asked)
    return Selector(engine, settings).select(project, **asked)
