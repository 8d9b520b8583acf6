"""Patterns: where each stands, what led there, and decisions by hand."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, Self

from trackrecord.errors import InvalidTag, UnknownId
from trackrecord.learning.advice.rules import MAX_RUNS
from trackrecord.learning.patterns.maturity import Maturity
from trackrecord.learning.text.language import Language
from trackrecord.resources.access.project_store import Transaction, change_project, read_project
from trackrecord.resources.declaration.checks import (
    Choice,
    Limit,
    Name,
    PatternId,
    Reason,
    Text,
    checking,
    decided_by,
)
from trackrecord.resources.declaration.paging import cursor_of, place_of, sorting_of
from trackrecord.resources.declaration.resource import Answer, HasAnswer, Instant, Resource

from .estimates import EstimateAnswer, read_estimates

if TYPE_CHECKING:
    from trackrecord.learning.advice.estimates.estimates import Estimate, Estimates
    from trackrecord.learning.patterns.standing import Standing
    from trackrecord.prompt.documents.rankings_document import RankedPattern

    from .pattern_standings import PatternPlace

# From the least to the most trusted; an anti-pattern is trusted less than all of them.
_STATES = [*Maturity][::-1]


class PatternAnswer(Answer, frozen=True, kw_only=True):
    """A pattern or an anti-pattern, and where it stands at a moment.

    Attributes:
        id: its slug, with "anti-" in front for an anti-pattern.
        content: what it says; that of an anti-pattern is the warning.
        kind: "strategy" or "named"; "anti_pattern" once it is turned into a warning.
        is_negative: whether it is a warning.
        state: its maturity.
        multiplier: what the state multiplies the score by.
        score: what it is ranked by among its like.
        success_count: the outcomes whose task reached its goal.
        failure_count: the outcomes whose task did not.
        helpful_count: the successes and the helpful verdicts by feedback.
        neutral_count: the neutral verdicts by feedback.
        harmful_count: the outcomes that scored harmful.
        decayed_helpful: the helpful ones, each weighed by its age.
        decayed_harmful: the harmful ones, each weighed by its age.
        harmful_ratio: the decayed harmful ones, divided by all decayed ones.
        reason: why it is where it is, in one line.
        last_validated: when helpful or harmful evidence last came; null without any.
        tags: what it can be found by.
        succeeded_count: the outcomes whose task reached its goal, whatever they scored.
        estimate: how often tasks that touch it succeed.
    """

    id: str
    content: str
    kind: str
    is_negative: bool
    state: Maturity
    multiplier: float
    score: float
    success_count: int
    failure_count: int
    helpful_count: int
    neutral_count: int
    harmful_count: int
    decayed_helpful: float
    decayed_harmful: float
    harmful_ratio: float
    reason: str
    last_validated: Instant | None
    tags: tuple[str, ...]
    succeeded_count: int
    estimate: EstimateAnswer

    @classmethod
    def of(cls, pattern: Pattern, **more: Any) -> Self:  # noqa: ANN401 - a subclass's fields
        """Return a pattern as an answer."""
        from trackrecord.prompt.documents.labels import shown

        estimate = EstimateAnswer.of(pattern.estimate)
        return cls(**shown(pattern.shown), estimate=estimate, **more)


@dataclass(frozen=True)
class Pattern(HasAnswer):
    """Where a pattern stands.

    What people are shown of it is made when it is first asked for: of two thousand patterns a page
    shows fifty.

    Attributes:
        standing: its evidence, and the state that follows from it.
        present: returns what agents are shown of a standing; all patterns of a list share it.
        estimates: where its estimate is found.
        place: where it stands in the order of all, if that was not computed from its standing.
    """

    standing: Standing
    present: Callable[[Standing], RankedPattern] = field(repr=False, compare=False)
    estimates: Estimates = field(repr=False, compare=False)
    place: PatternPlace | None = field(default=None, repr=False, compare=False)

    @property
    def cursor(self) -> str:
        """What the patterns that follow it in a list are asked for with."""
        from .pattern_standings import place_in_order

        return cursor_of(self.place or place_in_order(self.standing))

    @cached_property
    def estimate(self) -> Estimate:
        """How often tasks that touch it succeed."""
        return self.estimates.pattern(self.slug)

    @cached_property
    def shown(self) -> RankedPattern:
        """Its names, numbers and reason as agents are shown them."""
        return self.present(self.standing)

    @property
    def id(self) -> str:
        """The pattern's id; that of an anti-pattern begins with `anti-`."""
        return self.standing.id

    @property
    def slug(self) -> str:
        """The pattern's id, also where it is an anti-pattern."""
        return self.standing.facts.slug

    @property
    def score(self) -> float:
        """The score by which it is ranked among its like."""
        from .pattern_standings import rank_score

        return rank_score(self.standing)

    @property
    def state_in_words(self) -> str:
        """Its state in a word."""
        return "anti-pattern" if self.standing.is_inverted else self.standing.state.value

    @property
    def trust(self) -> int:
        """The place of its state among all states, from the least trusted on."""
        return -1 if self.standing.is_inverted else _STATES.index(self.standing.state)

    def as_answer(self) -> PatternAnswer:
        """Return what JSON has of it."""
        return PatternAnswer.of(self)


