"""Record the errors of tasks in flight that arrive on the stream among outcomes."""

from collections.abc import Sequence

from trackrecord.errors import ServerUnavailable
from trackrecord.inflight.store import Report, write_reports
from trackrecord.redis.problems import is_out_of_memory
from trackrecord.wire.error import decode_error

from .entries import DecodedEntry, EntryKind, IntakeContext, IntakeResult, ReceivedEntry

_NO_ROOM = "too many errors of its task are resolved that have not been recorded"

_ReportOfProject = tuple[str, Report]


def _decode(body: bytes, entry: ReceivedEntry, context: IntakeContext) -> _ReportOfProject:
    error = decode_error(body, max_bytes=context.settings.max_body_bytes)
    return error.project, error.to_report(entry.default_id, entry.received_at)


def _take_in(
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


ERROR = EntryKind("error", _decode, _take_in)
