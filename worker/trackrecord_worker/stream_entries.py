"""Decode the entries of the stream: into what each of them reports, and refused entries."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec
import structlog

from trackrecord.errors import InvalidExposure, InvalidMemory, InvalidOutcome, InvalidRecall
from trackrecord.wire.exposure import ExposureBody, decode_exposure
from trackrecord.wire.memory import MemoryBody, decode_memory
from trackrecord.wire.outcome import WIRE_VERSION, decode_outcome
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome
from trackrecord.wire.recall import RecallBody, decode_recall

_WIRE_VERSION = WIRE_VERSION.encode()
_MEMORY = b"memory"
_EXPOSURE = b"exposure"
_RECALL = b"recall"

_log = structlog.get_logger(__name__)

# One entry as redis-py hands it on; its fields are None when it was deleted meanwhile.
Entry = tuple[bytes, Mapping[bytes, bytes] | None]


@dataclass(frozen=True)
class Refused:
    """An entry that cannot be learnt.

    Attributes:
        entry_id: its id in the stream.
        fields: its fields, unchanged.
        reason: the reason, in one line that repeats nothing of the content.
    """

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    reason: str


class Arrived(msgspec.Struct, frozen=True, gc=False):
    """An outcome, and the entry that it came in."""

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    outcome: ScoredOutcome


class ArrivedMemory(msgspec.Struct, frozen=True, gc=False):
    """A memory, and the entry that it came in."""

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    memory: MemoryBody
    received_at: float


class ArrivedExposure(msgspec.Struct, frozen=True, gc=False):
    """An exposure, and the entry that it came in."""

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    exposure: ExposureBody
    received_at: float


class ArrivedRecall(msgspec.Struct, frozen=True, gc=False):
    """A recall of memories, and the entry that it came in."""

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    recall: RecallBody
    received_at: float


@dataclass(frozen=True)
class Arrivals:
    """The entries of one read, sorted.

    Attributes:
        entry_ids: all of them, those that were deleted meanwhile too.
        arrived: the outcomes to learn.
        memories: the memories to store.
        exposures: the exposures to record.
        recalls: the recalls of memories.
        refused: the entries for the dead letters.
    """

    entry_ids: list[bytes]
    arrived: list[Arrived]
    memories: list[ArrivedMemory]
    exposures: list[ArrivedExposure]
    recalls: list[ArrivedRecall]
    refused: list[Refused]


def sort_arrivals(
    entries: Iterable[Entry], scorer: OutcomeScorer, *, max_body_bytes: int, now: float
) -> Arrivals:
    """Decode and score entries; refuse those that cannot be learnt, each with a reason."""
    entry_ids: list[bytes] = []
    arrived: list[Arrived] = []
    memories: list[ArrivedMemory] = []
    exposures: list[ArrivedExposure] = []
    recalls: list[ArrivedRecall] = []
    refused: list[Refused] = []
    for entry_id, fields in entries:
        entry_ids.append(entry_id)
        if fields is None:
            continue
        try:
            if _MEMORY in fields:
                memories.append(_memory(entry_id, fields, max_body_bytes, now))
                continue
            if _EXPOSURE in fields:
                exposures.append(_exposure(entry_id, fields, max_body_bytes, now))
                continue
            if _RECALL in fields:
                recalls.append(_recall(entry_id, fields, max_body_bytes, now))
                continue
            outcome = _score(entry_id, fields, scorer, max_body_bytes, now)
        except (InvalidOutcome, InvalidMemory, InvalidExposure, InvalidRecall) as error:
            refused.append(Refused(entry_id, fields, str(error)))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not hold up the stream
            _log.exception("scoring_failed", entry_id=entry_id.decode())
            reason = f"it cannot be scored ({type(error).__name__})"
            refused.append(Refused(entry_id, fields, reason))
        else:
            arrived.append(Arrived(entry_id, fields, outcome))
    return Arrivals(entry_ids, arrived, memories, exposures, recalls, refused)


def _score(
    entry_id: bytes,
    fields: Mapping[bytes, bytes],
    scorer: OutcomeScorer,
    max_body_bytes: int,
    now: float,
) -> ScoredOutcome:
    _check_version(fields)
    body = fields.get(b"body")
    if body is None:
        message = "field body is missing"
        raise InvalidOutcome(message)
    outcome = decode_outcome(body, max_bytes=max_body_bytes)
    return scorer.score(
        outcome,
        body,
        received_at=received_at(entry_id, now),
        # The same whenever the entry is delivered again.
        outcome_id=outcome.outcome_id or f"stream:{entry_id.decode()}",
    )


def _memory(
    entry_id: bytes, fields: Mapping[bytes, bytes], max_body_bytes: int, now: float
) -> ArrivedMemory:
    _check_version(fields)
    _check_alone(fields)
    memory = decode_memory(fields[_MEMORY], max_bytes=max_body_bytes)
    return ArrivedMemory(entry_id, fields, memory, received_at(entry_id, now))


def _exposure(
    entry_id: bytes, fields: Mapping[bytes, bytes], max_body_bytes: int, now: float
) -> ArrivedExposure:
    _check_version(fields)
    _check_alone(fields)
    exposure = decode_exposure(fields[_EXPOSURE], max_bytes=max_body_bytes)
    return ArrivedExposure(entry_id, fields, exposure, received_at(entry_id, now))


def _recall(
    entry_id: bytes, fields: Mapping[bytes, bytes], max_body_bytes: int, now: float
) -> ArrivedRecall:
    _check_version(fields)
    _check_alone(fields)
    recall = decode_recall(fields[_RECALL], max_bytes=max_body_bytes)
    return ArrivedRecall(entry_id, fields, recall, received_at(entry_id, now))


def _check_alone(fields: Mapping[bytes, bytes]) -> None:
    if sum(kind in fields for kind in (b"body", _MEMORY, _EXPOSURE, _RECALL)) > 1:
        message = "an entry holds a body, a memory, an exposure or a recall, not several of them"
        raise InvalidOutcome(message)


def _check_version(fields: Mapping[bytes, bytes]) -> None:
    if fields.get(b"v") != _WIRE_VERSION:
        message = f"field v is not {WIRE_VERSION}: this version of the wire format is not known"
        raise InvalidOutcome(message)


def received_at(entry_id: bytes, now: float) -> float:
    """Return when Redis received an entry, from its id; a made-up id cannot lie in the future."""
    milliseconds, _, _ = entry_id.partition(b"-")
    return min(int(milliseconds) / 1000, now)
