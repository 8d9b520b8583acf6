"""Procedures: the competence records, each with how its runs went, and their revision."""

from typing import Final

from trackrecord.errors import InvalidRequest
from trackrecord.learning.advice.estimates.wording import sentence
from trackrecord.learning.competences.rules import Status
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.competences import (
    COMPETENCES,
    CompetenceRecord,
    competences_of,
    details_of,
)
from trackrecord.resources.experience.revise_competences import (
    Revision,
    contest_competence,
    penalize_competence,
    reinforce_competence,
    retract_competence,
    supersede_competence,
)
from trackrecord.resources.figures.explain import explained
from trackrecord.resources.reports.record_runs import runs_behind_record

from ..answering import PageView
from ..requests.forms import Form
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import decision, why

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


def _contested_by(form: Form) -> dict[str, str]:
    other, evidence = form.optional("other", most=128), form.optional("evidence")
    if (other is None) == (evidence is None):
        message = "name what contests it: either another record, or evidence"
        raise InvalidRequest(message)
    return {"evidence": evidence or ""} if other is None else {"other_id": other}


def _said(revision: Revision) -> str:
    record = revision.records[0]
    return f"{record.id} is {record.status} now, with a salience of {record.salience:.2f}."


reinforce: Final = decision(
    _PATH, reinforce_competence,
    "Raise the salience of {}, and start its ageing anew? Its success rate stays what it is.",
    "Reinforce it", _said, reason="required",
)  # fmt: skip
penalize: Final = decision(
    _PATH, penalize_competence,
    "Lower the salience of {} by {:g}? Its success rate stays what it is.",
    "Penalize it", _said, reason="required", more=lambda form: {"amount": form.number("amount")},
)  # fmt: skip
contest: Final = decision(
    _PATH, contest_competence,
    "Mark {} as contested by {}? It is still selected, and shown as contested.",
    "Contest it", _said, reason="required", more=_contested_by,
)  # fmt: skip
retract: Final = decision(
    _PATH, retract_competence,
    "Take {} out of selection? It is kept, with its history, and nothing brings it back: new "
    "evidence is only counted.",
    "Retract it", _said, reason="required", dangerous=True,
)  # fmt: skip
supersede: Final = decision(
    _PATH, supersede_competence, "Put {1} in the place of {0}, which is selected no longer?",
    "Supersede it", _said, reason="required", dangerous=True,
    more=lambda form: {"new": form.text("other", most=128)},
)  # fmt: skip
