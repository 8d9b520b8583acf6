"""Feedback on single things as a reader is shown it, newest first."""

from dataclasses import asdict, dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.errors import InvalidFeedback
from trackrecord.factories import recogniser_of
from trackrecord.resources.paging import Order, cursor_of, place_of
from trackrecord.store.outcomes.feedback import GivenFeedback
from trackrecord.store.outcomes.feedback_list import (
    EVERY,
    FeedbackFilter,
    FeedbackOrder,
    count_feedback,
    read_feedback,
)
from trackrecord.times import iso
from trackrecord.wire.feedback import FeedbackBody

from .project_rows import project_row

# The column that each key of `sorting.FEEDBACK` stands for.
_COLUMNS: Final = {
    "id": "feedback_id",
    "subject": "subject",
    "name": "name",
    "verdict": "verdict",
    "task": "task_id",
    "source": "source",
    "given": "given_at",
    "received": "received_at",
}


class FeedbackPlace(NamedTuple):
    """A place in the order of feedback: what was received last first.

    Attributes:
        received_at: seconds since the epoch.
        feedback_id: of the feedback.
    """

    received_at: float
    feedback_id: str


@dataclass(frozen=True)
class KnownFeedback:
    """Feedback that is on record.

    Attributes:
        feedback: what was given.
        is_waiting: whether the project does not know yet what it is about.
    """

    feedback: GivenFeedback
    is_waiting: bool

    @property
    def cursor(self) -> str:
        """The text that `after` takes for the feedback that follows this in a list."""
        return cursor_of(FeedbackPlace(self.feedback.received_at, self.feedback.feedback_id))

    def to_document(self) -> dict[str, Any]:
        """Return the feedback as a JSON object."""
        return feedback_document(self.feedback, is_waiting=self.is_waiting)


def feedback_document(given: GivenFeedback, *, is_waiting: bool) -> dict[str, Any]:
    """Return feedback as a JSON object."""
    document = asdict(given) | {"verdict": given.verdict.value, "is_waiting": is_waiting}
    return document | {"given_at": iso(given.given_at), "received_at": iso(given.received_at)}


def wanted_feedback(
    settings: DaemonSettings,
    *,
    pattern: str | None = None,
    criterion: str | None = None,
    memory: str | None = None,
    task_id: str | None = None,
    is_waiting: bool = False,
) -> FeedbackFilter:
    """Return the filter for feedback on one thing, named as feedback names it.

    Raises:
        InvalidFeedback: more than one thing is named, or the pattern's name says nothing.
    """
    named = sum(each is not None for each in (pattern, criterion, memory))
    if not named:
        return FeedbackFilter(task_id=task_id, is_waiting=is_waiting)
    if named > 1:
        message = "name one of pattern, criterion and memory"
        raise InvalidFeedback(message)
    body = FeedbackBody(verdict="neutral", pattern=pattern, criterion=criterion, memory=memory)
    subject, name = body.subject(recogniser_of(settings.rules).slug_of)
    return FeedbackFilter(subject, name, task_id, is_waiting)


def list_feedback(
    connection: Connection,
    project: str,
    wanted: FeedbackFilter = EVERY,
    *,
    at: float | None = None,
    limit: int | None = None,
    order: Order | None = None,
    after: str | None = None,
) -> list[KnownFeedback]:
    """Return the feedback that a project has on record, newest first.

    Args:
        connection: a reading transaction.
        project: whose feedback.
        wanted: which feedback.
        at: a past moment: what was received later does not count. Whether it waits is told as of
            now.
        limit: the maximum number to return.
        order: one of `sorting.FEEDBACK`, instead of newest first.
        after: the cursor of a piece of feedback: only what follows it.

    Raises:
        UnknownProject: nothing is on record for the project.
        InvalidCursor: `after` is not the cursor of a piece of feedback.
    """
    place = None if after is None else place_of(after, FeedbackPlace)
    project_id = project_row(connection, project)
    by = None if order is None else FeedbackOrder(_COLUMNS[order.key], order.is_descending)
    found = read_feedback(connection, project_id, wanted, at=at, limit=limit, by=by, after=place)
    return [KnownFeedback(given, is_waiting) for given, is_waiting in found]


def count_listed_feedback(
    connection: Connection,
    project: str,
    wanted: FeedbackFilter = EVERY,
    *,
    at: float | None = None,
) -> int:
    """Return how many `list_feedback` would return without a limit.

    Raises:
        UnknownProject: nothing is on record for the project.
    """
    return count_feedback(connection, project_row(connection, project), wanted, at=at)
