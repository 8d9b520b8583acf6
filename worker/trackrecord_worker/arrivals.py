"""From entries of the stream to outcomes that can be learnt, and to those that cannot."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec
import structlog

from trackrecord.appraisal import Appraised, Appraiser
from trackrecord.errors import InvalidOutcome
from trackrecord.outcome import WIRE_VERSION, decode_outcome

_WIRE_VERSION = WIRE_VERSION.encode()

_log = structlog.get_logger(__name__)

# One entry as redis-py hands it on; its fields are None when it was deleted meanwhile.
Entry = tuple[bytes, Mapping[bytes, bytes] | None]


@dataclass(frozen=True)
class Refused:
    """An entry that cannot be learnt.

    Attributes:
        entry_id: its id in the stream.
        fields: what it held, untouched.
        reason: why, in one line that repeats nothing of the content.
    """

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    reason: str


class Arrived(msgspec.Struct, frozen=True, gc=False):
    """An outcome, and the entry that it came in."""

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    outcome: Appraised


@dataclass(frozen=True)
class Arrivals:
    """The entries of one read, sorted.

    Attributes:
        entry_ids: all of them, those that were deleted meanwhile too.
        arrived: what can be learnt.
        refused: what is for the dead letters.
    """

    entry_ids: list[bytes]
    arrived: list[Arrived]
    refused: list[Refused]


def sort_arrivals(
    entries: Iterable[Entry], appraiser: Appraiser, *, max_body_bytes: int, now: float
) -> Arrivals:
    """Decode and appraise entries; what cannot be learnt is refused with its reason."""
    entry_ids: list[bytes] = []
    arrived: list[Arrived] = []
    refused: list[Refused] = []
    for entry_id, fields in entries:
        entry_ids.append(entry_id)
        if fields is None:
            continue
        try:
            outcome = _appraise(entry_id, fields, appraiser, max_body_bytes, now)
        except InvalidOutcome as error:
            refused.append(Refused(entry_id, fields, str(error)))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not hold up the stream
            _log.exception("appraisal_failed", entry_id=entry_id.decode())
            reason = f"it cannot be appraised ({type(error).__name__})"
            refused.append(Refused(entry_id, fields, reason))
        else:
            arrived.append(Arrived(entry_id, fields, outcome))
    return Arrivals(entry_ids, arrived, refused)


def _appraise(
    entry_id: bytes,
    fields: Mapping[bytes, bytes],
    appraiser: Appraiser,
    max_body_bytes: int,
    now: float,
) -> Appraised:
    if fields.get(b"v") != _WIRE_VERSION:
        message = f"field v is not {WIRE_VERSION}: this version of the wire format is not known"
        raise InvalidOutcome(message)
    body = fields.get(b"body")
    if body is None:
        message = "field body is missing"
        raise InvalidOutcome(message)
    outcome = decode_outcome(body, max_bytes=max_body_bytes)
    return appraiser.appraise(
        outcome,
        body,
        received_at=received_at(entry_id, now),
        # The same whenever the entry is delivered again.
        outcome_id=f"stream:{entry_id.decode()}",
    )


def received_at(entry_id: bytes, now: float) -> float:
    """When Redis took the entry, from its id; a producer that makes up ids cannot reach ahead."""
    milliseconds, _, _ = entry_id.partition(b"-")
    return min(int(milliseconds) / 1000, now)
