"""Procedures: the competence records, each with how its runs went, and their revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from trackrecord.errors import InvalidRequest
from trackrecord.learning.advice.estimates.wording import sentence
from trackrecord.learning.competences.rules import Status
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.competences import (
    COMPETENCES,
    CompetenceRecord,
    competences_of,
    details_of,
    revising,
)
from trackrecord.resources.figures.explain import explained
from trackrecord.resources.reports.record_runs import runs_behind_record

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import why

if TYPE_CHECKING:
    from trackrecord.learning.competences.record import Competence
    from trackrecord.store.competences.revise import Reviser

_PATH: Final = "/procedures"
_LONGEST_TITLE: Final = 300


def shown(asked: PageRequest) -> PageView:
    """Show the competence records."""
    with read_project(asked.project) as it:
        found = competences_of(it)
    status, tool = asked.text("status"), asked.text("tool")
    wanted = [
        each
        for each in found
        if status in (None, each.record.status.value)
        and (tool is None or tool in each.record.required_tools)
    ]
    values = {
        "listing": listed(asked, wanted, keys=COMPETENCES.sorting("list").keys, text=_searched),
        "statuses": [each.value for each in Status],
        "tools": sorted({tool for each in found for tool in each.record.required_tools}),
        "are_any": bool(found),
    }
    return PageView("lists/procedures.html", "Procedures", values)


def _searched(record: CompetenceRecord) -> str:
    said = record.record
    signals = (trigger.signal for trigger in said.triggers)
    return " ".join((record.id, said.skill_name, record.tools, *said.tags, *signals))


def one(asked: PageRequest) -> PageView:
    """Show one record."""
    with read_project(asked.project) as it:
        details = details_of(it, asked.named["id"])
        record = details.known
        behind = runs_behind_record(it.connection, it.project, record.id)
        explanation = explained(it, record.id)
    estimate = record.estimate
    values = {
        "record": record,
        "behind": behind,
        "runs": behind.runs,
        "explained": why(explanation),
        "estimate": None if estimate is None else sentence(estimate),
        "history": [
            {
                "at": change.at,
                "what": _what(change.action, change.version),
                "by": change.actor,
                "reason": change.rationale,
            }
            for change in reversed(details.history)
        ],
        "can_revise": record.record.status.is_selectable,
    }
    return PageView("details/procedure.html", _title(record), values)


def _title(record: CompetenceRecord) -> str:
    title = " → ".join(step.tool for step in record.record.recipe)
    return title if len(title) <= _LONGEST_TITLE else f"{title[:_LONGEST_TITLE]}…"


def _what(action: str, version: int | None) -> str:
    return action if version is None else f"{action} (version {version})"


def reinforce(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Raise a record's salience."""
    record_id = form.text("id")
    return _deed(
        asked,
        record_id,
        f"Raise the salience of {record_id}, and start its ageing anew? Its success rate stays "
        "what it is.",
        "Reinforce it",
        lambda reviser, whole: reviser.reinforce(whole(record_id)),
    )


def penalize(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Lower a record's salience."""
    record_id, amount = form.text("id"), form.number("amount")
    return _deed(
        asked,
        record_id,
        f"Lower the salience of {record_id} by {amount:g}? Its success rate stays what it is.",
        "Penalize it",
        lambda reviser, whole: reviser.penalize(whole(record_id), amount),
    )


def contest(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Mark a record as contested, by another one or by named evidence."""
    record_id = form.text("id")
    other, evidence = form.optional("other", most=128), form.optional("evidence")
    if (other is None) == (evidence is None):
        message = "name what contests it: either another record, or evidence"
        raise InvalidRequest(message)

    def change(reviser: Reviser, whole: Callable[[str], str]) -> Competence:
        if other is None:
            return reviser.contest(whole(record_id), evidence or "", is_record=False)
        return reviser.contest(whole(record_id), whole(other), is_record=True)

    return _deed(
        asked,
        record_id,
        f"Mark {record_id} as contested by {other or evidence}? It is still selected, and shown "
        "as contested.",
        "Contest it",
        change,
    )


def retract(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Take a record out of selection."""
    record_id = form.text("id")
    return _deed(
        asked,
        record_id,
        f"Take {record_id} out of selection? It is kept, with its history, and nothing brings it "
        "back: new evidence is only counted.",
        "Retract it",
        lambda reviser, whole: reviser.retract(whole(record_id)),
        dangerous=True,
    )


def supersede(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Put another record in a record's place."""
    record_id, other = form.text("id"), form.text("other", most=128)
    return _deed(
        asked,
        record_id,
        f"Put {other} in the place of {record_id}, which is selected no longer?",
        "Supersede it",
        lambda reviser, whole: reviser.supersede(whole(record_id), whole(other))[0],
        dangerous=True,
    )


def _deed(
    asked: PageRequest,
    record_id: str,
    question: str,
    button: str,
    change: Callable[[Reviser, Callable[[str], str]], Competence],
    *,
    dangerous: bool = False,
) -> ConfirmedAction:
    def do(by: str, reason: str | None) -> str:
        with revising(asked.project, by=by, reason=reason or "") as (reviser, whole):
            record = change(reviser, whole)
        return f"{record.id} is {record.status} now, with a salience of {record.salience:.2f}."

    return ConfirmedAction(
        question,
        button,
        do,
        asked.link_to(_PATH, record_id),
        reason="required",
        dangerous=dangerous,
    )
