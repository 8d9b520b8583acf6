"""Criteria: how far each can be relied on, and the feedback behind it."""

from trackrecord.learning.criteria.weights import CriterionEvidence
from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.queries.explain import explained
from trackrecord.queries.rates_over_time import criterion_rate_over_time
from trackrecord.resources.criteria import CRITERIA, details_of, list_criteria
from trackrecord.resources.project_store import read_project
from trackrecord_producers.delivery.ids import new_id

from ..answering import PageView
from ..listing import listed
from ..page_request import PageRequest
from .entries import RunBehind, points, why

_FEEDBACK_SHOWN = 25


def shown(asked: PageRequest) -> PageView:
    """Show the criteria of a project."""
    found = list_criteria(project=asked.project, at=asked.at)
    keys = CRITERIA.sorting("list").keys
    values = {
        "listing": listed(asked, found, keys=keys, text=lambda each: each.name),
        "share_of": share_of,
    }
    return PageView("criteria.html", "Criteria", values)


def entry(asked: PageRequest) -> PageView:
    """Show one criterion."""
    name = asked.named["criterion"]
    with read_project(asked.project, asked.at) as it:
        connection, settings, project, at = it.connection, it.settings, it.project, it.at
        details = details_of(it, name, limit=_FEEDBACK_SHOWN, after=asked.text("cursor"))
        explanation = explained(it, name, kind="criterion")
        rates = criterion_rate_over_time(connection, settings, project, name, at=at)
    standing = details.standing
    values = {
        "criterion": details,
        "standing": standing,
        "share": share_of(standing.evidence),
        "why": why(explanation),
        "rates": points(rates),
        "feedback_id": new_id(),
        "runs": [
            RunBehind(each.outcome_id, each.task_id, each.ended_at, each.verdict)
            for each in details.feedback
        ],
        "after": details.cursor and asked.link_with(cursor=details.cursor),
        "before": asked.link_with(cursor=None) if asked.text("cursor") else None,
    }
    return PageView("criterion.html", name, values)


def share_of(evidence: CriterionEvidence) -> tuple[float | None, float | None, float | None]:
    """Return the share of helpful feedback, weighed by age, and its interval."""
    if evidence.helpful_share is None:
        return None, None, None
    interval = wilson_interval(evidence.decayed_helpful, evidence.decayed_harmful)
    return evidence.helpful_share, *interval