class ExampleAnswer(Answer, frozen=True):
    """One observation of a pattern: a task whose outcome touched it.

    Attributes:
        outcome_id: the outcome.
        task_id: the task.
        ended_at: when it ended.
        success: whether it reached its goal.
        verdict: helpful, neutral or harmful.
    """

    outcome_id: str
    task_id: str
    ended_at: Instant
    success: bool
    verdict: str


class PatternChangeAnswer(Answer, frozen=True, kw_only=True):
    """One change of a pattern's state, with the numbers of its moment.

    Attributes:
        at: when.
        aspect: "maturity" or "inversion".
        before: the state it left; null for its first one.
        after: the state it came to.
        helpful: the helpful verdicts; null here and below where some of them are forgotten.
        neutral: the neutral ones; they weigh nothing.
        harmful: the harmful ones.
        decayed_helpful: the helpful ones, each weighed by its age.
        decayed_harmful: the harmful ones, each weighed by its age.
        decision: what was decided by hand; null where the evidence brought it about.
        by: who decided.
        reason: why.
    """

    at: Instant
    aspect: str
    before: str | None
    after: str
    helpful: int | None
    neutral: int | None
    harmful: int | None
    decayed_helpful: float | None
    decayed_harmful: float | None
    decision: str | None
    by: str | None
    reason: str | None


class PatternDetails(PatternAnswer, frozen=True, kw_only=True):
    """A pattern with what led to where it stands.

    Attributes:
        examples: its newest observations, newest first.
        history: its changes of state, oldest first.
    """

    examples: tuple[ExampleAnswer, ...]
    history: tuple[PatternChangeAnswer, ...]
    _pattern: Pattern

    @property
    def pattern(self) -> Pattern:
        """Where it stands, as the rules see it."""
        return self._pattern


class PatternDecision(Answer, frozen=True):
    """A decision about a pattern, and what it changed.

    Attributes:
        id: the pattern.
        action: what was decided.
        changed: whether there was anything to change: a reset may find no decision.
        before: the state before, if it changed.
        after: the state since, if it changed.
        by: who decided.
        reason: why; null without a reason.
    """

    id: str
    action: Literal["promote", "deprecate", "reset"]
    changed: bool
    before: str | None
    after: str | None
    by: str
    reason: str | None


class TaggedPattern(Answer, frozen=True):
    """A pattern's tags, and what changed.

    Attributes:
        id: the pattern.
        tags: its tags now, its kind apart, in alphabetical order.
        added: those that it did not have before.
        removed: those that it had before.
    """

    id: str
    tags: tuple[str, ...]
    added: tuple[str, ...]
    removed: tuple[str, ...]


