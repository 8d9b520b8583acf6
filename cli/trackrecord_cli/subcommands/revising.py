"""`competences add` to `merge`: changes of competence records by hand."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import click

from ..access import TypedId, own_store, settings_for
from ..arguments.decision_options import REASON, signed
from ..arguments.options import Command, Read, conditions_option
from ..output.screen import print_json

if TYPE_CHECKING:
    from trackrecord.learning.competences.record import Competence
    from trackrecord.learning.competences.revision import ForkChanges
    from trackrecord.store.competences.revise import Reviser, Signed

_BY_HAND = "by hand"


def _amount(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = math.nan
    if not math.isfinite(amount) or amount < 0:
        message = f"an amount is finite and not negative, {text!r} is not"
        raise ValueError(message)
    return amount


_AMOUNT = Read("amount", _amount)


def _signed(*, reason_required: bool) -> Callable[[Command], Command]:
    return signed(
        by="Name the person who makes the change.",
        reason="Give the reason; the history keeps it, and outlives the record.",
        reason_required=reason_required,
    )


@click.command("reinforce")
@click.argument("competence_id", metavar="ID")
@click.option(
    "--amount", type=_AMOUNT, help="Add this much salience.  [default: the record's own gain]"
)
@_signed(reason_required=False)
def reinforce(competence_id: str, amount: float | None, **given: Any) -> None:  # noqa: ANN401 - handed on by name
    """Raise a record's salience, at most to 1, and start its ageing anew.

    Its success rate stays what it is.
    """
    with _revising(competence_id, **given) as (reviser, whole, say):
        say("reinforced", reviser.reinforce(whole(competence_id), amount))


@click.command("penalize")
@click.argument("competence_id", metavar="ID")
@click.option("--amount", type=_AMOUNT, required=True, help="Take away this much salience.")
@_signed(reason_required=False)
def penalize(competence_id: str, amount: float, **given: Any) -> None:  # noqa: ANN401 - as above
    """Lower a record's salience, at most to its minimum. Its success rate stays what it is."""
    with _revising(competence_id, **given) as (reviser, whole, say):
        say("penalized", reviser.penalize(whole(competence_id), amount))


@click.command("supersede")
@click.argument("old_id", metavar="OLD")
@click.argument("new_id", metavar="NEW")
@_signed(reason_required=True)
def supersede(old_id: str, new_id: str, **given: Any) -> None:  # noqa: ANN401 - as above
    """Put the record NEW in the place of the record OLD, which is selected no longer."""
    with _revising(old_id, **given) as (reviser, whole, say):
        say("superseded", *reviser.supersede(whole(old_id), whole(new_id)))


@click.command("fork")
@click.argument("competence_id", metavar="ID")
@click.option(
    "--changes",
    default="{}",
    metavar="JSON",
    help="Set what differs: an object with any of skill_name, triggers, tools, tags, "
    "confidence, half_life_days, pinned.",
)
@_signed(reason_required=True)
def fork(competence_id: str, changes: str, **given: Any) -> None:  # noqa: ANN401 - as above
    """Make a new record from a record; both are active then.

    Its performance starts at nothing: what it does differently has not been tried yet.
    """
    decoded = _changes(changes)
    with _revising(competence_id, **given) as (reviser, whole, say):
        say("forked", reviser.fork(whole(competence_id), decoded))


@click.command("contest")
@click.argument("competence_id", metavar="ID")
@click.option("--record", "other_id", metavar="ID", help="Name the record that contests it.")
@click.option("--evidence", type=REASON, help="Name the evidence that contests it.")
@_signed(reason_required=True)
def contest(
    competence_id: str,
    other_id: str | None,
    evidence: str | None,
    **given: Any,  # noqa: ANN401 - as above
) -> None:
    """Mark a record as contested, by another record or by named evidence.

    It is still selected, and shown as contested.
    """
    by = evidence if other_id is None else other_id
    if by is None or (other_id is not None and evidence is not None):
        message = "name what contests it: either --record ID or --evidence TEXT"
        raise click.UsageError(message)
    with _revising(competence_id, **given) as (reviser, whole, say):
        contested = whole(competence_id)
        if other_id is not None:
            by = whole(other_id)
        say("contested", reviser.contest(contested, by, is_record=other_id is not None))


@click.command("retract")
@click.argument("competence_id", metavar="ID")
@_signed(reason_required=True)
def retract(competence_id: str, **given: Any) -> None:  # noqa: ANN401 - as above
    """Take a record out of selection. It is kept, with its history."""
    with _revising(competence_id, **given) as (reviser, whole, say):
        say("retracted", reviser.retract(whole(competence_id)))


