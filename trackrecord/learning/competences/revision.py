"""Revision: changes that a person makes to records by hand.

Pure: each function returns the records as they are from then on. Performance is that of the record
alone; what outcomes credited is added by the reader.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import isfinite
from typing import Any

from trackrecord.errors import InvalidRevision, RevisionRefused

from ..numbers.checks import require, require_positive, require_ratio
from .record import (
    DERIVED_FROM,
    Competence,
    Performance,
    RecipeStep,
    Relation,
    TriggerCounts,
    recipe_of,
    skill_name,
)
from .rules import MOST_FAILURE_MODES, MOST_SALIENT, CompetenceRules, Status, begun

MAX_TEXT = 1000
SUPERSEDES = "supersedes"
CONTESTED_BY = "contested_by"


@dataclass(frozen=True)
class ForkChanges:
    """The fields in which a fork differs from its origin; None keeps the origin's value.

    Attributes:
        skill_name: its name.
        triggers: the signals that it answers to.
        tools: its recipe, in order.
        tags: its tags.
        confidence: how far it is trusted, 0..1.
        half_life_days: days without reinforcement after which its salience is half.
        pinned: whether its salience is kept from decaying.
    """

    skill_name: str | None = None
    triggers: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    confidence: float | None = None
    half_life_days: float | None = None
    pinned: bool | None = None

    def __post_init__(self) -> None:
        names = self.skill_name if self.skill_name is None else (self.skill_name,)
        for kind in ("triggers", "tools", "tags"):
            _require_texts(kind, getattr(self, kind))
        _require_texts("skill_name", names)
        require(self.tools is None or len(self.tools) > 0, "tools must name at least one")
        if self.confidence is not None:
            require_ratio("confidence", self.confidence)
        if self.half_life_days is not None:
            require_positive("half_life_days", self.half_life_days)


def _require_texts(name: str, texts: Sequence[str] | None) -> None:
    """Require names that are not blank and that PostgreSQL can store."""
    for text in texts or ():
        fits = bool(text.strip()) and "\0" not in text and len(text) <= MAX_TEXT
        require(fits, f"{name} must be texts of 1 to {MAX_TEXT} characters")


def require_alive(record: Competence) -> None:
    """Require a record that is neither retracted nor superseded.

    Raises:
        RevisionRefused: it is retracted or superseded.
    """
    if not record.status.is_selectable:
        message = f"competence {record.id!r} is {record.status} already; nothing was changed"
        raise RevisionRefused(message)


def require_amount(amount: float) -> None:
    """Require a valid amount of salience.

    Raises:
        InvalidRevision: it is negative or not finite.
    """
    if not isfinite(amount) or amount < 0:
        message = f"an amount must be finite and not negative, not {amount}"
        raise InvalidRevision(message)


def reinforce(record: Competence, amount: float | None, *, now: float) -> Competence:
    """Add the amount, or else the record's gain, up to 1, and restart its ageing."""
    require_alive(record)
    gain = record.lifecycle.reinforcement_gain if amount is None else amount
    require_amount(gain)
    return _next(
        record,
        now,
        salience=min(MOST_SALIENT, record.salience + gain),
        lifecycle=replace(record.lifecycle, last_reinforced_at=now),
    )


def penalize(record: Competence, amount: float, *, now: float) -> Competence:
    """Subtract the amount, down to the record's minimum; its age stays."""
    require_alive(record)
    require_amount(amount)
    lowered = max(record.lifecycle.min_salience, record.salience - amount)
    return _next(record, now, salience=lowered)


def supersede(old: Competence, new: Competence, *, now: float) -> tuple[Competence, Competence]:
    """Return the old record as superseded and the new one with a relation to it."""
    if old.id == new.id:
        message = f"competence {old.id!r} cannot supersede itself"
        raise InvalidRevision(message)
    require_alive(old)
    require_alive(new)
    relations = _with(new.relations, Relation(SUPERSEDES, old.id))
    return (
        _next(old, now, status=Status.SUPERSEDED),
        _next(new, now, relations=relations),
    )


def contest(record: Competence, by: str, *, now: float) -> Competence:
    """Mark a record as contested by another record or by evidence; it stays selectable."""
    require_alive(record)
    if by == record.id:
        message = f"competence {record.id!r} cannot be contested by itself"
        raise InvalidRevision(message)
    relations = _with(record.relations, Relation(CONTESTED_BY, by))
    return _next(record, now, status=Status.CONTESTED, relations=relations)


def retract(record: Competence, *, now: float) -> Competence:
    """Retract a record, so that selection leaves it out."""
    require_alive(record)
    return _next(record, now, status=Status.RETRACTED)