@checking
def patterns_of(
    it: Transaction,
    *,
    state: Choice[Maturity] | None = None,
    tag: str | None = None,
    content: str | None = None,
    only_anti: bool = False,
    source: str | None = None,
    language: Language = "en",
    after: str | None = None,
    limit: int | None = None,
) -> list[Pattern]:
    """Return the patterns of a project, best first, anti-patterns last.

    The first ones of a large project are where the worker put them last.

    Args:
        it: a reading transaction.
        state: only patterns in this maturity state.
        tag: only patterns with this tag, or of this kind: "strategy" or "named".
        content: only patterns whose content contains this text.
        only_anti: only patterns that have become anti-patterns.
        source: only those that a run of this agent touches, of the runs that advice is counted
            from.
        language: of their contents and reasons.
        after: the `cursor` of a pattern: only those that follow it.
        limit: the maximum number of patterns to return; None for all.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidRequest: an argument is wrong.
    """
    from trackrecord.learning.patterns.tags import plain_tag
    from trackrecord.store.patterns.read import EVERY, PatternFilter

    from .pattern_standings import PatternPlace, ordered_standings, place_in_order

    wanted = PatternFilter(
        Maturity(state) if state else None, tag and plain_tag(tag), content, only_anti
    )
    place = None if after is None else place_of(after, PatternPlace)
    if limit is not None and source is None and wanted == EVERY:
        page = page_of_patterns(it, after=place or 0, limit=limit, language=language)
        if page is not None:
            return page[0]
    estimates = read_estimates(it.connection, it.settings, it.project)
    found = ordered_standings(it.connection, it.settings, it.project_id, estimates)
    standings = [each for each in found if wanted.admits(each)]
    if source is not None:
        from trackrecord.store.advice.runs import patterns_of_source  # slow to import

        slugs = patterns_of_source(it.connection, it.project_id, source, limit=MAX_RUNS)
        standings = [each for each in standings if each.facts.slug in slugs]
    if place is not None:
        standings = standings[bisect_right(standings, place, key=place_in_order) :]
    present = _presenter(it, language)
    return [Pattern(each, present, estimates) for each in standings[:limit]]


def page_of_patterns(
    it: Transaction, *, after: PatternPlace | int = 0, limit: int, language: Language = "en"
) -> tuple[list[Pattern], int] | None:
    """Return patterns of a large project, where the worker put them last, and how many there are.

    Args:
        it: a reading transaction.
        after: the place that they follow, or how many come before them.
        limit: the maximum number of patterns to return.
        language: of their contents and reasons.

    Returns:
        None where all patterns must be read to put them in order.
    """
    from .pattern_standings import counted_places, standings_at

    estimates = read_estimates(it.connection, it.settings, it.project)
    places = counted_places(it.connection, it.settings, it.project_id, estimates)
    if places is None:
        return None
    start = after if isinstance(after, int) else bisect_right(places, after)
    rest = islice(places, start, None)
    found = standings_at(it.connection, it.settings, it.project_id, estimates, rest, limit)
    present = _presenter(it, language)
    page = [Pattern(each, present, estimates, place) for place, each in islice(found, limit)]
    return page, len(places)


def find_pattern(it: Transaction, pattern_id: str) -> Pattern:
    """Return where one pattern stands, with its estimate.

    Args:
        it: a reading transaction.
        pattern_id: the pattern's id, that of its anti-pattern, or the beginning of either.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such pattern.
        AmbiguousId: several patterns' ids begin so.
    """
    from trackrecord.store.patterns.read import read_standings

    from . import pattern_standings as standings

    slug = standings.pattern_slug(it.connection, it.project, pattern_id)
    found = read_standings(
        it.connection, it.project_id, it.settings.rules, now=time.time(), slug=slug
    )
    if not found:
        message = standings.unknown_pattern(pattern_id, it.project)
        raise UnknownId(message, hint=standings.PATTERNS_HINT)
    estimates = read_estimates(it.connection, it.settings, it.project)
    standing = standings.judged_standing(found[0], it.settings, estimates)
    return Pattern(standing, _presenter(it, "en"), estimates)


def details_of(it: Transaction, pattern_id: str, *, examples: int | None = None) -> PatternDetails:
    """Return a pattern with its newest examples and its changes of state; see `find_pattern`.

    Args:
        it: a reading transaction.
        pattern_id: as for `find_pattern`.
        examples: the maximum number of examples; ten when not given.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such pattern.
        AmbiguousId: several patterns' ids begin so.
    """
    from trackrecord.store.patterns.read import EXAMPLES_SHOWN, read_changes, read_examples

    pattern = find_pattern(it, pattern_id)
    most = EXAMPLES_SHOWN if examples is None else examples
    observed = read_examples(it.connection, it.project_id, pattern.slug, most=most)
    changes = read_changes(it.connection, it.project_id, pattern.slug)
    return PatternDetails.of(
        pattern,
        examples=tuple(map(ExampleAnswer.taken, observed)),
        history=tuple(map(PatternChangeAnswer.taken, changes)),
        _pattern=pattern,
    )