@click.command("merge")
@click.argument("competence_ids", metavar="ID ID…", nargs=-1)
@_signed(reason_required=True)
def merge(competence_ids: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401 - as above
    """Make one record of several: performance summed, provenance joined; they are retracted."""
    with _revising(*competence_ids[:1], **given) as (reviser, whole, say):
        say("merged", reviser.merge([whole(each) for each in competence_ids]))


@click.command("add")
@click.argument("source", metavar="[FILE|-]", type=click.File("rb"), required=False)
@click.option("--tool", "tools", multiple=True, help="Name a tool; once for each step, in order.")
@click.option("--trigger", "signals", multiple=True, help="Name a signal that it answers to.")
@conditions_option(
    "Say under which conditions it answers to the signals, for example os=linux. Can be repeated."
)
@click.option("--skill-name", help="Set the name of the skill.  [default: made of the tools]")
@click.option("--tag", "tags", multiple=True, help="Add a tag to the record.")
@click.option(
    "--confidence",
    type=float,
    help="Set the confidence, from 0 to 1.  [default: the setting's, 0.8]",
)
@click.option(
    "--half-life-days",
    type=float,
    help="Set the days without reinforcement after which its salience has halved.  "
    "[default: the setting's, 30]",
)
@click.option("--pinned", is_flag=True, help="Keep its salience from decaying.")
@_signed(reason_required=False)
def add(
    source: BinaryIO | None,
    actor: str,
    reason: str | None,
    project: str | None,
    *,
    as_json: bool,
    **given: Any,  # noqa: ANN401 - as above
) -> None:
    """Store a procedure by hand, from a file or from options.

    FILE has a JSON object with `tools` (in order), `triggers` and, as far as wanted, `skill_name`,
    `failure_modes`, `tags`, `confidence`, `half_life_days` and `pinned`; or a list of such objects,
    of which all are stored or none. A trigger is a text, or {"signal": …, "conditions": …}.

    Outcomes that name the record count for it, and so do those that use just these tools. Its
    triggers and its recipe stay, whatever is learnt.
    """
    from trackrecord.learning.competences.new_record import read_new_competence
    from trackrecord.resources.experience.competences import add_procedures
    from trackrecord.store.competences.revise import Signed

    is_told = any(value not in (None, (), False) for value in given.values())
    if (source is None) != is_told:
        message = "give either a FILE (- for standard input), or --tool and --trigger"
        raise click.UsageError(message)
    if source is None and not (given["tools"] and given["signals"]):
        message = "name each tool with --tool, and what the procedure answers to with --trigger"
        raise click.UsageError(message)
    settings, name = settings_for(project)
    procedures = [
        read_new_competence(each, settings.competence)
        for each in ([_told(**given)] if source is None else _procedures(source.read()))
    ]
    by = Signed(actor, reason or _BY_HAND, time.time())
    with own_store(name):
        added = add_procedures(procedures, by=by.actor, reason=by.rationale, project=name)
    _print("added", [each.record for each in added], by, as_json=as_json)


def _told(
    *,
    tools: tuple[str, ...],
    signals: tuple[str, ...],
    conditions: dict[str, str] | None,
    **more: Any,  # noqa: ANN401 - as above
) -> dict[str, Any]:
    triggers = [{"signal": signal, "conditions": conditions} for signal in signals]
    return {"tools": tools, "triggers": triggers, **more}


def _procedures(data: bytes) -> list[Any]:
    import msgspec

    try:
        decoded = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        message = f"the file is not JSON: {error}"
        raise click.UsageError(message) from None
    procedures = decoded if isinstance(decoded, list) else [decoded]
    if not procedures or not all(isinstance(each, dict) for each in procedures):
        message = "the file must hold a JSON object, or a list of at least one"
        raise click.UsageError(message)
    return procedures


COMMANDS = (add, reinforce, penalize, supersede, fork, contest, retract, merge)


def _changes(text: str) -> ForkChanges:
    from dataclasses import fields

    import msgspec

    from trackrecord.learning.competences.revision import ForkChanges

    try:
        given = msgspec.json.decode(text, type=dict[str, Any])
        known = {each.name for each in fields(ForkChanges)}
        if unknown := sorted(given.keys() - known):
            message = f"--changes: there is no {unknown[0]!r}; there are {', '.join(sorted(known))}"
            raise click.UsageError(message)
        return msgspec.convert(given, ForkChanges)
    except (msgspec.MsgspecError, UnicodeError) as error:
        message = f"--changes cannot be read: {error}"
        raise click.UsageError(message) from None


_Say = Callable[..., None]
_Whole = Callable[[str], str]


@contextmanager
def _revising(
    *record_id: str, actor: str, reason: str | None, project: str | None, as_json: bool
) -> Iterator[tuple[Reviser, _Whole, _Say]]:
    """Open one transaction; its messages are printed once it is committed.

    Args:
        record_id: the id of a record, whose project it is where none is named.
        actor: who revises.
        reason: why.
        project: the project that was named, if any.
        as_json: whether the messages are JSON.
    """
    from trackrecord.resources.experience.competences import revising
    from trackrecord.store.competences.revise import Signed

    said: list[tuple[str, tuple[Competence, ...]]] = []
    by = Signed(actor, reason or _BY_HAND, time.time())

    def say(action: str, *records: Competence) -> None:
        said.append((action, records))

    about = TypedId(record_id[0], ("record",)) if record_id else None
    with (
        own_store(project, about) as name,
        revising(name, by=by.actor, reason=by.rationale) as revision,
    ):
        yield *revision, say
    for action, records in said:
        _print(action, records, by, as_json=as_json)


def _print(action: str, records: Sequence[Competence], by: Signed, *, as_json: bool) -> None:
    if as_json:
        _print_json(action, records, by)
        return
    for record in records:
        click.echo(f"{record.id}: {record.status}, salience {record.salience:.4g} ({action})")


def _print_json(action: str, records: Sequence[Competence], by: Signed) -> None:
    from trackrecord.learning.competences.document import RecordReading
    from trackrecord.resources.experience.competences import CompetenceRecord

    shown = [CompetenceRecord(record, RecordReading(by.now)) for record in records]
    print_json(
        {
            "action": action,
            "by": by.actor,
            "reason": by.rationale,
            "records": [record.to_document() for record in shown],
        }
    )