def fork(
    rules: CompetenceRules, origin: Competence, new_id: str, changes: ForkChanges, *, now: float
) -> Competence:
    """Return a copy of a record with changes, without credit.

    So its performance starts at zero, and it does not contradict its own episodes.
    """
    require_alive(origin)
    return Competence(
        id=new_id,
        project=origin.project,
        skill_name=_given(changes.skill_name, origin.skill_name),
        signature=origin.signature,
        triggers=tuple(
            replace(each, success_count=0, failure_count=0)
            for each in (
                origin.triggers
                if changes.triggers is None
                else map(TriggerCounts, changes.triggers)
            )
        ),
        recipe=origin.recipe if changes.tools is None else _recipe(changes.tools, origin),
        failure_modes=origin.failure_modes,
        confidence=_given(changes.confidence, origin.confidence),
        salience=rules.salience,
        lifecycle=replace(
            origin.lifecycle,
            last_reinforced_at=now,
            half_life_days=_given(changes.half_life_days, origin.lifecycle.half_life_days),
            pinned=_given(changes.pinned, origin.lifecycle.pinned),
        ),
        created_at=now,
        updated_at=now,
        relations=(Relation(DERIVED_FROM, origin.id),),
        tags=_given(changes.tags, origin.tags),
    )


def merge(
    rules: CompetenceRules, sources: Sequence[Competence], new_id: str, *, now: float
) -> Competence:
    """Return the record that several ones are merged into.

    Recipe, signature and confidence are those of the source with the highest success rate, of
    several the one with more successes, then the lowest id. Performance is summed, triggers too;
    failure modes and tags are joined.

    Args:
        rules: what a record starts with.
        sources: at least two, with what outcomes credited to them.
        new_id: the id of the new record.
        now: the time of the merge.
    """
    _require_distinct(sources)
    leader = min(sources, key=_leads_by)
    return Competence(
        id=new_id,
        project=leader.project,
        skill_name=skill_name(leader.signature),
        signature=leader.signature,
        triggers=_joined_triggers(sources),
        recipe=leader.recipe,
        failure_modes=_joined(each.failure_modes for each in sources)[:MOST_FAILURE_MODES],
        performance=reduce(Performance.plus, (each.performance for each in sources)),
        confidence=leader.confidence,
        salience=rules.salience,
        lifecycle=begun(rules, now, pinned=any(each.lifecycle.pinned for each in sources)),
        created_at=now,
        updated_at=now,
        relations=tuple(Relation(DERIVED_FROM, each.id) for each in sources),
        tags=_joined(each.tags for each in sources),
    )


def _require_distinct(sources: Sequence[Competence]) -> None:
    ids = [each.id for each in sources]
    if len(ids) < 2:
        message = "a merge needs at least two records"
        raise InvalidRevision(message)
    doubled = next((some_id for some_id in ids if ids.count(some_id) > 1), None)
    if doubled is not None:
        message = f"competence {doubled!r} is named twice; a merge needs distinct records"
        raise InvalidRevision(message)
    for each in sources:
        require_alive(each)


def _leads_by(record: Competence) -> tuple[float, int, str]:
    performance = record.performance
    return -performance.success_rate, -performance.success_count, record.id


def _joined_triggers(sources: Iterable[Competence]) -> tuple[TriggerCounts, ...]:
    by_signal: dict[str, list[TriggerCounts]] = {}
    for trigger in (trigger for each in sources for trigger in each.triggers):
        by_signal.setdefault(trigger.signal, []).append(trigger)
    summed = (
        replace(
            max(alike, key=lambda each: each.count),
            success_count=sum(each.success_count for each in alike),
            failure_count=sum(each.failure_count for each in alike),
        )
        for alike in by_signal.values()
    )
    return tuple(sorted(summed, key=lambda trigger: (-trigger.count, trigger.signal)))


def _recipe(tools: Iterable[str], origin: Competence) -> tuple[RecipeStep, ...]:
    """Return the tools in order, each with the arguments from the origin's recipe."""
    known = {step.tool: step.args_schema for step in origin.recipe}
    steps = recipe_of(tuple(tools), {}, max_arguments=1)
    return tuple(replace(step, args_schema=known.get(step.tool, {})) for step in steps)


def _joined(parts: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for part in parts for text in part))


def _with(relations: tuple[Relation, ...], relation: Relation) -> tuple[Relation, ...]:
    return relations if relation in relations else (*relations, relation)


def _given(value: Any, otherwise: Any) -> Any:  # noqa: ANN401 - of any type, the same for both
    return otherwise if value is None else value


def _next(record: Competence, now: float, **changes: Any) -> Competence:  # noqa: ANN401 - fields
    return replace(record, version=record.version + 1, updated_at=now, **changes)