def _presenter(it: Transaction, language: Language) -> Callable[[Standing], RankedPattern]:
    """Return what words standings as agents are shown them, in a language."""
    from trackrecord.prompt.documents.labels import in_language
    from trackrecord.prompt.documents.presentation import present_pattern
    from trackrecord.wire.outcome_scorer import recogniser_of

    name_of, texts = recogniser_of(it.settings.rules).name_of, it.settings.texts

    def present(standing: Standing) -> RankedPattern:
        return in_language(present_pattern(standing, name_of, texts), language)

    return present


def _estimate_in_words(pattern: Pattern) -> str:
    from trackrecord.learning.advice.estimates.wording import sentence

    return sentence(pattern.estimate)


def _decided_in_words(decision: PatternDecision) -> str:
    if decision.changed:
        return f"{decision.id}: {decision.before} -> {decision.after}"
    return f"{decision.id}: nothing was decided by hand, so there is nothing to reset"


def count_listed(
    *,
    lang: Language = "en",
    project: str | None = None,
    **wanted: Any,  # noqa: ANN401 - the other arguments of `list_patterns`
) -> int:
    """Return how many patterns a list without a limit has.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    if not any(wanted.values()):
        with read_project(project) as it:
            page = page_of_patterns(it, limit=0)
        if page is not None:
            return page[1]
    return len(list_patterns(**wanted, lang=lang, project=project))


PATTERNS = Resource("patterns", "Show what helps and what hurts, and decide about it.")


@PATTERNS.offers(
    "GET /patterns",
    command="list",
    answers=PatternAnswer,
    sorting=sorting_of(
        "patterns", "id", id="id", name="shown.content", state="trust", score="score",
        rate="estimate.posterior.mean", runs="estimate.tally.runs",
        helpful="standing.evidence.helpful", neutral="standing.evidence.neutral",
        harmful="standing.evidence.harmful", last_seen="standing.facts.last_validated",
    ),
    rank=lambda pattern: (pattern.standing.is_inverted, -pattern.score),
    in_pages=True,
    total=count_listed,
    columns=(
        "id", "state", "score", "helpful", "neutral", "harmful", "content", "estimate",
    ),

    about="content",
    secondary=("neutral", "score", "estimate", "harmful", "helpful"),
    cells={
        "state": lambda pattern: pattern.state_in_words,
        "helpful": lambda pattern: pattern.shown.helpful_count,
        "neutral": lambda pattern: pattern.shown.neutral_count,
        "harmful": lambda pattern: pattern.shown.harmful_count,
        "estimate": _estimate_in_words,
    },
    nothing="no patterns to show in project {project!r}",
    option_names={"only_anti": "anti"},
    option_help={
        "lang": "Answer in this language: names, ids and what agents wrote stay as they are.",
    },
)  # fmt: skip
def list_patterns(
    *,
    only_anti: bool = False,
    state: Choice[Maturity] | None = None,
    tag: Text | None = None,
    content: Text | None = None,
    limit: Limit | None = None,
    after: Text | None = None,
    lang: Language = "en",
    project: str | None = None,
) -> list[Pattern]:
    """List patterns, best first, anti-patterns last. Options narrow the list.

    Args:
        only_anti: only patterns that have become anti-patterns.
        state: only patterns in this maturity state.
        tag: only patterns with this tag, or of this kind: `strategy` or `named`.
        content: only patterns whose content contains this text.
        limit: the maximum number of patterns to return; all when not given.
        after: the `cursor` of a pattern: only the patterns that follow it.
        lang: the language of their contents and reasons, "en" or "zh".
        project: the patterns' project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return patterns_of(
            it, state=state, tag=tag, content=content, only_anti=only_anti, language=lang,
            after=after, limit=limit,
        )  # fmt: skip


@PATTERNS.offers(
    "GET /patterns/{pattern_id:path}",
    command="show",
)
def show_pattern(pattern_id: PatternId, *, project: str | None = None) -> PatternDetails:
    """Show one pattern with its numbers, its newest examples and its history.

    Args:
        pattern_id: the pattern's id, that of its anti-pattern, or the beginning of either.
        project: the pattern's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        return details_of(it, pattern_id)


@PATTERNS.offers(
    "POST /patterns/{pattern_id:path}/promote",
    command="promote",
    permission="admin",
    in_words=_decided_in_words,
)
def promote_pattern(
    pattern_id: PatternId,
    *,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> PatternDecision:
    """Make a pattern proven, because it was validated elsewhere.

    It stays so until reset. A deprecated pattern cannot be promoted, only reset.

    Args:
        pattern_id: the pattern's id, that of its anti-pattern, or the beginning of either.
        reason: why; the history keeps it.
        by: who decides; this process's user when not given.
        project: the pattern's project; the settings' project when not given.

    Raises:
        DecisionRefused: the pattern is deprecated, and can only be reset.
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide("promote", pattern_id, reason, by, project)


