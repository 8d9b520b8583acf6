"""Competence records: which tool procedures have worked, which fits a task, and records by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Self

from msgspec import UNSET, UnsetType

from trackrecord.errors import InvalidRequest
from trackrecord.learning.text.times import iso
from trackrecord.resources.access.project_store import (
    Transaction,
    change_project,
    open_project,
    project_row,
    read_project,
)
from trackrecord.resources.declaration.checks import (
    CompetenceId,
    Few,
    Limit,
    Moment,
    Name,
    Reason,
    Text,
    decided_by,
    moment_of,
)
from trackrecord.resources.declaration.paging import sorting_of
from trackrecord.resources.declaration.resource import Answer, HasAnswer, Instant, Resource

from .estimates import EstimateAnswer, read_estimates

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates
    from trackrecord.learning.competences.document import RecordReading
    from trackrecord.learning.competences.new_record import NewCompetence
    from trackrecord.learning.competences.record import Competence
    from trackrecord.store.competences.read import HistoryEntry
    from trackrecord.store.competences.revise import Reviser

    from .recommend_competences import RecommendedProcedures
    from .select_competences import SelectionResult

BY_HAND = "by hand"
# What a procedure is stored with, and is no field of it.
_NOT_OF_RECORD = ("by", "reason", "project")


class PerformanceAnswer(Answer, frozen=True):
    """How the uses of a procedure went.

    Attributes:
        success_count: the uses that succeeded.
        failure_count: those that failed.
        success_rate: the share that succeeded.
        avg_latency_ms: how long a use took, on average; null where nobody knows.
        last_used_at: when it was used last; null where it never was.
    """

    success_count: int
    failure_count: int
    success_rate: float
    avg_latency_ms: float | None
    last_used_at: Instant | None


class CompetenceAnswer(Answer, frozen=True, kw_only=True):
    """A competence record: a procedure of tools, and how it went.

    Attributes:
        id: of the record.
        project: whose record.
        skill_name: what it is called.
        signature: the names of its tools, joined with `+`.
        triggers: the signals that it answers to, with their counts.
        recipe: its steps in order.
        required_tools: the tools that it needs.
        failure_modes: how it is known to fail.
        fallbacks: the records to try where this one fails.
        performance: how its uses went.
        version: of the record.
        confidence: how far it is trusted, 0..1.
        salience: as it is stored.
        salience_now: its salience, aged to the moment.
        lifecycle: how its salience ages.
        status: whether it is selected, and what became of it.
        relations: to other records, and to the outcomes that it is derived from.
        tags: what it can be found by.
        authored_by: who stored it by hand; null where it was learnt.
        created_at: when it was made.
        updated_at: when it was changed last.
        provenance: the successful episodes that it is derived from; of one record alone.
        estimate: how often runs of its procedure succeed, where that was counted.
    """

    id: str
    project: str
    skill_name: str
    signature: str
    triggers: tuple[dict[str, Any], ...]
    recipe: tuple[dict[str, Any], ...]
    required_tools: tuple[str, ...]
    failure_modes: tuple[str, ...]
    fallbacks: tuple[str, ...]
    performance: PerformanceAnswer
    version: int
    confidence: float
    salience: float
    salience_now: float
    lifecycle: dict[str, Any]
    status: str
    relations: tuple[dict[str, Any], ...]
    tags: tuple[str, ...]
    authored_by: str | None
    created_at: Instant
    updated_at: Instant
    provenance: dict[str, Any] | UnsetType = UNSET
    estimate: EstimateAnswer | UnsetType = UNSET

    @classmethod
    def of(cls, known: CompetenceRecord, **more: Any) -> Self:  # noqa: ANN401 - a subclass's fields
        """Return a record as an answer."""
        from trackrecord.learning.competences.document import document_of

        document = document_of(known.record, known.reading)
        lifecycle = document["lifecycle"]
        lifecycle["last_reinforced_at"] = iso(lifecycle["last_reinforced_at"])
        document["performance"] = PerformanceAnswer(**document["performance"])
        if known.estimate is not None:
            document["estimate"] = EstimateAnswer.of(known.estimate)
        return cls(**document, **more)


@dataclass(frozen=True)
class CompetenceRecord(HasAnswer):
    """A competence record, with what belongs to it at a moment.

    Attributes:
        record: what is stored.
        reading: the moment, and what was found beside the record.
        estimate: how often runs of its procedure succeed; None if not counted.
        score: what the records of a list are ranked by.
    """

    record: Competence
    reading: RecordReading
    estimate: Estimate | None = None
    score: float = 0.0

    @property
    def id(self) -> str:
        """The record's id."""
        return self.record.id

    @property
    def tools(self) -> str:
        """The tools of its recipe, in order."""
        return " > ".join(step.tool for step in self.record.recipe)

    @property
    def uses(self) -> int:
        """How many episodes there are of it."""
        performance = self.record.performance
        return performance.success_count + performance.failure_count

    @property
    def worked(self) -> str:
        """How many of its episodes succeeded, as "3/4"."""
        return f"{self.record.performance.success_count}/{self.uses}"

    @property
    def salience_now(self) -> float:
        """Its salience, aged to the moment."""
        from trackrecord.learning.competences.rules import salience_now

        return salience_now(self.record.salience, self.record.lifecycle, self.reading.now)

    def as_answer(self) -> CompetenceAnswer:
        """Return what JSON has of it."""
        return CompetenceAnswer.of(self)


