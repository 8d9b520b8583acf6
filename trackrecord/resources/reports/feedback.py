"""Feedback: verdicts on one pattern, criterion or memory alone.

`feedback`, which waits for nothing, is with what is published.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, NamedTuple
from uuid import uuid4

from trackrecord.errors import InvalidFeedback
from trackrecord.resources.access.project_store import Transaction, change_project, read_project
from trackrecord.resources.declaration.checks import (
    AgentName,
    IdOf,
    Label,
    Limit,
    Name,
    PatternId,
    PatternName,
    Text,
)
from trackrecord.resources.declaration.paging import cursor_of, place_of, sorting_of
from trackrecord.resources.declaration.resource import Answer, Instant, Resource
from trackrecord.wire.feedback import FeedbackBody, Subject, Verdict

if TYPE_CHECKING:
    from trackrecord.store.outcomes.feedback.feedback import FeedbackFilter, GivenFeedback


class FeedbackPlace(NamedTuple):
    """A place in the order of feedback: what was received last first.

    Attributes:
        received_at: seconds since the epoch.
        feedback_id: of the feedback.
    """

    received_at: float
    feedback_id: str


class FeedbackAnswer(Answer, frozen=True, kw_only=True):
    """A verdict on one pattern, criterion or memory.

    Attributes:
        feedback_id: unique in its project.
        subject: what kind of thing it is about.
        name: the pattern's slug, the criterion's name or the memory's id.
        verdict: helpful, neutral or harmful.
        given_at: when it was given, never later than it was received.
        received_at: when it was received.
        task_id: the task that it comes from, if known.
        source: who gave it, if known.
        is_waiting: whether the project does not know yet what it is about.
    """

    feedback_id: str
    subject: Subject
    name: str
    verdict: Verdict
    given_at: Instant
    received_at: Instant
    task_id: str | None
    source: str | None
    is_waiting: bool

    @property
    def cursor(self) -> str:
        """The text that `after` takes for the feedback that follows this in a list."""
        return cursor_of(FeedbackPlace(self.received_at, self.feedback_id))


class GivenFeedbackAnswer(FeedbackAnswer, frozen=True, kw_only=True):
    """A verdict that was given now.

    Attributes:
        is_new: whether it was not on record already.
    """

    is_new: bool


def _answer_of(stored: GivenFeedback, *, is_waiting: bool) -> FeedbackAnswer:
    return FeedbackAnswer(**vars(stored), is_waiting=is_waiting)


def _wanted(
    it: Transaction,
    pattern: str | None,
    criterion: str | None,
    memory: str | None,
    task_id: str | None,
    *,
    is_waiting: bool,
) -> FeedbackFilter:
    """Return the filter for feedback on one thing, named as feedback names it."""
    from trackrecord.store.outcomes.feedback.feedback import FeedbackFilter
    from trackrecord.wire.outcome_scorer import recogniser_of

    named = sum(each is not None for each in (pattern, criterion, memory))
    if not named:
        return FeedbackFilter(task_id=task_id, is_waiting=is_waiting)
    if named > 1:
        message = "name one of pattern, criterion and memory"
        raise InvalidFeedback(message)
    body = FeedbackBody(verdict="neutral", pattern=pattern, criterion=criterion, memory=memory)
    subject, name = body.subject(recogniser_of(it.settings.rules).slug_of)
    return FeedbackFilter(subject, name, task_id, is_waiting)


def count_feedback(
    *,
    pattern: PatternName | None = None,
    criterion: Name | None = None,
    memory: Name | None = None,
    task_id: Label | None = None,
    waiting: bool = False,
    project: str | None = None,
) -> int:
    """Return how many verdicts `list_feedback` returns without a limit.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    with read_project(project) as it:
        from trackrecord.store.outcomes.feedback.feedback import count_feedback as count

        wanted = _wanted(it, pattern, criterion, memory, task_id, is_waiting=waiting)
        return count(it.connection, it.project_id, wanted)


# The column that each key of an order stands for.
_COLUMNS = {
    "id": "feedback_id", "subject": "subject", "name": "name", "verdict": "verdict",
    "task": "task_id", "source": "source", "given": "given_at", "received": "received_at",
}  # fmt: skip
_SORTING = sorting_of("verdicts", "feedback_id", **_COLUMNS)
FEEDBACK = Resource("feedback", "Judge single patterns, criteria and memories.")


