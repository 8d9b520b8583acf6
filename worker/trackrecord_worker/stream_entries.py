"""Decode the entries of the stream: into what each of them reports, and refused entries."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec
import structlog

from trackrecord.errors import InvalidEntry, InvalidOutcome
from trackrecord.inflight.store import Report
from trackrecord.wire.error import decode_error
from trackrecord.wire.exposure import ExposureBody, decode_exposure
from trackrecord.wire.memory import MemoryBody, decode_memory
from trackrecord.wire.outcome import WIRE_VERSION, decode_outcome
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome
from trackrecord.wire.recall import RecallBody, decode_recall

_WIRE_VERSION = WIRE_VERSION.encode()
_BODY = b"body"
_MEMORY = b"memory"
_EXPOSURE = b"exposure"
_RECALL = b"recall"
_ERROR = b"error"

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


class ArrivedError(msgspec.Struct, frozen=True, gc=False):
    """A report on a task in flight, its project, and the entry that it came in."""

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    project: str
    report: Report


@dataclass(frozen=True)
class Arrivals:
    """The entries of one read, sorted.

    Attributes:
        entry_ids: all of them, those that were deleted meanwhile too.
        arrived: the outcomes to learn.
        memories: the memories to store.
        exposures: the exposures to record.
        recalls: the recalls of memories.
        errors: the reports on tasks in flight to record.
        refused: the entries for the dead letters.
    """

    entry_ids: list[bytes]
    arrived: list[Arrived]
    memories: list[ArrivedMemory]
    exposures: list[ArrivedExposure]
    recalls: list[ArrivedRecall]
    errors: list[ArrivedError]
    refused: list[Refused]


def sort_arrivals(
    entries: Iterable[Entry], scorer: OutcomeScorer, *, max_body_bytes: int, now: float
) -> Arrivals:
    """Decode and score entries; refuse those that cannot be learnt, each with a reason."""
    found = Arrivals([], [], [], [], [], [], [])
    for entry_id, fields in entries:
        found.entry_ids.append(entry_id)
        if fields is None:
            continue
        try:
            kind = next((each for each in _SMALL if each in fields), None)
            if kind is None:
                outcome = _score(entry_id, fields, scorer, max_body_bytes, now)
                found.arrived.append(Arrived(entry_id, fields, outcome))
            else:
                _check_alone(fields)
                _SMALL[kind](found, entry_id, fields, max_body_bytes, now)
        except InvalidEntry as error:
            found.refused.append(Refused(entry_id, fields, str(error)))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not hold up the stream
            _log.exception("scoring_failed", entry_id=entry_id.decode())
            reason = f"it cannot be scored ({type(error).__name__})"
            found.refused.append(Refused(entry_id, fields, reason))
    return found


def _score(
    entry_id: bytes,
    fields: Mapping[bytes, bytes],
    scorer: OutcomeScorer,
    max_body_bytes: int,
    now: float,
) -> ScoredOutcome:
    _check_version(fields)
    body = fields.get(_BODY)
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
    found: Arrivals, entry_id: bytes, fields: Mapping[bytes, bytes], max_bytes: int, now: float
) -> None:
    memory = decode_memory(fields[_MEMORY], max_bytes=max_bytes)
    found.memories.append(ArrivedMemory(entry_id, fields, memory, received_at(entry_id, now)))


def _exposure(
    found: Arrivals, entry_id: bytes, fields: Mapping[bytes, bytes], max_bytes: int, now: float
) -> None:
    exposure = decode_exposure(fields[_EXPOSURE], max_bytes=max_bytes)
    received = received_at(entry_id, now)
    found.exposures.append(ArrivedExposure(entry_id, fields, exposure, received))


def _recall(
    found: Arrivals, entry_id: bytes, fields: Mapping[bytes, bytes], max_bytes: int, now: float
) -> None:
    recall = decode_recall(fields[_RECALL], max_bytes=max_bytes)
    found.recalls.append(ArrivedRecall(entry_id, fields, recall, received_at(entry_id, now)))


def _error(
    found: Arrivals, entry_id: bytes, fields: Mapping[bytes, bytes], max_bytes: int, now: float
) -> None:
    error = decode_error(fields[_ERROR], max_bytes=max_bytes)
    # The same whenever the entry is delivered again.
    report = error.to_report(f"stream:{entry_id.decode()}", received_at(entry_id, now))
    found.errors.append(ArrivedError(entry_id, fields, error.project, report))


_Read = Callable[[Arrivals, bytes, Mapping[bytes, bytes], int, float], None]
# What travels beside outcomes: the field of its body, and what takes it in.
_SMALL: Final[dict[bytes, _Read]] = {
    _MEMORY: _memory,
    _EXPOSURE: _exposure,
    _RECALL: _recall,
    _ERROR: _error,
}


def _check_alone(fields: Mapping[bytes, bytes]) -> None:
    _check_version(fields)
    if sum(kind in fields for kind in (_BODY, *_SMALL)) > 1:
        message = "an entry holds one body, memory, exposure, recall or error, not both or several"
        raise InvalidEntry(message)


def _check_version(fields: Mapping[bytes, bytes]) -> None:
    if fields.get(b"v") != _WIRE_VERSION:
        message = f"field v is not {WIRE_VERSION}: this version of the wire format is not known"
        raise InvalidEntry(message)


def received_at(entry_id: bytes, now: float) -> float:
    """Return when Redis received an entry, from its id; a made-up id cannot lie in the future."""
    milliseconds, _, _ = entry_id.partition(b"-")
    return min(int(milliseconds) / 1000, now)
