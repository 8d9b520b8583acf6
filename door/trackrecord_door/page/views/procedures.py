"""Procedures: the competence records, each with how its runs went, and their revision."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from trackrecord.errors import InvalidRequest
from trackrecord.learning.advice.estimates.wording import sentence
from trackrecord.learning.competences.episodes.flow import OTHERS, FlowMove, FlowStep, ProcedureFlow
from trackrecord.learning.competences.new_record import read_new_competence
from trackrecord.learning.competences.revision import ForkChanges
from trackrecord.learning.competences.rules import Status
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.competences import (
    COMPETENCES,
    CompetenceRecord,
    add_procedures,
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
_LONGEST_LIST: Final = 10_000


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
        "flow": behind.flow,
        "steps": _steps(behind.flow),
        "most_failed": max(behind.flow.steps, key=lambda step: step.failed, default=None),
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
        "named": lambda tool: _step_name(tool, behind.flow),
    }
    return PageView("details/procedure.html", _title(record), values)


def _steps(flow: ProcedureFlow) -> list[tuple[FlowStep | None, list[FlowMove]]]:
    """Return each step with the moves from it, the most frequent first; None is the beginning."""
    begun = [None] if flow.steps else []
    return [
        (step, [move for move in flow.moves if move.origin == (step and step.tool)])
        for step in (*begun, *flow.steps)
    ]


def _step_name(tool: str, flow: ProcedureFlow) -> str:
    return f"{flow.folded} other tools" if tool == OTHERS else tool


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


def add(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Store a procedure by hand."""
    given = {
        "tools": _lines(form.text("tools", most=_LONGEST_LIST)),
        "triggers": _lines(form.text("triggers", most=_LONGEST_LIST)),
        "skill_name": form.optional("skill_name", most=256),
    }
    known = {name: value for name, value in given.items() if value is not None}
    new = read_new_competence(known, asked.service.settings.competence)

    def do(by: str, reason: str | None) -> str:
        (record,) = add_procedures([new], by=by, reason=reason or "", project=asked.project)
        return f"{record.id} is {record.record.status} now: {record.tools}."

    return ConfirmedAction(
        f"Store the procedure {' → '.join(given['tools'] or ())} by hand? Outcomes that name its "
        "record count for it, and so do those that use just these tools.",
        "Store it",
        do,
        asked.link(_PATH),
        reason="required",
    )


def fork(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Make a new record from a record."""
    record_id, tools = form.text("id"), _lines(form.optional("tools", most=_LONGEST_LIST))
    changes = ForkChanges(skill_name=form.optional("skill_name", most=256), tools=tools or None)
    return _deed(
        asked,
        record_id,
        f"Make a new record from {record_id}? Both are active then, and the new one's performance "
        "starts at nothing.",
        "Fork it",
        lambda reviser, whole: reviser.fork(whole(record_id), changes),
    )


def merge(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Make one record of several."""
    record_id, others = form.text("id"), form.text("others").split()
    return _deed(
        asked,
        record_id,
        f"Make one record of {record_id} and {', '.join(others)}? Their performance is added up, "
        "and they are retracted.",
        "Merge them",
        lambda reviser, whole: reviser.merge([whole(each) for each in (record_id, *others)]),
        dangerous=True,
    )


def _lines(text: str | None) -> tuple[str, ...]:
    return tuple(line.strip() for line in (text or "").splitlines() if line.strip())


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