@FEEDBACK.offers(
    "GET /feedback",
    sorting=_SORTING,
    in_pages=True,
    total=count_feedback,
)
def list_feedback(
    *,
    pattern: PatternName | None = None,
    criterion: Name | None = None,
    memory: Name | None = None,
    task_id: Label | None = None,
    waiting: bool = False,
    limit: Limit | None = 100,
    sort: Text | None = None,
    after: Text | None = None,
    project: str | None = None,
) -> list[FeedbackAnswer]:
    """List verdicts on single patterns, criteria and memories, newest first.

    Args:
        pattern: only verdicts on the pattern of this name or id.
        criterion: only verdicts on the criterion of this name.
        memory: only verdicts on the memory of this id.
        task_id: only verdicts of this task.
        waiting: only verdicts on what the project does not know yet.
        limit: the maximum number of verdicts to return; None for all.
        sort: another order than newest first, for example "name" or "-given".
        after: the `cursor` of a verdict: only the verdicts that follow it where the newest come
            first.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    order = None if sort is None else _SORTING.order(sort)
    place = None if after is None else place_of(after, FeedbackPlace)
    with read_project(project) as it:
        from trackrecord.store.outcomes.feedback.feedback import FeedbackOrder, read_feedback

        wanted = _wanted(it, pattern, criterion, memory, task_id, is_waiting=waiting)
        by = None if order is None else FeedbackOrder(_COLUMNS[order.key], order.is_descending)
        found = read_feedback(it.connection, it.project_id, wanted, limit=limit, by=by, after=place)
        return [_answer_of(stored, is_waiting=is_waiting) for stored, is_waiting in found]


@FEEDBACK.offers(
    "POST /feedback",
    command="give",
    permission="write",
    status=201,
    in_words=lambda given: given.feedback_id + ("" if given.is_new else ": counted already"),
    option_names={"task_id": "task", "feedback_id": "id"},
    option_help={
        "feedback_id": "Set the idempotency key: the same one again changes nothing.  "
        "[default: a new one]",
    },
)
def give_feedback(
    verdict: Verdict,
    *,
    pattern: PatternId | None = None,
    criterion: Name | None = None,
    memory: Annotated[Name, IdOf("memory")] | None = None,
    task_id: Label | None = None,
    source: AgentName | None = None,
    feedback_id: Name | None = None,
    project: str | None = None,
) -> GivenFeedbackAnswer:
    """Judge one pattern, criterion or memory; it counts as the verdict of one outcome would.

    A memory is confirmed or rejected. The id of an anti-pattern names the pattern that it warns of,
    and the verdict is on that pattern.

    Args:
        verdict: "helpful", "harmful" or "neutral".
        pattern: the name or the id of a pattern, or the beginning of its id.
        criterion: the name of a criterion.
        memory: the id of a memory, or the beginning of it. Exactly one of the three is given.
        task_id: the task in which it showed.
        source: the name of the one who judges.
        feedback_id: the idempotency key; made when not given.
        project: the project; the settings' project when not given.

    Returns:
        The verdict as it is on record. Unlike `feedback`, this waits for the store, and refuses a
        pattern or a memory that the project does not know.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    if sum(each is not None for each in (pattern, criterion, memory)) != 1:
        message = "name exactly one of pattern, criterion and memory"
        raise InvalidFeedback(message)
    with change_project(project) as it:
        from trackrecord.learning.text.redaction import redacted
        from trackrecord.store.intake.feedback import take_in_feedback
        from trackrecord.store.outcomes.feedback.feedback import given_feedback
        from trackrecord.store.outcomes.forgotten import share_projects
        from trackrecord.wire.outcome_scorer import recogniser_of

        body = FeedbackBody(
            verdict=verdict, pattern=pattern, criterion=criterion and redacted(criterion),
            memory=memory, task_id=task_id,
            source=source, feedback_id=feedback_id, project=it.project,
        )  # fmt: skip
        rules = it.settings.rules
        slug_of = recogniser_of(rules).slug_of
        given = given_feedback(body, slug_of, feedback_id=str(uuid4()), received_at=time.time())
        given = _of_known(it, given)
        share_projects(it.connection, [it.project])
        counted = take_in_feedback(it.connection, it.project_id, [given], rules, now=it.moment)
    known = _answer_of(given, is_waiting=False)
    return GivenFeedbackAnswer.taken(known, is_new=bool(counted))


def _of_known(it: Transaction, given: GivenFeedback) -> GivenFeedback:
    """Return the feedback with the whole id of what it is about; a criterion need not be known."""
    from trackrecord.resources.experience.memories import whole_memory_id
    from trackrecord.resources.experience.pattern_standings import pattern_slug

    match given.subject:
        case "pattern":
            name = pattern_slug(it.connection, it.project, given.name)
        case "memory":
            name = whole_memory_id(it.connection, it.project, given.name)
        case "criterion":
            return given
    return replace(given, name=name)
