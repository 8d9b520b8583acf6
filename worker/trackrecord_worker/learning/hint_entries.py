"""Record the hints that arrive on the stream among outcomes."""

from collections.abc import Sequence

from trackrecord.store.advice.hints import ReceivedHint, record_hints
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.wire.hint import HintBody, decode_hint

from .entries import (
    DecodedEntry,
    EntryKind,
    IntakeContext,
    IntakeResult,
    ReceivedEntry,
    without_forgotten,
    writing_entries,
)


def _decode(body: bytes, _entry: ReceivedEntry, context: IntakeContext) -> HintBody:
    return decode_hint(body, max_bytes=context.settings.max_body_bytes)


def _take_in(decoded: Sequence[DecodedEntry[HintBody]], context: IntakeContext) -> IntakeResult:
    with writing_entries(context.engine, "hints") as connection:
        received = [
            ReceivedHint(each.report, _id_of(each), each.entry.received_at)
            for each in without_forgotten(connection, "hint", decoded, _id_of)
        ]
        projects = {each.body.project for each in received}
        record_hints(connection, ensure_projects(connection, projects), received)
    return IntakeResult()


def _id_of(decoded: DecodedEntry[HintBody]) -> str:
    return decoded.report.hint_id or decoded.entry.default_id


HINT = EntryKind("hint", _decode, _take_in)
