"""Count the feedback that arrives on the stream among outcomes."""

import time
from collections.abc import Sequence
from typing import NamedTuple

from trackrecord.store.intake.feedback import take_in_feedback
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.outcomes.feedback.feedback import GivenFeedback, given_feedback
from trackrecord.wire.feedback import decode_feedback

from .entries import (
    DecodedEntry,
    EntryKind,
    IntakeContext,
    IntakeResult,
    ReceivedEntry,
    by_project,
    without_forgotten,
    writing_entries,
)


class _ProjectFeedback(NamedTuple):
    project: str
    given: GivenFeedback


def _decode(body: bytes, entry: ReceivedEntry, context: IntakeContext) -> _ProjectFeedback:
    feedback = decode_feedback(body, max_bytes=context.settings.max_body_bytes)
    given = given_feedback(
        feedback,
        context.scorer.slug_of,
        feedback_id=entry.default_id,
        received_at=entry.received_at,
    )
    return _ProjectFeedback(feedback.project, given)


def _take_in(
    decoded: Sequence[DecodedEntry[_ProjectFeedback]], context: IntakeContext
) -> IntakeResult:
    """Count feedback, in one transaction per project."""
    result = IntakeResult()
    for project, group in by_project(decoded):
        with writing_entries(context.engine, "feedback") as connection:
            known = without_forgotten(connection, "feedback", group, _id_of)
            if not known:
                continue
            project_id = ensure_projects(connection, [project])[project]
            given = [each.report.given for each in known]
            counted = take_in_feedback(
                connection, project_id, given, context.settings.rules, now=time.time()
            )
        if counted.recorded:
            result.projects.add(project)
            result.transitions += counted.transitions
    return result


def _id_of(decoded: DecodedEntry[_ProjectFeedback]) -> str:
    return decoded.report.given.feedback_id


FEEDBACK = EntryKind("feedback", _decode, _take_in)