class RecordChange(Answer, frozen=True):
    """One change of a record.

    Attributes:
        action: what was done.
        actor: who did it.
        at: when.
        rationale: why.
        version: the record's version from then on; null where the change removed the record.
        status: its status from then on; null as above.
        salience: its salience from then on; null as above.
    """

    action: str
    actor: str
    at: Instant
    rationale: str
    version: int | None
    status: str | None
    salience: float | None

    @classmethod
    def of(cls, stored: HistoryEntry) -> Self:
        """Return a change on record as an answer."""
        record = stored.record
        return cls.taken(
            stored,
            version=record.version if record else None,
            status=record.status.value if record else None,
            salience=record.salience if record else None,
        )


class CompetenceDetails(CompetenceAnswer, frozen=True, kw_only=True):
    """A competence record with its history.

    Attributes:
        history: every change, the first one first.
    """

    history: tuple[RecordChange, ...]
    _known: CompetenceRecord

    @property
    def known(self) -> CompetenceRecord:
        """The record, as it is stored."""
        return self._known


class SelectedCompetences(Answer, frozen=True, kw_only=True):
    """Which procedures fit a task, and how sure the choice is.

    Attributes:
        task: the task's text, if any.
        by: "advice", where the successes of similar tasks voted.
        selected: the id of the first one's record.
        tools: the first one's tools, where similar tasks voted.
        confidence: how far the first one stands out, 0..1.
        needs_more: whether that is too low to act on, so that more information is needed.
        needs_more_below: the confidence below which that is so.
        count: how many candidates there were before the limit.
        compared_by: what candidates were compared by.
        similar_tasks: how many past tasks were similar enough to vote.
        candidates: the procedures that fit, best first.
    """

    task: str | None
    by: str | UnsetType = UNSET
    selected: str | None
    tools: tuple[str, ...] | UnsetType | None = UNSET
    confidence: float
    needs_more: bool
    needs_more_below: float
    count: int
    compared_by: str
    similar_tasks: int | UnsetType = UNSET
    candidates: tuple[dict[str, Any], ...]


