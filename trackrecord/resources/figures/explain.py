"""Explanations of the standing of a pattern, criterion, memory or record, and of a verdict."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

from sqlalchemy import Column, ColumnElement

from trackrecord.errors import UnknownId
from trackrecord.learning.advice.estimates.estimates import Estimate
from trackrecord.learning.advice.estimates.wording import why
from trackrecord.learning.competences.episodes.signatures import signature_of, tools_of
from trackrecord.learning.explanation import (
    Explanation,
    explain_competence,
    explain_criterion,
    explain_memory,
    explain_pattern,
)
from trackrecord.learning.text.inert import one_line
from trackrecord.learning.text.slug import pattern_id_of
from trackrecord.resources.access.project_store import Transaction
from trackrecord.resources.access.removed import outcomes_removed
from trackrecord.resources.access.short_ids import (
    ids_beginning_with,
    ids_near,
    nearest_id,
    only_match,
)
from trackrecord.resources.experience.competences import find_competence
from trackrecord.resources.experience.criteria import criteria_of, find_criterion
from trackrecord.resources.experience.estimates import EstimateAnswer, read_estimates
from trackrecord.resources.experience.memories import details_of
from trackrecord.resources.experience.pattern_standings import pattern_slugs, pattern_slugs_near
from trackrecord.resources.experience.patterns import find_pattern
from trackrecord.resources.reports.runs import RunDetails, find_run
from trackrecord.store.competences.tables import competence_history
from trackrecord.store.memories.tables import memories
from trackrecord.store.outcomes.recorded_rules import rebuilds_due

from .explanations import ExplanationAnswer
from .projects_of_ids import CRITERION_PREFIX

Kind = Literal["pattern", "criterion", "memory", "record"]


def explained(it: Transaction, some_id: str, *, kind: Kind | None = None) -> ExplanationAnswer:
    """Return the explanation of a standing.

    Args:
        it: a reading transaction.
        some_id: the id of a pattern, a memory or a record, the beginning of one, or the name of a
            criterion. `criterion:NAME` is the criterion where a pattern has the same name.
        kind: what it is an id of; None for any.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: nothing in the project had that id.
        AmbiguousId: several ids begin so.
    """
    whole, numbers, explanation = _Subject(it, kind).explain(some_id)
    removed = outcomes_removed(it.connection, it.project_id)
    return ExplanationAnswer(
        id=whole,
        numbers=numbers,
        because=(*explanation.because, *filter(None, (removed,))),
        to_change=tuple(explanation.to_change),
        rebuild_due=_rebuild_due(it),
    )


def explained_procedure(it: Transaction, signature: str, task: str | None) -> ExplanationAnswer:
    """Return how often a procedure succeeds, and why that is expected.

    There is an answer for every procedure: one that has no record because it failed always, and
    one that was never tried.

    Args:
        it: a reading transaction.
        signature: the names of its tools, joined with `+`, in any order.
        task: the text of a task that it is meant for; None for the tasks that it was used for.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    estimates = read_estimates(it.connection, it.settings, it.project)
    kind = None if task is None else estimates.kinds.position_for(task)
    whole = signature_of(tools_of(signature))
    found = estimates.procedure(whole, kind)
    numbers = EstimateAnswer.of(found).to_document()
    if kind is not None:
        numbers["kind"] = estimates.kinds.names[kind]
    return ExplanationAnswer(
        id=whole, numbers=numbers, because=tuple(why(found)), rebuild_due=_rebuild_due(it)
    )


def _rebuild_due(it: Transaction) -> tuple[str, ...]:
    rules = it.settings.rules
    due = rebuilds_due(it.connection, rules.recorded, rules.half_lives, project_id=it.project_id)
    return tuple(due.get(it.project, ()))


