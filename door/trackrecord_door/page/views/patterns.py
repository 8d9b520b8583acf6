"""Patterns: all of a project, one with its history, and what can be decided about it."""

from collections.abc import Callable
from functools import partial
from typing import Final

from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.learning.patterns.evidence import Evidence
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.patterns.standing import Standing
from trackrecord.resources.access.project_store import Transaction, read_project
from trackrecord.resources.experience.pattern_standings import pattern_slug
from trackrecord.resources.experience.patterns import (
    PATTERNS,
    Pattern,
    PatternChangeAnswer,
    PatternDecision,
    deprecate_pattern,
    details_of,
    page_of_patterns,
    patterns_of,
    promote_pattern,
    reset_pattern,
    tag_pattern,
)
from trackrecord.resources.figures.explain import explained
from trackrecord_producers.delivery.ids import new_id

from ..answering import ConfirmedAction, PageView
from ..requests.forms import Form
from ..requests.listing import ROWS, Listing, listed, page_of, start_of
from ..requests.page_request import PageRequest
from .entries import HistoryEvent, RunBehind, decision, why

_PATH = "/patterns"
_RUNS_SHOWN = 25
_KEPT_STATE = "anti-pattern"


def shown(asked: PageRequest) -> PageView:
    """Show the patterns of a project."""
    with read_project(asked.project) as it:
        listing = _whole_order(asked, it) or _narrowed(asked, it)
    values = {
        "listing": listing,
        "states": [(each, each) for each in (*map(str, Maturity), _KEPT_STATE)],
        "share_of": share_of,
    }
    return PageView("lists/patterns.html", "Patterns", values)


def _whole_order(asked: PageRequest, it: Transaction) -> Listing[Pattern] | None:
    """Return a page of all patterns, best first; None where all of them have to be read."""
    if any(asked.text(name) for name in ("state", "tag", "q", "source", "sort")):
        return None
    found = page_of_patterns(it, after=start_of(asked), limit=ROWS)
    return None if found is None else page_of(asked, *found)


def _narrowed(asked: PageRequest, it: Transaction) -> Listing[Pattern]:
    """Return a page of the patterns that the query admits, in its order."""
    state = asked.text("state")
    found = patterns_of(
        it,
        state=None if state == _KEPT_STATE else state,
        tag=asked.text("tag"),
        content=asked.text("q"),
        only_anti=state == _KEPT_STATE,
        source=asked.text("source"),
    )
    keys = PATTERNS.sorting("list").keys
    return listed(asked, found, keys=keys, text=lambda each: each.id, search=False)


def entry(asked: PageRequest) -> PageView:
    """Show one pattern."""
    with read_project(asked.project) as it:
        details = details_of(it, asked.named["pattern"], examples=_RUNS_SHOWN)
        pattern, slug = details.pattern, details.pattern.slug
        explanation = explained(it, slug, kind="pattern")
    values = {
        "pattern": pattern,
        "meaning": _meaning(pattern.standing),
        "share": share_of(pattern.standing.evidence),
        "why": why(explanation),
        "feedback_id": new_id(),
        "history": [*map(happening, reversed(details.history))],
        "runs": [
            RunBehind(each.outcome_id, each.task_id, each.ended_at, each.verdict, each.success)
            for each in details.examples
        ],
    }
    return PageView("details/pattern.html", pattern.shown.content, values)


def _meaning(standing: Standing) -> str:
    """Return what a pattern's numbers come to for the people who read them."""
    evidence = standing.evidence
    if not evidence.observations:
        counted = "No task with it has ended with a verdict yet."
    else:
        counted = f"{evidence.succeeded} of the {evidence.observations} tasks with it succeeded."
    if standing.is_inverted:
        return f"{counted} Agents are warned of it."
    return counted if standing.decision else f"{counted} {_MEANINGS[standing.state]}"


_MEANINGS = {
    Maturity.PROVEN: "That is enough to call it proven.",
    Maturity.ESTABLISHED: "That is enough to count on it, but not to call it proven.",
    Maturity.CANDIDATE: "That does not settle whether it helps.",
    Maturity.DEPRECATED: "It is not recommended to agents any more.",
}


def share_of(evidence: Evidence) -> tuple[float | None, float | None, float | None]:
    """Return the share of its tasks that succeeded, and its interval."""
    if not evidence.observations:
        return None, None, None
    interval = wilson_interval(evidence.succeeded, evidence.failed)
    return evidence.succeeded / evidence.observations, *interval


def happening(change: PatternChangeAnswer) -> HistoryEvent:
    """Return a change of a pattern's state in words."""
    return HistoryEvent(change.at, _in_words(change), change.by, change.reason or None)


def _in_words(change: PatternChangeAnswer) -> str:
    if change.aspect == "inversion":
        turned = change.after == "inverted"
        what = "turned into an anti-pattern" if turned else "is not an anti-pattern any more"
        return f"{what}, by its counts"
    before = "" if change.before is None else f"{change.before} → "
    decided = "" if change.decision is None else f"{_DONE[change.decision]}: "
    return f"{decided}{before}{change.after}"


_DONE = {"promote": "promoted", "deprecate": "deprecated", "reset": "reset"}


def tag(asked: PageRequest, form: Form) -> ConfirmedAction:
    """Add a tag to a pattern, or take one away."""
    slug = _whole(asked, form.text("id"))
    added, removed = form.optional("add", most=200), form.optional("remove", most=200)
    change: Callable[..., str] = partial(_tag, asked, slug, added, removed)
    question, button = (
        (f"Tag {slug} with {added}? Lists of patterns find it by its tags.", "Add the tag")
        if added
        else (f"Take the tag {removed} from {slug}?", "Remove the tag")
    )
    return ConfirmedAction(question, button, change, asked.link_to(_PATH, slug), reason="none")


def _tag(
    asked: PageRequest, slug: str, added: str | None, removed: str | None, *_: str | None
) -> str:
    tagged = tag_pattern(
        slug,
        add=[added] if added else [],
        remove=[removed] if removed else [],
        project=asked.project,
    )
    return f"{tagged.id}: {', '.join(tagged.tags) or 'no tags'}"


def _whole(asked: PageRequest, given: str) -> str:
    with asked.reading() as connection:
        return pattern_slug(connection, asked.project, given)


def _decided(decided: PatternDecision) -> str:
    if not decided.changed:
        return f"{decided.id}: nothing was decided by hand, so there is nothing to reset"
    return f"{decided.id}: {decided.before} → {decided.after}"


promote: Final = decision(
    _PATH, promote_pattern,
    "Promote {}? It is proven from then on, whatever its evidence says, until it is reset.",
    "Promote it", _decided, whole=_whole,
)  # fmt: skip
deprecate: Final = decision(
    _PATH, deprecate_pattern, "Deprecate {}? It is not recommended again until it is reset.",
    "Deprecate it", _decided, whole=_whole, reason="required",
)  # fmt: skip
reset: Final = decision(
    _PATH, reset_pattern, "Reset {}? Its evidence decides about it again.",
    "Reset it", _decided, whole=_whole,
)  # fmt: skip