def competences_of(it: Transaction) -> list[CompetenceRecord]:
    """Return the records of a project, best first, each with its fallbacks and its estimate.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    from trackrecord.learning.competences.document import RecordReading
    from trackrecord.learning.competences.record import fallbacks_among
    from trackrecord.prompt.documents.presentation import present_competence
    from trackrecord.store.competences.read import read_competences
    from trackrecord.store.outcomes.projects import count_outcomes

    now = it.moment
    records = read_competences(it.connection, it.project_id)
    base_rate = count_outcomes(it.connection, it.project_id).base_rate
    fallbacks = fallbacks_among(records)

    def score(record: Competence) -> float:
        return present_competence(record, now=now, base_rate=base_rate).score

    estimates = read_estimates(it.connection, it.settings, it.project)
    ranked = sorted((-score(each), each.id, each) for each in records)
    return [
        CompetenceRecord(
            each, RecordReading(now, fallbacks[each.id]), _estimate(estimates, each), -negative
        )
        for negative, _, each in ranked
    ]


def _estimate(estimates: Estimates, record: Competence) -> Estimate:
    from trackrecord.learning.competences.episodes.signatures import signature_of

    return estimates.procedure(signature_of(tuple({step.tool for step in record.recipe})))


def details_of(it: Transaction, competence_id: str) -> CompetenceDetails:
    """Return a record with what is found beside it, in a transaction that is open.

    Args:
        it: a reading transaction.
        competence_id: the record's id, or the beginning of it.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such record, or had none at that moment.
        AmbiguousId: several records' ids begin so.
    """
    from trackrecord.learning.competences.document import RecordReading
    from trackrecord.learning.competences.record import fallbacks_among
    from trackrecord.store.competences.provenance import read_provenance
    from trackrecord.store.competences.read import read_competence, read_competences

    whole = whole_record_id(it.connection, it.project, competence_id)
    record = read_competence(it.connection, it.project_id, whole)
    others = read_competences(it.connection, it.project_id)
    provenance = read_provenance(it.connection, it.project_id, record)
    reading = RecordReading(
        now=it.moment,
        fallbacks=fallbacks_among(others)[record.id],
        episodes=provenance.count,
        outcome_ids=provenance.outcome_ids,
    )
    estimates = read_estimates(it.connection, it.settings, it.project)
    known = CompetenceRecord(record, reading, _estimate(estimates, record))
    return CompetenceDetails.of(known, history=history_of(it, whole), _known=known)


def history_of(it: Transaction, competence_id: str) -> tuple[RecordChange, ...]:
    """Return every change of a record, the first one first, also when the record is gone.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project never had such a record.
        AmbiguousId: several records' ids begin so.
    """
    from trackrecord.store.competences.read import read_history

    whole = whole_record_id(it.connection, it.project, competence_id)
    entries = read_history(it.connection, it.project_id, whole)
    return tuple(map(RecordChange.of, entries))


def find_competence(it: Transaction, competence_id: str) -> CompetenceRecord:
    """Return one record with its estimate, without what is found beside it; see `details_of`.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such record, or had none at that moment.
        AmbiguousId: several records' ids begin so.
    """
    from trackrecord.learning.competences.document import RecordReading
    from trackrecord.store.competences.read import read_competence

    whole = whole_record_id(it.connection, it.project, competence_id)
    record = read_competence(it.connection, it.project_id, whole)
    estimates = read_estimates(it.connection, it.settings, it.project)
    return CompetenceRecord(record, RecordReading(it.moment), _estimate(estimates, record))


def whole_record_id(connection: Connection, project: str, given: str) -> str:
    """Return the id of the record that an id, or the beginning of one, stands for.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project never had such a record.
        AmbiguousId: several records' ids begin so.
    """
    from trackrecord.resources.access.short_ids import whole_stored_id
    from trackrecord.store.competences.tables import competence_history

    table = competence_history.c
    return whole_stored_id(
        connection,
        table.competence_id,
        table.project_id == project_row(connection, project),
        given,
        f"project {project!r} has no competence record {given!r}",
        hint="`trackrecord competences list` shows its records",
    )


def add_procedures(
    procedures: Sequence[NewCompetence], *, by: str, reason: str, project: str | None
) -> list[CompetenceRecord]:
    """Store procedures by hand, all of them or none; a project of that name is made if need be.

    Raises:
        InvalidRevision: the author or the reason is blank.
        RevisionRefused: there is a record of the same tools already; nothing was stored.
    """
    with change_project(project) as it:
        from trackrecord.learning.competences.document import RecordReading
        from trackrecord.learning.competences.new_record import new_record
        from trackrecord.store.competences.revise import Reviser, Signed
        from trackrecord.store.intake.intake import ensure_projects

        rules, signed = it.settings.competence, Signed(by, reason, it.moment)
        row = ensure_projects(it.connection, [it.project])[it.project]
        reviser = Reviser(it.connection, row, rules, signed)
        records = [
            reviser.add(new_record(rules, it.project, each, by=by, now=signed.now))
            for each in procedures
        ]
        return [CompetenceRecord(record, RecordReading(signed.now)) for record in records]


@contextmanager
def revising(
    project: str | None, *, by: str, reason: str
) -> Iterator[tuple[Reviser, Callable[[str], str]]]:
    """Revise records of a project in one transaction, of which nothing stays if the block raises.

    Args:
        project: whose records.
        by: who revises them, for their history.
        reason: why, for their history, which outlives them.

    Yields:
        What revises records, and what finds the whole id that the beginning of one stands for.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRevision: the author or the reason is blank.
    """
    with change_project(project) as it:
        from trackrecord.store.competences.revise import Reviser, Signed

        signed = Signed(by, reason, it.moment)
        reviser = Reviser(it.connection, it.project_id, it.settings.competence, signed)
        yield reviser, partial(whole_record_id, it.connection, it.project)


def _estimate_in_words(known: CompetenceRecord) -> str | None:
    from trackrecord.learning.advice.estimates.wording import sentence

    return None if known.estimate is None else sentence(known.estimate)


COMPETENCES = Resource("competences", "Show which tool procedures have worked, and revise them.")


@COMPETENCES.offers(
    "GET /competences",
    command="list",
    answers=CompetenceAnswer,
    sorting=sorting_of(
        "records", "id", id="id", name="record.skill_name", state="record.status.value",
        rate="record.performance.success_rate", runs="uses", salience="salience_now",
        confidence="record.confidence", created="record.created_at",
        updated="record.updated_at", last_seen="record.performance.last_used_at",
    ),
    rank=lambda known: -known.score,
    in_pages=True,
    columns=("id", "status", "worked", "rate", "salience", "recipe", "estimate"),
    about="recipe",
    secondary=("salience", "estimate", "rate", "status"),
    cells={
        "worked": lambda known: known.worked,
        "rate": lambda known: known.record.performance.success_rate,
        "salience": lambda known: known.salience_now,
        "recipe": lambda known: known.tools,
        "estimate": _estimate_in_words,
    },
    nothing="no competence records in project {project!r}",
)  # fmt: skip
def list_competences(
    *, at: Moment | None = None, limit: Limit | None = None, project: str | None = None
) -> list[CompetenceRecord]:
    """List the competence records, best first. `show` also names a record's episodes.

    Args:
        at: the moment that salience and recency are computed for; now when not given.
        limit: the maximum number of records to return; all when not given.
        project: the records' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project, at) as it:
        return competences_of(it)[:limit]


