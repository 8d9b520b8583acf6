"""Revise competence records by hand: reinforce to merge, each in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec
from msgspec import Meta

from trackrecord.errors import InvalidRequest
from trackrecord.learning.competences.document import RecordReading
from trackrecord.learning.competences.revision import ForkChanges
from trackrecord.resources.declaration.checks import (
    CompetenceId,
    IdOf,
    Name,
    Reason,
    Text,
    decided_by,
)
from trackrecord.resources.declaration.resource import Answer

from .competences import BY_HAND, COMPETENCES, CompetenceAnswer, CompetenceRecord, revising

if TYPE_CHECKING:
    from trackrecord.learning.competences.record import Competence
    from trackrecord.store.competences.revise import Reviser, Signed

# More than a record can gain or lose.
_LARGEST: Final = 1_000_000
_Amount = Annotated[float, Meta(ge=0, le=_LARGEST)]
_SIGNED: Final[Mapping[str, str]] = {
    "by": "Name the person who makes the change.  [default: the user's name]",
    "reason": "Give the reason; the history keeps it, and outlives the record.",
}


class Revision(Answer, frozen=True):
    """A change of records by hand.

    Attributes:
        action: what was done.
        by: who did it.
        reason: why.
        records: those that it changed or made, as they are from then on.
    """

    action: str
    by: str
    reason: str
    records: tuple[CompetenceAnswer, ...]

    def in_words(self) -> str:
        """Return a line for each record."""
        return "\n".join(
            f"{each.id}: {each.status}, salience {each.salience:.4g} ({self.action})"
            for each in self.records
        )


def _revises(
    command: str, *, option_names: Mapping[str, str] | None = None, **option_help: str
) -> Callable[[Callable[..., Revision]], Callable[..., Revision]]:
    return COMPETENCES.offers(
        None,
        command=command,
        permission="write",
        in_words=Revision.in_words,
        option_help={**_SIGNED, **option_help},
        option_names=option_names or {},
    )


def revision_of(action: str, signed: Signed, records: Sequence[Competence]) -> Revision:
    """Return a change of records as an answer."""
    reading = RecordReading(signed.now)
    known = tuple(CompetenceAnswer.of(CompetenceRecord(each, reading)) for each in records)
    return Revision(action, signed.actor, signed.rationale, known)


def _revised(
    action: str,
    by: str | None,
    reason: str | None,
    project: str | None,
    change: Callable[[Reviser, Callable[[str], str]], Sequence[Competence]],
) -> Revision:
    """Change records in one transaction.

    Args:
        action: what is done.
        by: who revises.
        reason: why.
        project: the records' project.
        change: does it, given what finds the whole id that the beginning of one stands for.
    """
    actor, why = decided_by(by, reason)
    with revising(project, by=actor, reason=why or BY_HAND) as (reviser, whole):
        records = change(reviser, whole)
    return revision_of(action, reviser.signed, records)


@_revises("reinforce", amount="Add this much salience.  [default: the record's own gain]")
def reinforce_competence(
    competence_id: CompetenceId,
    *,
    amount: _Amount | None = None,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> Revision:
    """Raise a record's salience, at most to 1, and start its ageing anew.

    Its success rate stays what it is.
    """
    return _revised(
        "reinforced",
        by,
        reason,
        project,
        lambda it, whole: [it.reinforce(whole(competence_id), amount)],
    )


@_revises("penalize", amount="Take away this much salience.")
def penalize_competence(
    competence_id: CompetenceId,
    *,
    amount: _Amount,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> Revision:
    """Lower a record's salience, at most to its minimum. Its success rate stays what it is."""
    return _revised(
        "penalized",
        by,
        reason,
        project,
        lambda it, whole: [it.penalize(whole(competence_id), amount)],
    )


@_revises("supersede")
def supersede_competence(
    old: CompetenceId,
    new: CompetenceId,
    *,
    reason: Reason,
    by: Name | None = None,
    project: str | None = None,
) -> Revision:
    """Put the record NEW in the place of the record OLD, which is selected no longer."""
    return _revised(
        "superseded", by, reason, project, lambda it, whole: it.supersede(whole(old), whole(new))
    )


@_revises(
    "fork",
    changes="Set what differs: an object with any of skill_name, triggers, tools, tags, "
    "confidence, half_life_days, pinned.",
)
def fork_competence(
    competence_id: CompetenceId,
    *,
    changes: Text = "{}",
    reason: Reason,
    by: Name | None = None,
    project: str | None = None,
) -> Revision:
    """Make a new record from a record; both are active then.

    Its performance starts at nothing: what it does differently has not been tried yet.
    """
    decoded = _changes(changes)
    return _revised(
        "forked", by, reason, project, lambda it, whole: [it.fork(whole(competence_id), decoded)]
    )


@_revises(
    "contest",
    option_names={"other_id": "record"},
    other_id="Name the record that contests it.",
    evidence="Name the evidence that contests it.",
)
def contest_competence(
    competence_id: CompetenceId,
    *,
    other_id: CompetenceId | None = None,
    evidence: Reason | None = None,
    reason: Reason,
    by: Name | None = None,
    project: str | None = None,
) -> Revision:
    """Mark a record as contested, by another record or by named evidence.

    It is still selected, and shown as contested.
    """
    if (other_id is None) == (evidence is None):
        message = "name what contests it: either --record ID or --evidence TEXT"
        raise InvalidRequest(message)

    def contested(it: Reviser, whole: Callable[[str], str]) -> list[Competence]:
        by_what = whole(other_id) if other_id else (evidence or "").strip()
        return [it.contest(whole(competence_id), by_what, is_record=other_id is not None)]

    return _revised("contested", by, reason, project, contested)


@_revises("retract")
def retract_competence(
    competence_id: CompetenceId,
    *,
    reason: Reason,
    by: Name | None = None,
    project: str | None = None,
) -> Revision:
    """Take a record out of selection. It is kept, with its history."""
    return _revised(
        "retracted", by, reason, project, lambda it, whole: [it.retract(whole(competence_id))]
    )


@_revises("merge")
def merge_competences(
    competence_ids: Annotated[Sequence[str], IdOf("record")],
    *,
    reason: Reason,
    by: Name | None = None,
    project: str | None = None,
) -> Revision:
    """Make one record of several: performance summed, provenance joined; they are retracted."""
    return _revised(
        "merged",
        by,
        reason,
        project,
        lambda it, whole: [it.merge([whole(each) for each in competence_ids])],
    )


def _changes(text: str) -> ForkChanges:
    try:
        given = msgspec.json.decode(text, type=dict[str, Any])
        known = {each.name for each in fields(ForkChanges)}
        if unknown := sorted(given.keys() - known):
            message = f"--changes: there is no {unknown[0]!r}; there are {', '.join(sorted(known))}"
            raise InvalidRequest(message)
        return msgspec.convert(given, ForkChanges)
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = f"--changes cannot be read: {error}"
        raise InvalidRequest(message) from None