@PATTERNS.offers(
    "POST /patterns/{pattern_id:path}/deprecate",
    command="deprecate",
    permission="admin",
    in_words=_decided_in_words,
)
def deprecate_pattern(
    pattern_id: PatternId, *, reason: Reason, by: Name | None = None, project: str | None = None
) -> PatternDecision:
    """Deprecate a pattern, so that it is not recommended again until reset.

    Args:
        pattern_id: the pattern's id, that of its anti-pattern, or the beginning of either.
        reason: why; the history keeps it.
        by: who decides; this process's user when not given.
        project: the pattern's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide("deprecate", pattern_id, reason, by, project)


@PATTERNS.offers(
    "POST /patterns/{pattern_id:path}/reset",
    command="reset",
    permission="admin",
    in_words=_decided_in_words,
)
def reset_pattern(
    pattern_id: PatternId,
    *,
    reason: Reason | None = None,
    by: Name | None = None,
    project: str | None = None,
) -> PatternDecision:
    """Take back a decision by hand, so that the evidence decides about the pattern again.

    Args:
        pattern_id: the pattern's id, that of its anti-pattern, or the beginning of either.
        reason: why; the history keeps it.
        by: who decides; this process's user when not given.
        project: the pattern's project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    return _decide("reset", pattern_id, reason, by, project)


@PATTERNS.offers("POST /patterns/{pattern_id:path}/tags", permission="admin")
def tag_pattern(
    pattern_id: PatternId,
    *,
    add: Iterable[str] = (),
    remove: Iterable[str] = (),
    project: str | None = None,
) -> TaggedPattern:
    """Add tags to a pattern, or remove them; doing it again changes nothing.

    Args:
        pattern_id: the pattern's id, that of its anti-pattern, or the beginning of either.
        add: tags that it gets, each one line of at most 64 characters; letter case does not count.
        remove: tags that it loses.
        project: the pattern's project; the settings' project when not given.

    Raises:
        InvalidTag: a tag is invalid, there are too many, or none is given.
        TrackrecordError: the message says in one line what is wrong.
    """
    added, removed = _checked_tags("add", add), _checked_tags("remove", remove)
    if not added and not removed:
        message = "no tag to add or to remove was given"
        raise InvalidTag(message)
    with change_project(project) as it:
        from trackrecord.store.patterns.decide import change_tags

        from .pattern_standings import pattern_slug

        slug = pattern_slug(it.connection, it.project, pattern_id)
        before, after = change_tags(
            it.connection, it.project_id, slug, add=added, remove=removed, now=it.moment
        )
    return TaggedPattern(
        slug, tuple(sorted(after)), tuple(sorted(after - before)), tuple(sorted(before - after))
    )


def _checked_tags(name: str, given: Iterable[str]) -> list[str]:
    from trackrecord.learning.patterns.tags import checked_tag

    if isinstance(given, str):  # one tag, and not its letters
        given = (given,)
    if not isinstance(given, Iterable):
        message = f"{name} must be tags, not {given!r:.60}"
        raise InvalidTag(message)
    return [*map(checked_tag, given)]


def _decide(
    action: Literal["promote", "deprecate", "reset"],
    pattern_id: str,
    reason: str | None,
    by: str | None,
    project: str | None,
) -> PatternDecision:
    actor, given_reason = decided_by(by, reason)
    with change_project(project) as it:
        from trackrecord.learning.patterns.decisions import DecisionAction
        from trackrecord.store.patterns.decide import decide

        from .pattern_standings import pattern_slug

        slug = pattern_slug(it.connection, it.project, pattern_id)
        change = decide(
            it.connection,
            it.project_id,
            slug,
            DecisionAction(action),
            actor=actor,
            reason=given_reason or "",
            rules=it.settings.rules,
            now=it.moment,
        )
    return PatternDecision(
        slug,
        action,
        change is not None,
        change.before if change else None,
        change.after if change else None,
        actor,
        given_reason,
    )
