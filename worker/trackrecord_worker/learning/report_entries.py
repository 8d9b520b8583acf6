"""Record memories, errors, feedback, recalls and exposures that arrive among outcomes."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from sqlalchemy import Connection

from trackrecord.errors import ServerUnavailable
from trackrecord.inflight.store import Report as InFlightReport
from trackrecord.inflight.store import write_reports
from trackrecord.learning.advice import entry_ids
from trackrecord.redis.problems import is_out_of_memory
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.advice.hints import ReceivedHint, record_hints
from trackrecord.store.intake.feedback import take_in_feedback
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.recall import PromptRecall, record_recalls
from trackrecord.store.memories.write import remember
from trackrecord.store.outcomes.feedback.feedback import GivenFeedback, given_feedback
from trackrecord.store.outcomes.forgotten import Kind as ForgottenKind
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.wire.error import decode_error
from trackrecord.wire.exposure import ExposureBody, decode_exposure
from trackrecord.wire.feedback import decode_feedback
from trackrecord.wire.hint import HintBody, decode_hint
from trackrecord.wire.memory import MemoryBody, decode_memory
from trackrecord.wire.recall import RecallBody, decode_recall

from .entries import (
    DecodedEntry,
    EntryKind,
    IntakeContext,
    IntakeResult,
    NamedReport,
    ReceivedEntry,
    by_project,
    keep_name,
    without_forgotten,
    writing_entries,
)

Report = TypeVar("Report")


def _decoding(
    decode: Callable[..., Report],
) -> Callable[[bytes, ReceivedEntry, IntakeContext], Report]:
    """Return the decoding of entries whose bodies say everything themselves."""
    return lambda body, _, context: decode(body, max_bytes=context.settings.max_body_bytes)


def _decode_memory(body: bytes, _entry: ReceivedEntry, context: IntakeContext) -> MemoryBody:
    memory = decode_memory(body, max_bytes=context.settings.max_body_bytes)
    keep_name(context.settings.home, memory.project, is_captured=False)
    return memory


def _take_in_by_project(
    kind: ForgottenKind,
    learn: Callable[[Connection, int, Sequence[DecodedEntry[NamedReport]], IntakeContext], bool],
    decoded: Sequence[DecodedEntry[NamedReport]],
    context: IntakeContext,
) -> IntakeResult:
    """Learn reports, in one transaction per project.

    Args:
        kind: what they are.
        learn: learns those of one project; returns whether it changed.
        decoded: the reports.
        context: what they are learnt with.
    """
    result = IntakeResult()
    for project, group in by_project(decoded):
        with writing_entries(context.engine, kind) as connection:
            known = without_forgotten(connection, kind, group)
            if not known:
                continue
            project_id = ensure_projects(connection, [project])[project]
            is_changed = learn(connection, project_id, known, context)
        if is_changed:
            result.projects.add(project)
    return result


def _remember(
    connection: Connection,
    project_id: int,
    known: Sequence[DecodedEntry[MemoryBody]],
    context: IntakeContext,
) -> bool:
    for each in known:
        memory = each.report
        remember(
            connection,
            project_id,
            memory.text,
            memory_id=each.id_of("memory"),
            rules=context.settings.memories,
            now=each.entry.received_at,
            source=memory.source,
            force=memory.force,
        )
    return True


MEMORY = EntryKind("memory", _decode_memory, partial(_take_in_by_project, "memory", _remember))


class _ProjectFeedback(NamedTuple):
    project: str
    feedback_id: str
    given: GivenFeedback


def _decode_feedback(body: bytes, entry: ReceivedEntry, context: IntakeContext) -> _ProjectFeedback:
    feedback = decode_feedback(body, max_bytes=context.settings.max_body_bytes)
    given = given_feedback(
        feedback,
        context.scorer.slug_of,
        feedback_id=entry.default_id,
        received_at=entry.received_at,
    )
    return _ProjectFeedback(feedback.project, given.feedback_id, given)


def _count_feedback(
    connection: Connection,
    project_id: int,
    known: Sequence[DecodedEntry[_ProjectFeedback]],
    context: IntakeContext,
) -> bool:
    given = [each.report.given for each in known]
    rules = context.settings.rules
    return bool(take_in_feedback(connection, project_id, given, rules, now=time.time()))


FEEDBACK = EntryKind(
    "feedback", _decode_feedback, partial(_take_in_by_project, "feedback", _count_feedback)
)


_NO_ROOM = "too many errors of its task are resolved that have not been recorded"

_ReportOfProject = tuple[str, InFlightReport]


def _decode_error(body: bytes, entry: ReceivedEntry, context: IntakeContext) -> _ReportOfProject:
    error = decode_error(body, max_bytes=context.settings.max_body_bytes)
    return error.project, error.to_report(entry.default_id, entry.received_at)


def _take_in_error(
    decoded: Sequence[DecodedEntry[_ReportOfProject]], context: IntakeContext
) -> IntakeResult:
    """Record reports on tasks in flight, and write what their retries read.

    They stay pending while Redis's memory is full: the other entries of the batch are acknowledged,
    which makes room.

    Raises:
        ServerUnavailable: Redis is away; all of it stays pending.
    """
    settings = context.settings
    reports = [each.report for each in decoded]
    try:
        has_room = write_reports(context.client, settings.keys, settings.errors, reports)
        context.retry_texts.refresh()
    except ServerUnavailable as error:
        if not is_out_of_memory(error.__cause__):
            raise
        return IntakeResult(held={each.entry.entry_id for each in decoded})
    refused = [
        each.entry.refused(_NO_ROOM, "no_room")
        for each, is_kept in zip(decoded, has_room, strict=True)
        if not is_kept
    ]
    return IntakeResult(refused=refused)


ERROR = EntryKind("error", _decode_error, _take_in_error)


def note_recalls(project: str, handed: Iterable[PromptRecall], context: IntakeContext) -> None:
    """Recall memories of a project, in one transaction.

    A memory is recalled once a day at most, so an entry that comes again changes nothing. Unknown
    memories, and projects of which nothing is on record, are passed.

    Raises:
        StoreUnavailable: the database is away, or refuses what nothing is wrong with.
    """
    memories = list(handed)
    if not memories:
        return
    with writing_entries(context.engine, "recall") as connection:
        project_id = project_id_of(connection, project)
        if project_id is not None:
            record_recalls(connection, project_id, memories, rules=context.settings.memories)


def recalled_at(at: float | None, received_at: float) -> float:
    """Return the time of a recall; the time of receipt if the sender's clock is ahead."""
    return received_at if at is None else min(at, received_at)


