"""`competences reinforce` to `merge`: changes of competence records by hand."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

import click
import msgspec

from trackrecord.learning.competences.document import Reading
from trackrecord.learning.competences.record import Competence
from trackrecord.learning.competences.revision import ForkChanges
from trackrecord.store.competences.revise import Reviser, Signed
from trackrecord.store.database.engine import writing

from ..access import open_store, project_on_record, settings_for
from ..by_hand import REASON, refresh_rankings, signed
from ..options import Command, Read
from ..screen import print_json
from .competence_documents import as_document

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
        by="Who does it.",
        reason="Why; kept in the history, which outlives the record.",
        reason_required=reason_required,
    )


@click.command("reinforce")
@click.argument("competence_id", metavar="ID")
@click.option("--amount", type=_AMOUNT, help="What is added.  [default: the record's own gain]")
@_signed(reason_required=False)
def reinforce(competence_id: str, amount: float | None, **given: Any) -> None:  # noqa: ANN401 - handed on by name
    """Raise a record's salience, at most to 1, and start its ageing anew.

    Its success rate stays what it is.
    """
    with _revising(**given) as (reviser, say):
        say("reinforced", reviser.reinforce(competence_id, amount))


@click.command("penalize")
@click.argument("competence_id", metavar="ID")
@click.option("--amount", type=_AMOUNT, required=True, help="What is taken away.")
@_signed(reason_required=False)
def penalize(competence_id: str, amount: float, **given: Any) -> None:  # noqa: ANN401 - as above
    """Lower a record's salience, at most to its minimum. Its success rate stays what it is."""
    with _revising(**given) as (reviser, say):
        say("penalized", reviser.penalize(competence_id, amount))


@click.command("supersede")
@click.argument("old_id", metavar="OLD")
@click.argument("new_id", metavar="NEW")
@_signed(reason_required=True)
def supersede(old_id: str, new_id: str, **given: Any) -> None:  # noqa: ANN401 - as above
    """Put the record NEW in the place of the record OLD, which is selected no longer."""
    with _revising(**given) as (reviser, say):
        say("superseded", *reviser.supersede(old_id, new_id))


@click.command("fork")
@click.argument("competence_id", metavar="ID")
@click.option(
    "--changes",
    default="{}",
    metavar="JSON",
    help="What is different: an object with any of skill_name, triggers, tools, tags, "
    "confidence, half_life_days, pinned.",
)
@_signed(reason_required=True)
def fork(competence_id: str, changes: str, **given: Any) -> None:  # noqa: ANN401 - as above
    """Make a new record from a record; both are active then.

    Its performance starts at nothing: what it does differently has not been tried yet.
    """
    decoded = _changes(changes)
    with _revising(**given) as (reviser, say):
        say("forked", reviser.fork(competence_id, decoded))


@click.command("contest")
@click.argument("competence_id", metavar="ID")
@click.option("--record", "other_id", metavar="ID", help="The record that contests it.")
@click.option("--evidence", type=REASON, help="What contests it, by name.")
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
    with _revising(**given) as (reviser, say):
        say("contested", reviser.contest(competence_id, by, is_record=other_id is not None))


@click.command("retract")
@click.argument("competence_id", metavar="ID")
@_signed(reason_required=True)
def retract(competence_id: str, **given: Any) -> None:  # noqa: ANN401 - as above
    """Take a record out of selection. It is kept, with its history."""
    with _revising(**given) as (reviser, say):
        say("retracted", reviser.retract(competence_id))


@click.command("merge")
@click.argument("competence_ids", metavar="ID ID…", nargs=-1)
@_signed(reason_required=True)
def merge(competence_ids: tuple[str, ...], **given: Any) -> None:  # noqa: ANN401 - as above
    """Make one record of several: performance summed, provenance joined; they are retracted."""
    with _revising(**given) as (reviser, say):
        say("merged", reviser.merge(competence_ids))


COMMANDS = (reinforce, penalize, supersede, fork, contest, retract, merge)


def _changes(text: str) -> ForkChanges:
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


@contextmanager
def _revising(
    *, actor: str, reason: str | None, project: str | None, as_json: bool
) -> Iterator[tuple[Reviser, _Say]]:
    """One transaction; what was said of it is printed once it is committed."""
    settings, name = settings_for(project)
    said: list[tuple[str, tuple[Competence, ...]]] = []
    by = Signed(actor, reason or _BY_HAND, time.time())

    def say(action: str, *records: Competence) -> None:
        said.append((action, records))

    with open_store(settings) as engine:
        with writing(engine) as connection:
            project_id = project_on_record(connection, name)
            yield Reviser(connection, project_id, settings.competence, by), say
        refresh_rankings(engine, settings, name)
    for action, records in said:
        _print(action, records, by, as_json=as_json)


def _print(action: str, records: tuple[Competence, ...], by: Signed, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "action": action,
                "by": by.actor,
                "reason": by.rationale,
                "records": [as_document(each, Reading(by.now)) for each in records],
            }
        )
        return
    for each in records:
        click.echo(f"{each.id}: {each.status}, salience {each.salience:.4g} ({action})")
