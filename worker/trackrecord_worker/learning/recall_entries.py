"""Restart the decay of recalled memories, from recalls and from exposures."""

from collections.abc import Iterable, Sequence

from trackrecord.store.memories.memory_recalls import PromptRecall, record_recalls
from trackrecord.store.outcomes.projects import project_id_of
from trackrecord.wire.recall import RecallBody, decode_recall

from .entries import (
    DecodedEntry,
    EntryKind,
    IntakeContext,
    IntakeResult,
    ReceivedEntry,
    by_project,
    writing_entries,
)


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
    with writing_entries(context.engine, "recalls") as connection:
        project_id = project_id_of(connection, project)
        if project_id is not None:
            record_recalls(connection, project_id, memories, rules=context.settings.memories)


def recalled_at(at: float | None, received_at: float) -> float:
    """Return the time of a recall; the time of receipt if the sender's clock is ahead."""
    return received_at if at is None else min(at, received_at)


def _decode(body: bytes, _entry: ReceivedEntry, context: IntakeContext) -> RecallBody:
    return decode_recall(body, max_bytes=context.settings.max_body_bytes)


def _take_in(decoded: Sequence[DecodedEntry[RecallBody]], context: IntakeContext) -> IntakeResult:
    for project, group in by_project(decoded):
        handed = [
            PromptRecall(name, recalled_at(recall.at, received_at), received_at)
            for recall, received_at in ((each.report, each.entry.received_at) for each in group)
            for name in recall.memories
        ]
        note_recalls(project, handed, context)
    return IntakeResult()


RECALL = EntryKind("recall", _decode, _take_in)
