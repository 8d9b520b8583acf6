"""The table of entry kinds: sort a batch of the stream by it, and learn each kind in its turn."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from trackrecord.errors import InvalidEntry
from trackrecord.redis.keys import split_mark
from trackrecord.store.advice.hints import ReceivedHint, record_hints
from trackrecord.store.intake.intake import ensure_projects
from trackrecord.wire.hint import HintBody, decode_hint
from trackrecord.wire.kinds import KINDS, MARK
from trackrecord.wire.outcome import WIRE_VERSION
from trackrecord.wire.redacted_body import redacted_body
from trackrecord.wire.storable import storable

from .entries import (
    DecodedEntry,
    Entry,
    EntryKind,
    IntakeContext,
    IntakeResult,
    ReceivedEntry,
    RefusedEntry,
    without_forgotten,
    writing_entries,
)
from .error_entries import ERROR
from .exposure_entries import EXPOSURE
from .feedback_entries import FEEDBACK
from .memory_entries import MEMORY
from .outcome_entries import OUTCOME
from .recall_entries import RECALL


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


_log = structlog.get_logger(__name__)

# In the order in which a batch is learnt: an outcome may have used a memory of the same batch, and
# may be the first to name the pattern that feedback is on. Errors are the last: Redis holds them,
# and an error is not recorded before the database has taken the rest.
ENTRY_KINDS: Final[tuple[EntryKind[Any], ...]] = (
    MEMORY, EXPOSURE, RECALL, HINT, OUTCOME, FEEDBACK, ERROR,
)  # fmt: skip

# A microsecond for each entry of a millisecond.
_MOST_APART: Final = 999
# In these there is no text: an id that is mended names something else.
_OF_IDS_ALONE: Final = frozenset({EXPOSURE, RECALL, HINT})
_BY_FIELD: Final = {kind.on_the_wire.field.encode(): kind for kind in ENTRY_KINDS}
_MARK: Final = MARK.encode()
_WIRE_VERSION: Final = WIRE_VERSION.encode()


@dataclass
class DecodedBatch:
    """The entries of one read.

    Attributes:
        entry_ids: all of them, those that were deleted meanwhile too.
        decoded: the entries of each kind.
        refused: the entries for the dead letters.
        mended: how many had a text that cannot be stored as it came.
    """

    entry_ids: list[bytes] = field(default_factory=list)
    decoded: dict[EntryKind[Any], list[DecodedEntry[Any]]] = field(
        default_factory=lambda: {kind: [] for kind in ENTRY_KINDS}
    )
    refused: list[RefusedEntry] = field(default_factory=list)
    mended: int = 0


def decode_entries(entries: Iterable[Entry], context: IntakeContext, *, now: float) -> DecodedBatch:
    """Decode and score entries; refuse those that cannot be learnt, each with a reason."""
    batch = DecodedBatch()
    for entry_id, fields in entries:
        batch.entry_ids.append(entry_id)
        if fields is None:
            continue
        entry = ReceivedEntry(entry_id, fields, received_at(entry_id, now))
        try:
            name, kind = _kind_of(fields)
            body = fields[name] if kind in _OF_IDS_ALONE else storable(fields[name])
            batch.mended += body is not fields[name]
            report = kind.decode(_safe_body(fields, body, context), entry, context)
        except InvalidEntry as error:
            batch.refused.append(entry.refused(str(error)))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not hold up the stream
            _log.exception("scoring_failed", entry_id=entry_id.decode())
            reason = f"it cannot be scored ({type(error).__name__})"
            batch.refused.append(entry.refused(reason, "not_scored"))
        else:
            batch.decoded[kind].append(DecodedEntry(entry, report))
    return batch


def take_in(batch: DecodedBatch, context: IntakeContext) -> IntakeResult:
    """Learn a batch, one kind after the other.

    Raises:
        StoreUnavailable: the database is away. What it has taken is recognised when it comes again.
        ServerUnavailable: Redis is away.
    """
    result = IntakeResult(Counter(mended=batch.mended), list(batch.refused))
    for kind, decoded in batch.decoded.items():
        if decoded:
            learnt = kind.take_in(decoded, context)
            name = kind.on_the_wire.counted_as
            if name is not None:
                learnt.counts[name] = len(decoded) - len(learnt.refused) - len(learnt.held)
            result.add(learnt)
    return result


def _safe_body(fields: Mapping[bytes, bytes], body: bytes, context: IntakeContext) -> bytes:
    """Return the body of an entry, with its secrets replaced unless its producer did that."""
    # One that is too large is refused, whatever it holds.
    if _MARK in fields or len(body) > context.settings.max_body_bytes:
        return body
    return redacted_body(body)


def _kind_of(fields: Mapping[bytes, bytes]) -> tuple[bytes, EntryKind[Any]]:
    """Return the one kind of an entry, and the field of its body."""
    if fields.get(b"v") != _WIRE_VERSION:
        message = f"field v is not {WIRE_VERSION}: this version of the wire format is not known"
        raise InvalidEntry(message)
    names = [name for name in fields if name in _BY_FIELD]
    if not names:
        message = "field body is missing"
        raise InvalidEntry(message)
    if len(names) > 1:
        known = ", ".join(kind.field for kind in KINDS.values())
        message = f"an entry must have exactly one of: {known}"
        raise InvalidEntry(message)
    return names[0], _BY_FIELD[names[0]]


def received_at(entry_id: bytes, now: float) -> float:
    """Return when Redis received an entry, from its id; a made-up id cannot lie in the future.

    Entries of one millisecond are a microsecond apart, in their order.
    """
    milliseconds, _, rest = entry_id.partition(b"-")
    number, _ = split_mark(rest.decode())
    return min(int(milliseconds) / 1e3 + min(int(number or 0), _MOST_APART) / 1e6, now)