class _Subject:
    """A subject of an explanation in one project, as of one moment."""

    def __init__(self, it: Transaction, kind: Kind | None) -> None:
        self._it, self._kind = it, kind
        self._explanations = {
            "pattern": self._pattern,
            "criterion": self._criterion,
            "memory": self._memory,
            "record": self._record,
        }

    def explain(self, some_id: str) -> tuple[str, dict[str, Any], Explanation]:
        """Return the whole id from an id or its beginning, the numbers, and the reasons for them.

        An id that equals the text goes before ids that begin with it; of several that equal it,
        the pattern goes first, then the criterion, the memory and the record.

        Raises:
            UnknownId: nothing had that id.
            AmbiguousId: several ids begin so.
        """
        found = [each for each in self._candidates(some_id) if self._kind in (None, each[0])]
        names = {some_id, some_id.removeprefix(CRITERION_PREFIX), pattern_id_of(some_id)}
        if exact := [(kind, name) for kind, name in found if name in names]:
            found = exact
        else:
            only_match(some_id, (name for _, name in found))
        for kind, name in found:
            # What is on record now may not have been there at the moment that is asked about.
            with suppress(UnknownId):
                return some_id if exact else name, *self._explanations[kind](name)
        raise self._unknown(some_id)

    def _candidates(self, some_id: str) -> list[tuple[str, str]]:
        row, connection = self._it.project_id, self._it.connection
        name = some_id.removeprefix(CRITERION_PREFIX)
        criteria = criteria_of(self._it)
        named = [("criterion", name) for each in criteria if each.standing.criterion == name]
        if some_id.startswith(CRITERION_PREFIX):
            return named
        ids, of_project = memories.c.memory_id, memories.c.project_id == row
        return [
            *(("pattern", slug) for slug in pattern_slugs(connection, row, some_id)),
            *named,
            *(
                ("memory", each)
                for each in ids_beginning_with(connection, ids, of_project, some_id)
            ),
            *(("record", each) for each in ids_beginning_with(connection, *_records(row), some_id)),
        ]

    def _pattern(self, slug: str) -> tuple[dict[str, Any], Explanation]:
        settings = self._it.settings
        pattern = find_pattern(self._it, slug)
        explanation = explain_pattern(settings.maturity, settings.antipatterns, pattern.standing)
        return pattern.to_document(), _with_estimate(explanation, pattern.estimate)

    def _criterion(self, name: str) -> tuple[dict[str, Any], Explanation]:
        settings = self._it.settings
        criterion = find_criterion(self._it, name)
        return criterion.to_document(), explain_criterion(settings.criteria, criterion.standing)

    def _memory(self, memory_id: str) -> tuple[dict[str, Any], Explanation]:
        settings = self._it.settings
        details = details_of(self._it, memory_id)
        explanation = explain_memory(settings.memories, details.state, now=self._it.moment)
        return details.to_document(), explanation

    def _record(self, competence_id: str) -> tuple[dict[str, Any], Explanation]:
        settings = self._it.settings
        found = find_competence(self._it, competence_id)
        explanation = explain_competence(settings.competence, found.record, now=found.reading.now)
        return found.to_document(), _with_estimate(explanation, found.estimate)

    def _unknown(self, some_id: str) -> UnknownId:
        nearest = None if self._candidates(some_id) else self._nearest(some_id)
        return UnknownId(
            f"nothing in project {self._it.project!r} had the id {some_id!r}",
            nearest=nearest,
            hint="`patterns list`, `criteria list`, `competences list` and `memories list` show "
            "what there is, and `lessons show` explains a lesson",
        )

    def _nearest(self, some_id: str) -> str | None:
        criteria = criteria_of(self._it)
        names = [each.name for each in criteria]
        if not some_id.startswith(CRITERION_PREFIX):
            return nearest_id(some_id, (*names, *self._near(some_id)))
        nearest = nearest_id(some_id.removeprefix(CRITERION_PREFIX), names)
        return nearest and CRITERION_PREFIX + nearest

    def _near(self, some_id: str) -> Iterator[str]:
        row, connection = self._it.project_id, self._it.connection
        yield from pattern_slugs_near(connection, row, some_id)
        yield from ids_near(connection, memories.c.memory_id, memories.c.project_id == row, some_id)
        yield from ids_near(connection, *_records(row), some_id)


def _records(project_id: int) -> tuple[Column[str], ColumnElement[bool]]:
    """Return where the ids of a project's records are, present or gone."""
    table = competence_history.c
    return table.competence_id, table.project_id == project_id


def _with_estimate(explanation: Explanation, estimate: Estimate | None) -> Explanation:
    lines = () if estimate is None else why(estimate)
    return Explanation((*explanation.because, *lines), explanation.to_change)


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
