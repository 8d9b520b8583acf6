"""Feedback by a person on one pattern, criterion or memory alone."""

import time
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, Engine

from trackrecord.daemon_settings import DaemonSettings
from trackrecord.factories import recogniser_of
from trackrecord.queries.feedback import feedback_document
from trackrecord.queries.patterns import pattern_slug
from trackrecord.queries.project_rows import project_row
from trackrecord.resources.memories import whole_memory_id
from trackrecord.store.intake.feedback import take_in_feedback
from trackrecord.store.outcomes.feedback import GivenFeedback, given_feedback
from trackrecord.store.outcomes.forgotten import share_projects
from trackrecord.wire.feedback import FeedbackBody

from .writing import changing


@dataclass(frozen=True)
class Given:
    """Feedback that was given.

    Attributes:
        feedback: what was given.
        is_new: whether it was not on record already.
    """

    feedback: GivenFeedback
    is_new: bool

    def to_document(self) -> dict[str, Any]:
        """Return the feedback as a JSON object."""
        return feedback_document(self.feedback, is_waiting=False) | {"is_new": self.is_new}


def give_feedback(
    engine: Engine,
    settings: DaemonSettings,
    project: str,
    body: FeedbackBody,
    *,
    feedback_id: str,
) -> Given:
    """Count a verdict on one pattern, criterion or memory; the same id again changes nothing.

    Args:
        engine: the store.
        settings: the rules.
        project: whose pattern, criterion or memory it is.
        body: the verdict; a pattern and a memory may be named by the beginning of their ids.
        feedback_id: the id to use if the body has none.

    Raises:
        UnknownProject: nothing is on record for the project.
        UnknownId: the project has no such pattern or memory; nothing is recorded.
        AmbiguousId: several ids begin so.
        InvalidFeedback: the pattern's name holds neither a letter nor a digit.
    """
    now = time.time()
    slug_of = recogniser_of(settings.rules).slug_of
    given = given_feedback(body, slug_of, feedback_id=feedback_id, received_at=now)
    with changing(engine, settings, project) as connection:
        given = _of_known(connection, project, given)
        share_projects(connection, [project])
        row = project_row(connection, project)
        counted = take_in_feedback(connection, row, [given], settings.rules, now=now)
    return Given(given, is_new=bool(counted.recorded))


def _of_known(connection: Connection, project: str, given: GivenFeedback) -> GivenFeedback:
    """Return the feedback with the whole id of what it is about; a criterion need not be known."""
    match given.subject:
        case "pattern":
            name = pattern_slug(connection, project, given.name)
        case "memory":
            name = whole_memory_id(connection, project, given.name)
        case "criterion":
            return given
    return replace(given, name=name)
