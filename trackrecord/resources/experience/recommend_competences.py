"""Recommendation: which procedures the successes of similar tasks speak for."""

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import fsum
from typing import Any

from sqlalchemy import Connection

from trackrecord.learning.advice.past.past_tasks import ballots_of
from trackrecord.learning.advice.past.votes import (
    NEEDS_MORE_BELOW,
    Ballots,
    Recommendation,
    Voted,
    recommend,
)
from trackrecord.learning.competences.conditions import UNKNOWN, Fit
from trackrecord.learning.competences.document import RecordReading
from trackrecord.learning.competences.episodes.signatures import signature_of
from trackrecord.learning.competences.record import (
    DERIVED_FROM,
    Competence,
    competence_id,
    fallbacks_among,
    fit_of_competence,
)
from trackrecord.learning.competences.revision import SUPERSEDES
from trackrecord.learning.competences.rules import Status
from trackrecord.resources.access.project_store import project_row
from trackrecord.resources.declaration.resource import HasAnswer
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.store.advice.runs import read_runs
from trackrecord.store.competences.read import read_competences

from .competences import CompetenceRecord, SelectedCompetences


@dataclass(frozen=True)
class RecommendedProcedure:
    """A procedure that got votes.

    Attributes:
        tools: its tools; those of its record in the order of the recipe.
        share: its share of the votes, 0..1.
        successes: its successful runs in similar tasks.
        failures: its failed ones there.
        texts: the texts of tasks that voted for it.
        record: its competence record, or the one that has taken its place; None without one.
        fit: how far the task's conditions agree with the record's.
    """

    tools: tuple[str, ...]
    share: float
    successes: int
    failures: int
    texts: int
    record: CompetenceRecord | None
    fit: Fit = UNKNOWN

    @property
    def is_ruled_out(self) -> bool:
        """Return whether the task's conditions contradict those that it was used under."""
        return self.fit.contradicts


@dataclass(frozen=True)
class RecommendedProcedures(HasAnswer):
    """The answer to a task.

    Attributes:
        task: the task's text, if any.
        candidates: the procedures that got votes, the best first.
        count: how many there were before the limit.
        similar: how many past texts were similar enough to vote.
        ruled_out: the share of the votes of candidates that the task's conditions contradict.
    """

    task: str | None
    candidates: tuple[RecommendedProcedure, ...]
    count: int
    similar: int
    ruled_out: float = 0.0

    @property
    def confidence(self) -> float:
        """The first one's share of the votes that are not ruled out; 0 without any."""
        left = 1.0 - self.ruled_out
        if not self.candidates or self.candidates[0].is_ruled_out or left <= 0:
            return 0.0
        return min(1.0, self.candidates[0].share / left)

    @property
    def needs_more(self) -> bool:
        """Return whether the votes are too scattered to act on, or there are none."""
        return self.confidence < NEEDS_MORE_BELOW

    def as_answer(self) -> SelectedCompetences:
        """Return what JSON has of it."""
        first = self.candidates[0] if self.candidates else None
        return SelectedCompetences(
            task=self.task,
            by="advice",
            selected=first.record.id if first and first.record else None,
            tools=first.tools if first else None,
            confidence=self.confidence,
            needs_more=self.needs_more,
            needs_more_below=NEEDS_MORE_BELOW,
            count=self.count,
            compared_by="procedures",
            similar_tasks=self.similar,
            candidates=tuple(map(_candidate, self.candidates)),
        )


def _candidate(each: RecommendedProcedure) -> dict[str, Any]:
    return {
        "id": each.record and each.record.id,
        "tools": list(each.tools),
        "share": each.share,
        "successes": each.successes,
        "failures": each.failures,
        "similar_tasks": each.texts,
        "record": each.record and each.record.to_document(),
    }


