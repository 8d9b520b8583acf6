"""Criteria: how far each can be relied on, and the feedback behind it."""

from trackrecord.learning.criteria.weights import CriterionEvidence, CriterionStanding
from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.resources.access.project_store import read_project
from trackrecord.resources.experience.criteria import CRITERIA, details_of, list_criteria
from trackrecord.resources.figures.explain import explained
from trackrecord_producers.delivery.ids import new_id

from ..answering import PageView
from ..requests.listing import listed
from ..requests.page_request import PageRequest
from .entries import RunBehind, why

_FEEDBACK_SHOWN = 25


def shown(asked: PageRequest) -> PageView:
    """Show the criteria of a project."""
    found = list_criteria(project=asked.project)
    keys = CRITERIA.sorting("list").keys
    values = {
        "listing": listed(asked, found, keys=keys, text=lambda each: each.name),
        "share_of": share_of,
    }
    return PageView("lists/criteria.html", "Criteria", values)


def entry(asked: PageRequest) -> PageView:
    """Show one criterion."""
    name = asked.named["criterion"]
    with read_project(asked.project) as it:
        details = details_of(it, name, limit=_FEEDBACK_SHOWN, after=asked.text("cursor"))
        explanation = explained(it, name, kind="criterion")
    standing = details.standing
    values = {
        "criterion": details,
        "standing": standing,
        "meaning": _meaning(standing),
        "share": share_of(standing.evidence),
        "why": why(explanation),
        "feedback_id": new_id(),
        "runs": [
            RunBehind(each.outcome_id, each.task_id, each.ended_at, each.verdict)
            for each in details.feedback
        ],
        "after": details.cursor and asked.link_with(cursor=details.cursor),
        "before": asked.link_with(cursor=None) if asked.text("cursor") else None,
    }
    return PageView("details/criterion.html", name, values)


def _meaning(standing: CriterionStanding) -> str:
    """Return what the feedback to a criterion comes to for the people who read it."""
    evidence = standing.evidence
    judged = evidence.helpful + evidence.harmful
    if not judged:
        return "No feedback has called it helpful or harmful yet."
    counted = f"{evidence.helpful} of {judged} times it was called helpful, else harmful"
    if standing.deprecated:
        return f"{counted}: too often harmful, so that it counts no more."
    return f"{counted}: it counts with a weight of {standing.weight:.2f}, where 1 is in full."


def share_of(evidence: CriterionEvidence) -> tuple[float | None, float | None, float | None]:
    """Return the share of helpful feedback, weighed by age, and its interval."""
    if evidence.helpful_share is None:
        return None, None, None
    interval = wilson_interval(evidence.decayed_helpful, evidence.decayed_harmful)
    return evidence.helpful_share, *interval