def _take_in_recall(
    decoded: Sequence[DecodedEntry[RecallBody]], context: IntakeContext
) -> IntakeResult:
    for project, group in by_project(decoded):
        handed = [
            PromptRecall(name, recalled_at(recall.at, received_at), received_at)
            for recall, received_at in ((each.report, each.entry.received_at) for each in group)
            for name in recall.memories
        ]
        note_recalls(project, handed, context)
    return IntakeResult()


RECALL = EntryKind("recall", _decoding(decode_recall), _take_in_recall)


def _take_in_exposure(
    decoded: Sequence[DecodedEntry[ExposureBody]], context: IntakeContext
) -> IntakeResult:
    """Record exposures in one transaction; then recall the memories in them."""
    with writing_entries(context.engine, "exposure") as connection:
        received = [
            ReceivedExposure(each.report, each.id_of("exposure"), each.entry.received_at)
            for each in without_forgotten(connection, "exposure", decoded)
        ]
        projects = {each.body.project for each in received}
        record_exposures(connection, ensure_projects(connection, projects), received)
    for project, group in by_project(decoded):
        note_recalls(project, _memories(group), context)
    return IntakeResult()


def _memories(decoded: Sequence[DecodedEntry[ExposureBody]]) -> Iterator[PromptRecall]:
    for each in decoded:
        exposure, received_at = each.report, each.entry.received_at
        if exposure.withheld:  # the task was handed nothing
            continue
        moment = recalled_at(exposure.at, received_at)
        for entry in exposure.entries:
            if entry.startswith(entry_ids.MEMORY):
                name = entry.removeprefix(entry_ids.MEMORY)
                yield PromptRecall(name, moment, received_at, each.id_of("exposure"))


EXPOSURE = EntryKind("exposure", _decoding(decode_exposure), _take_in_exposure)


def _take_in_hint(
    decoded: Sequence[DecodedEntry[HintBody]], context: IntakeContext
) -> IntakeResult:
    with writing_entries(context.engine, "hint") as connection:
        received = [
            ReceivedHint(each.report, each.id_of("hint"), each.entry.received_at)
            for each in without_forgotten(connection, "hint", decoded)
        ]
        projects = {each.body.project for each in received}
        record_hints(connection, ensure_projects(connection, projects), received)
    return IntakeResult()


HINT = EntryKind("hint", _decoding(decode_hint), _take_in_hint)