def recommend_competences(
    connection: Connection,
    settings: DaemonSettings,
    project: str,
    *,
    task: str | None,
    limit: int,
    now: float,
    source: str | None = None,
    conditions: Any = None,  # noqa: ANN401 - whatever JSON the agents gave
) -> RecommendedProcedures:
    """Return the procedures that the successes of similar tasks speak for.

    A procedure whose record was taken out of selection by hand gets no votes, unless another
    record has taken its place.

    Args:
        connection: a reading transaction.
        settings: the rules.
        project: its name.
        task: the task's text; without one every success votes alike.
        limit: the maximum number of candidates to return.
        now: the moment that salience is computed for.
        source: only the runs of this agent vote; None for those of all.
        conditions: the conditions of the task; procedures whose records were used under other ones
            rank below, those that were used under these rank above.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    wanted = task if task and task.strip() else None
    project_id = project_row(connection, project)
    runs = read_runs(connection, project_id)
    places = _Places(project, read_competences(connection, project_id))
    ballots = ballots_of(
        (run for run in runs if source is None or run.source == source),
        settings.decay.half_life_days,
    )
    found = recommend(
        ballots,
        wanted,
        now=time.time(),
        excluded=_excluded(ballots, places),
        half_life_days=settings.decay.half_life_days,
    )
    candidates = [
        replace(each, fit=fit_of_competence(each.record.record, conditions, wanted))
        if each.record
        else each
        for each in _candidates(found, places, now)
    ]
    candidates.sort(key=lambda each: each.fit, reverse=True)
    return RecommendedProcedures(
        task,
        tuple(candidates[:limit]),
        len(candidates),
        len(found.similar),
        fsum(each.share for each in candidates if each.is_ruled_out),
    )


class _Places:
    """The place of the record of each procedure.

    Args:
        project: whose records.
        records: all of them, of any status.
    """

    def __init__(self, project: str, records: Sequence[Competence]) -> None:
        self.records = records
        self._project = project
        self._by_id = {record.id: record for record in records}
        self._successors = {
            relation.target_id: record
            for record in records
            for relation in record.relations
            if relation.predicate in (SUPERSEDES, DERIVED_FROM)
        }

    def own(self, tools: tuple[str, ...]) -> Competence | None:
        """Return a procedure's own record, of any status."""
        return self._by_id.get(competence_id(self._project, signature_of(tools)))

    def of(self, tools: tuple[str, ...]) -> Competence | None:
        """Return the selectable record of a procedure."""
        record = self.own(tools)
        passed: set[str] = set()
        while record and record.status is Status.SUPERSEDED and record.id not in passed:
            passed.add(record.id)
            record = self._successors.get(record.id)
        return record if record and record.status.is_selectable else None


def _excluded(ballots: Ballots, places: _Places) -> frozenset[int]:
    return frozenset(
        position
        for position, tools in enumerate(ballots.procedures)
        if places.own(tools) is not None and places.of(tools) is None
    )


def _candidates(found: Recommendation, places: _Places, now: float) -> list[RecommendedProcedure]:
    """Return the candidates with votes; procedures of one record are one candidate."""
    together: dict[object, tuple[Competence | None, list[Voted]]] = {}
    for voted in found.ranked:
        record = places.of(voted.tools)
        key = voted.tools if record is None else record.id
        together.setdefault(key, (record, []))[1].append(voted)
    has_any = may_fall_back(record for record, _ in together.values() if record)
    fallbacks = fallbacks_among(places.records) if has_any else {}
    candidates = [
        RecommendedProcedure(
            _tools(record, voters[0]),
            min(1.0, sum(voted.share for voted in voters)),
            sum(voted.successes for voted in voters),
            sum(voted.failures for voted in voters),
            sum(voted.texts for voted in voters),
            CompetenceRecord(record, RecordReading(now, fallbacks.get(record.id, ())))
            if record
            else None,
        )
        for record, voters in together.values()
    ]
    return sorted(candidates, key=lambda each: (-each.share, each.tools))


def may_fall_back(shown: Iterable[Competence]) -> bool:
    """Return whether one of some records failed somewhere: no other one has a fallback."""
    return any(trigger.failure_count for record in shown for trigger in record.triggers)


def _tools(record: Competence | None, voted: Voted) -> tuple[str, ...]:
    return voted.tools if record is None else tuple(step.tool for step in record.recipe)
