"""The calls for feedback that wait for the store. `feedback`, which does not, is published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal
from uuid import uuid4

from trackrecord.beside import awaited
from trackrecord.errors import InvalidFeedback
from trackrecord.resources.checks import (
    Moment,
    choice_of,
    moment_of,
    optional_limit_of,
    optional_text_of,
)
from trackrecord.resources.project_store import open_project

if TYPE_CHECKING:
    from trackrecord.changes.feedback import Given
    from trackrecord.queries.feedback import KnownFeedback

_VERDICTS = ("helpful", "harmful", "neutral")
_FEW = 100
_MOST_OF_NAME = 128
_MOST_OF_LABEL = 256
_MOST_OF_PATTERN = 1024


def list_feedback(
    *,
    pattern: str | None = None,
    criterion: str | None = None,
    memory: str | None = None,
    task_id: str | None = None,
    waiting: bool = False,
    at: Moment | None = None,
    limit: int | None = _FEW,
    after: str | None = None,
    project: str | None = None,
) -> list[KnownFeedback]:
    """Return the verdicts on single patterns, criteria and memories, newest first.

    Args:
        pattern: only verdicts on the pattern of this name or id.
        criterion: only verdicts on the criterion of this name.
        memory: only verdicts on the memory of this id.
        task_id: only verdicts of this task.
        waiting: only verdicts on what the project does not know yet.
        at: a past moment to answer for.
        limit: the maximum number of verdicts to return; None for all.
        after: the `cursor` of a verdict: only the verdicts that follow it.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    pattern = optional_text_of("pattern", pattern, most=_MOST_OF_PATTERN)
    criterion = optional_text_of("criterion", criterion, most=_MOST_OF_NAME)
    memory = optional_text_of("memory", memory, most=_MOST_OF_NAME)
    task_id, after = optional_text_of("task_id", task_id), optional_text_of("after", after)
    moment, limit = moment_of(at), optional_limit_of(limit)
    with open_project(project) as here:
        from trackrecord.queries import feedback
        from trackrecord.store.database.engine import reading

        wanted = feedback.wanted_feedback(
            here.settings,
            pattern=pattern,
            criterion=criterion,
            memory=memory,
            task_id=task_id,
            is_waiting=bool(waiting),
        )
        with reading(here.engine) as connection:
            return feedback.list_feedback(
                connection, here.project, wanted, at=moment, limit=limit, after=after
            )


def give_feedback(
    verdict: Literal["helpful", "harmful", "neutral"],
    *,
    pattern: str | None = None,
    criterion: str | None = None,
    memory: str | None = None,
    task_id: str | None = None,
    source: str | None = None,
    feedback_id: str | None = None,
    project: str | None = None,
) -> Given:
    """Judge one pattern, criterion or memory; it counts as the verdict of one outcome would.

    Unlike `feedback`, it waits for the store and raises: for a pattern or a memory that the project
    does not know, too.

    Args:
        verdict: "helpful", "harmful" or "neutral".
        pattern: the name or the id of a pattern, or the beginning of its id.
        criterion: the name of a criterion.
        memory: the id of a memory, or the beginning of it. Exactly one of the three is given.
        task_id: the task in which it showed.
        source: the name of the one who judges.
        feedback_id: the idempotency key; made when not given.
        project: the project; the settings' project when not given.

    Raises:
        TrackrecordError: the message says in one line what is wrong.
    """
    given = {
        "verdict": choice_of("verdict", verdict, _VERDICTS),
        "pattern": optional_text_of("pattern", pattern, most=_MOST_OF_PATTERN),
        "criterion": optional_text_of("criterion", criterion, most=_MOST_OF_NAME),
        "memory": optional_text_of("memory", memory, most=_MOST_OF_NAME),
        "task_id": optional_text_of("task_id", task_id, most=_MOST_OF_LABEL),
        "source": optional_text_of("source", source, most=_MOST_OF_LABEL),
        "feedback_id": optional_text_of("feedback_id", feedback_id, most=_MOST_OF_NAME),
    }
    if sum(given[name] is not None for name in ("pattern", "criterion", "memory")) != 1:
        message = "name exactly one of pattern, criterion and memory"
        raise InvalidFeedback(message)
    with open_project(project) as here:
        import msgspec

        from trackrecord.changes import feedback
        from trackrecord.wire.feedback import FeedbackBody

        body = msgspec.convert(given | {"project": here.project}, FeedbackBody)
        return feedback.give_feedback(
            here.engine, here.settings, here.project, body, feedback_id=str(uuid4())
        )


alist_feedback = awaited(list_feedback)
agive_feedback = awaited(give_feedback)