@COMPETENCES.offers(
    "GET /competences/select",
    command="select",
    answers=SelectedCompetences,
    option_help={
        "by": "Rank procedures by the votes of similar tasks, or records by the mean of three "
        "signals.",
        "source": "Let only the runs of this agent vote, by the `source` of its outcomes.  "
        "[default: all of them]",
        "limit": "Show at most this many candidates.",
    },
)
def select_competences(
    task: Text | None = None,
    *,
    conditions: object = None,
    by: Literal["advice", "seed"] = "advice",
    source: Text | None = None,
    limit: Few = 10,
    at: Moment | None = None,
    project: str | None = None,
) -> RecommendedProcedures | SelectionResult:
    """Select the procedures that fit a task, best first, and say how sure the choice is.

    By `advice`, each success of a similar task votes for the tools that it used, and the confidence
    is the share of the votes; without a task all successes vote. By `seed`, records are ranked by
    the mean of applicability, success and recency; without a task, each record's confidence takes
    the place of its similarity.

    Args:
        task: the task's text, if any.
        conditions: the conditions under which the task appeared, for example `{"os": "linux"}`:
            what was used under other ones ranks below, what was used under these ranks above.
        by: "advice" or "seed".
        source: only the runs of this agent vote; by "advice" alone.
        limit: the maximum number of candidates to return.
        at: the moment that salience and recency are computed for; now when not given.
        project: the project; the settings' project when not given.

    Returns:
        What has `candidates`, `confidence`, `needs_more` (whether more information is needed) and
        `to_document()`, as `trackrecord competences select --json` prints it.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    moment = moment_of(at)
    if by != "advice" and source is not None:
        message = "a source tells whose runs vote; by 'seed' records are ranked without votes"
        raise InvalidRequest(message)
    with open_project(project) as store:
        from .select_competences import select_procedures

        return select_procedures(
            store.engine,
            store.settings,
            store.project,
            task=task,
            conditions=conditions,
            by=by,
            source=source,
            limit=limit,
            at=moment,
        )


@COMPETENCES.offers("GET /competences/{competence_id:path}", command="show")
def show_competence(
    competence_id: CompetenceId, *, at: Moment | None = None, project: str | None = None
) -> CompetenceDetails:
    """Show one record: its recipe, performance, estimate, provenance and history.

    Args:
        competence_id: the record's id, or the beginning of it.
        at: the moment that salience and recency are computed for; now when not given.
        project: the record's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project, at) as it:
        return details_of(it, competence_id)


@COMPETENCES.offers(
    None,
    command="history",
    sorting=sorting_of(
        "changes", "action", at="at", action="action", actor="actor", version="version"
    ),
    in_pages=True,
    columns=("at", "action", "actor", "rationale", "version", "status", "salience"),
    about="rationale",
    secondary=("salience", "version", "status", "actor"),
)
def show_history(
    competence_id: CompetenceId,
    *,
    limit: Limit | None = None,
    project: str | None = None,
) -> list[RecordChange]:
    """Show every change of a record with who, when and why, also when the record is gone.

    Args:
        competence_id: the record's id, or the beginning of it.
        limit: the maximum number of changes to return; all when not given.
        project: the record's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return [*history_of(it, competence_id)[:limit]]


@COMPETENCES.offers("POST /competences", answers=CompetenceAnswer, permission="admin", status=201)
def add_competence(
    tools: Sequence[str | Mapping[str, object]],
    *,
    triggers: Sequence[str | Mapping[str, object]],
    by: Name | None = None,
    reason: Reason | None = None,
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
    given = {name: one for name, one in locals().items() if name not in _NOT_OF_RECORD}
    actor, why = decided_by(by, reason)
    with open_project(project) as store:
        from trackrecord.learning.competences.new_record import read_new_competence
        from trackrecord.learning.text.redaction import redacted_value

        new = read_new_competence(redacted_value(given, None), store.settings.competence)
    (record,) = add_procedures([new], by=actor, reason=why or BY_HAND, project=store.project)
    return record
