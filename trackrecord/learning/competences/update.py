"""Update: apply new episodes of a signature to its record."""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

import msgspec

from ..numbers.speakers import CapRules, shares
from ..text.numerals import counted
from .episodes.tally import EpisodeTally
from .record import (
    Competence,
    Performance,
    RecipeStep,
    TriggerCounts,
    competence_id,
    recipe_of,
    skill_name,
    typical_order,
)
from .rules import MAX_TRIGGERS, MOST_FAILURE_MODES, CompetenceRules, begun, reinforced

# Of one trigger; those of one kind of task are few.
# Of each tool in a recipe, the most frequent ones.
_MAX_ARGUMENTS: Final = 32
_MOST_CONDITIONS: Final = 5


class RecordAction(StrEnum):
    """A change of a record, as its history names it."""

    REINFORCED = "reinforced"
    # By consolidation.
    CREATED = "created"
    UPDATED = "updated"
    # Evidence for a record that is retracted or superseded: counted, and nothing else.
    COUNTED = "counted"
    # A rebuild, or amended outcomes, left less evidence than a record needs.
    REMOVED = "removed"
    # By a person. The record that takes another one's place, and the one that lost it.
    SUPERSEDES = "supersedes"
    SUPERSEDED = "superseded"
    PENALIZED = "penalized"
    FORKED = "forked"
    # Stored by hand.
    ADDED = "added"
    CONTESTED = "contested"
    RETRACTED = "retracted"
    # The record that others were merged into; those are retracted.
    MERGED = "merged"


class NoChange(StrEnum):
    """Reasons why an examined signature did not change a record."""

    TOO_FEW = "too few successes"
    SAME = "nothing new"


@dataclass(frozen=True)
class RecordUpdate:
    """One change of one record.

    Attributes:
        action: the kind of change.
        record: the record as it is from now on; for a removal, as it was.
        rationale: why, in one line, for its history.
    """

    action: RecordAction
    record: Competence
    rationale: str


@dataclass(frozen=True)
class Signature:
    """One procedure of one project, and everything its episodes add up to.

    Attributes:
        project: the project.
        name: the signature.
        tally: the sums over its episodes.
    """

    project: str
    name: str
    tally: EpisodeTally

    @property
    def performance(self) -> Performance:
        """The numbers of its record, in which no source among several has more than its share."""
        tally = self.tally
        said = {
            speaker: (float(won), float(lost))
            for speaker in tally.speakers.keys() | tally.failed_speakers.keys()
            if (won := max(tally.speakers[speaker], 0))
            + (lost := max(tally.failed_speakers[speaker], 0))
        }
        unheard = [(1 - part, said[who]) for who, part in shares(CapRules(), said).items()]
        return Performance(
            success_count=tally.successes - round(sum(less * won for less, (won, _) in unheard)),
            failure_count=tally.failures - round(sum(less * lost for less, (_, lost) in unheard)),
            latency_sum_ms=tally.latency_sum_ms,
            latency_count=tally.latency_count,
            last_used_at=tally.last_used_at,
        )


def follow(
    rules: CompetenceRules, signature: Signature, record: Competence | None, now: float
) -> RecordUpdate | NoChange:
    """Return the change that new episodes make to a record, or why it does not change.

    However many successes are new, salience rises once. Amended outcomes may take successes back: a
    record that is left without enough of them is removed.
    """
    if record is None:
        return _created(rules, signature, now)
    performance = signature.performance
    successes = performance.success_count - record.performance.success_count
    if successes < 0 and (removed := _removed(rules, signature.tally, record, "amended")):
        return removed
    followed = _followed(signature, record)
    if followed == record:
        return NoChange.SAME
    standing = f"{_news(performance, record.performance)}; {_standing(signature.tally)}"
    if not record.status.is_selectable:
        rationale = f"{standing}; it stays {record.status}"
        return RecordUpdate(RecordAction.COUNTED, _next_version(followed, now), rationale)
    if successes <= 0:
        return RecordUpdate(RecordAction.UPDATED, _next_version(followed, now), standing)
    salience = reinforced(record.salience, record.lifecycle)
    # What a person did with the record may be newer than its runs.
    before = record.lifecycle.last_reinforced_at or 0.0
    last = max(before, _last_use(signature.tally, now))
    lifecycle = replace(record.lifecycle, last_reinforced_at=last)
    rationale = f"{standing}; salience {record.salience:.4g} to {salience:.4g}"
    stronger = replace(followed, salience=salience, lifecycle=lifecycle)
    return RecordUpdate(RecordAction.REINFORCED, _next_version(stronger, now), rationale)


def follow_rebuilt(
    rules: CompetenceRules, signature: Signature, record: Competence | None, now: float
) -> RecordUpdate | NoChange:
    """Return the change that a rebuild makes to a record; no success counts as new.

    A record without enough episodes is removed, unless it is retracted or superseded:
    that decision outlives the evidence.
    """
    if record is None:
        return _created(rules, signature, now)
    tally = signature.tally
    if removed := _removed(rules, tally, record, "rebuilt"):
        return removed
    followed = _followed(signature, record)
    if followed == record:
        return NoChange.SAME
    return RecordUpdate(
        RecordAction.UPDATED, _next_version(followed, now), f"rebuilt: {_standing(tally)}"
    )


