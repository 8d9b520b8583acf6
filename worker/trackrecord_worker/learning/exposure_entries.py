"""Record the exposures that arrive on the stream among outcomes."""

from collections.abc import Iterator, Sequence

from trackrecord.learning.advice import entry_ids
from trackrecord.store.advice.exposures import ReceivedExposure, record_exposures
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.store.memories.memory_recalls import PromptRecall
from trackrecord.wire.exposure import ExposureBody, decode_exposure

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
from .recall_entries import note_recalls, recalled_at


def _decode(body: bytes, _entry: ReceivedEntry, context: IntakeContext) -> ExposureBody:
    return decode_exposure(body, max_bytes=context.settings.max_body_bytes)


def _take_in(decoded: Sequence[DecodedEntry[ExposureBody]], context: IntakeContext) -> IntakeResult:
    """Record exposures in one transaction; then recall the memories in them."""
    with writing_entries(context.engine, "exposures") as connection:
        received = [
            ReceivedExposure(each.report, _id_of(each), each.entry.received_at)
            for each in without_forgotten(connection, "exposure", decoded, _id_of)
        ]
        projects = {each.body.project for each in received}
        record_exposures(connection, ensure_projects(connection, projects), received)
    for project, group in by_project(decoded):
        note_recalls(project, _memories(group), context)
    return IntakeResult()


def _id_of(decoded: DecodedEntry[ExposureBody]) -> str:
    return decoded.report.exposure_id or decoded.entry.default_id


def _memories(decoded: Sequence[DecodedEntry[ExposureBody]]) -> Iterator[PromptRecall]:
    for each in decoded:
        exposure, received_at = each.report, each.entry.received_at
        if exposure.withheld:  # the task was handed nothing
            continue
        moment = recalled_at(exposure.at, received_at)
        for entry in exposure.entries:
            if entry.startswith(entry_ids.MEMORY):
                name = entry.removeprefix(entry_ids.MEMORY)
                yield PromptRecall(name, moment, received_at, _id_of(each))


EXPOSURE = EntryKind("exposure", _decode, _take_in)