def _removed(
    rules: CompetenceRules, tally: EpisodeTally, record: Competence, why: str
) -> RecordUpdate | None:
    """Return the removal of a record that no longer has enough episodes; None if it has.

    A record that was stored by hand needs none.
    """
    if (
        record.authored is not None
        or tally.successes >= rules.min_successes
        or not record.status.is_selectable
    ):
        return None
    rationale = f"{why}: {_standing(tally)}, a record needs {rules.min_successes} successes"
    return RecordUpdate(RecordAction.REMOVED, record, rationale)


def _created(rules: CompetenceRules, signature: Signature, now: float) -> RecordUpdate | NoChange:
    tally = signature.tally
    if tally.successes < rules.min_successes:
        return NoChange.TOO_FEW
    blank = Competence(
        id=competence_id(signature.project, signature.name),
        project=signature.project,
        skill_name=skill_name(signature.name),
        signature=signature.name,
        confidence=rules.confidence,
        salience=rules.salience,
        lifecycle=begun(rules, _last_use(tally, now)),
        created_at=now,
        updated_at=now,
    )
    return RecordUpdate(RecordAction.CREATED, _followed(signature, blank), _standing(tally))


def _last_use(tally: EpisodeTally, now: float) -> float:
    """Return when the newest episode ended: a night that learns of it late makes it no newer."""
    return now if tally.last_used_at is None else min(now, tally.last_used_at)


def _next_version(record: Competence, now: float) -> Competence:
    return replace(record, version=record.version + 1, updated_at=now)


def _followed(signature: Signature, record: Competence) -> Competence:
    """Return the record with all fields that are derived from the tally."""
    tally, authored = signature.tally, record.authored
    recipe = _recipe(tally) if tally.orders and authored is None else record.recipe
    failure_modes = _by_frequency(tally.failure_modes, MOST_FAILURE_MODES)
    if authored is not None:
        failure_modes = tuple(dict.fromkeys((*authored.failure_modes, *failure_modes)))
    return replace(
        record,
        triggers=_triggers_of(tally, record),
        recipe=recipe,
        failure_modes=failure_modes[:MOST_FAILURE_MODES],
        performance=signature.performance,
    )


def _recipe(tally: EpisodeTally) -> tuple[RecipeStep, ...]:
    order = typical_order(tally.orders)
    return recipe_of(order, tally.arguments, max_arguments=_MAX_ARGUMENTS)


def _triggers_of(tally: EpisodeTally, record: Competence) -> tuple[TriggerCounts, ...]:
    """Return the triggers of the episodes; first those that the record's author named."""
    if record.authored is None:
        return _triggers(tally) or (
            TriggerCounts(record.signature, None, tally.successes, tally.failures),
        )
    learnt = {trigger.signal: trigger for trigger in _triggers(tally)}
    named = [_joined(each, learnt.pop(each.signal, None)) for each in record.authored.triggers]
    return (*named, *learnt.values())[: max(MAX_TRIGGERS, len(named))]


def _joined(named: TriggerCounts, learnt: TriggerCounts | None) -> TriggerCounts:
    """Return an author's trigger with the counts of its episodes; the author's word comes first."""
    if learnt is None:
        return named
    seen = (each for each in learnt.all_conditions if each not in named.all_conditions)
    conditions = (*named.all_conditions, *seen)[:_MOST_CONDITIONS]
    return replace(
        learnt,
        conditions=conditions[0] if conditions else None,
        further_conditions=conditions[1:],
    )


def _triggers(tally: EpisodeTally) -> tuple[TriggerCounts, ...]:
    counts = tally.trigger_successes + tally.trigger_failures
    return tuple(_trigger(tally, signal) for signal in _by_frequency(counts, MAX_TRIGGERS))


def _trigger(tally: EpisodeTally, signal: str) -> TriggerCounts:
    known = _conditions(tally, signal)
    return TriggerCounts(
        signal,
        known[0] if known else None,
        tally.trigger_successes[signal],
        tally.trigger_failures[signal],
        known[1:],
    )


def _conditions(tally: EpisodeTally, signal: str) -> tuple[Any, ...]:
    own = {text: count for (of, text), count in tally.conditions.items() if of == signal}
    return tuple(msgspec.json.decode(text) for text in _by_frequency(own, _MOST_CONDITIONS))


def _by_frequency(counts: dict[str, int], most: int) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda text: (-counts[text], text))[:most])


def _news(heard: Performance, known: Performance) -> str:
    successes = counted(heard.success_count - known.success_count, "new success", "new successes")
    failures = counted(heard.failure_count - known.failure_count, "new failure")
    return f"{successes}, {failures}"


def _standing(tally: EpisodeTally) -> str:
    return f"{tally.successes} of {counted(tally.episodes, 'episode')} succeeded"
