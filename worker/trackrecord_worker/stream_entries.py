"""Decode the entries of the stream: into what each of them reports, and refused entries."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec
import structlog

from trackrecord.errors import InvalidEntry, InvalidOutcome
from trackrecord.fleet_counts import RefusedAs
from trackrecord.inflight.store import Report
from trackrecord.store.outcomes.feedback import GivenFeedback, given_feedback
from trackrecord.wire.error import decode_error
from trackrecord.wire.exposure import ExposureBody, decode_exposure
from trackrecord.wire.feedback import decode_feedback
from trackrecord.wire.memory import MemoryBody, decode_memory
from trackrecord.wire.outcome import WIRE_VERSION, decode_reported
from trackrecord.wire.outcome_scorer import OutcomeScorer, ScoredOutcome
from trackrecord.wire.recall import RecallBody, decode_recall

_WIRE_VERSION = WIRE_VERSION.encode()
_BODY = b"body"
_MEMORY = b"memory"
_EXPOSURE = b"exposure"
_RECALL = b"recall"
_ERROR = b"error"
_FEEDBACK = b"feedback"

_log = structlog.get_logger(__name__)

# One entry as redis-py hands it on; its fields are None when it was deleted meanwhile.
Entry = tuple[bytes, Mapping[bytes, bytes] | None]


@dataclass(frozen=True)
class RefusedEntry:
    """An entry that cannot be learnt.

    Attributes:
        entry_id: its id in the stream.
        fields: its fields, unchanged.
        reason: the reason, in one line that repeats nothing of the content.
        counted_as: the kind of the reason.
    """

    entry_id: bytes
    fields: Mapping[bytes, bytes]
    reason: str
    counted_as: RefusedAs = "invalid"


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


class ArrivedFeedback(msgspec.Struct, frozen=True, gc=False):
    """Feedback on one thing, and its project."""

    project: str
    given: GivenFeedback


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
        feedback: the feedback to count.
        refused: the entries for the dead letters.
    """

    entry_ids: list[bytes]
    arrived: list[Arrived]
    memories: list[ArrivedMemory]
    exposures: list[ArrivedExposure]
    recalls: list[ArrivedRecall]
    errors: list[ArrivedError]
    feedback: list[ArrivedFeedback]
    refused: list[RefusedEntry]


def sort_arrivals(
    entries: Iterable[Entry], scorer: OutcomeScorer, *, max_body_bytes: int, now: float
) -> Arrivals:
    """Decode and score entries; refuse those that cannot be learnt, each with a reason."""
    found = Arrivals([], [], [], [], [], [], [], [])
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
                _SMALL[kind](_Reading(found, scorer, max_body_bytes, now), entry_id, fields)
        except InvalidEntry as error:
            found.refused.append(RefusedEntry(entry_id, fields, str(error)))
        except Exception as error:  # noqa: BLE001 - a fault of ours must not hold up the stream
            _log.exception("scoring_failed", entry_id=entry_id.decode())
            reason = f"it cannot be scored ({type(error).__name__})"
            found.refused.append(RefusedEntry(entry_id, fields, reason, "not_scored"))
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
    outcome = decode_reported(body, max_bytes=max_body_bytes)
    return scorer.score(
        outcome,
        body,
        received_at=received_at(entry_id, now),
        outcome_id=outcome.outcome_id or _named_by(entry_id),
    )


class _Reading(NamedTuple):
    """What the entries of one read are taken in with."""

    found: Arrivals
    scorer: OutcomeScorer
    max_bytes: int
    now: float


def _memory(reading: _Reading, entry_id: bytes, fields: Mapping[bytes, bytes]) -> None:
    memory = decode_memory(fields[_MEMORY], max_bytes=reading.max_bytes)
    received = received_at(entry_id, reading.now)
    reading.found.memories.append(ArrivedMemory(entry_id, fields, memory, received))


def _exposure(reading: _Reading, entry_id: bytes, fields: Mapping[bytes, bytes]) -> None:
    exposure = decode_exposure(fields[_EXPOSURE], max_bytes=reading.max_bytes)
    received = received_at(entry_id, reading.now)
    reading.found.exposures.append(ArrivedExposure(entry_id, fields, exposure, received))


def _recall(reading: _Reading, entry_id: bytes, fields: Mapping[bytes, bytes]) -> None:
    recall = decode_recall(fields[_RECALL], max_bytes=reading.max_bytes)
    received = received_at(entry_id, reading.now)
    reading.found.recalls.append(ArrivedRecall(entry_id, fields, recall, received))


def _error(reading: _Reading, entry_id: bytes, fields: Mapping[bytes, bytes]) -> None:
    error = decode_error(fields[_ERROR], max_bytes=reading.max_bytes)
    report = error.to_report(_named_by(entry_id), received_at(entry_id, reading.now))
    reading.found.errors.append(ArrivedError(entry_id, fields, error.project, report))


def _feedback(reading: _Reading, entry_id: bytes, fields: Mapping[bytes, bytes]) -> None:
    body = decode_feedback(fields[_FEEDBACK], max_bytes=reading.max_bytes)
    received = received_at(entry_id, reading.now)
    given = given_feedback(
        body, reading.scorer.slug_of, feedback_id=_named_by(entry_id), received_at=received
    )
    reading.found.feedback.append(ArrivedFeedback(body.project, given))


def _named_by(entry_id: bytes) -> str:
    """Return the id of what has none: the same whenever the entry is delivered again."""
    return f"stream:{entry_id.decode()}"


_Read = Callable[[_Reading, bytes, Mapping[bytes, bytes]], None]
# What travels beside outcomes: the field of its body, and what takes it in.
_SMALL: Final[dict[bytes, _Read]] = {
    _MEMORY: _memory,
    _EXPOSURE: _exposure,
    _RECALL: _recall,
    _ERROR: _error,
    _FEEDBACK: _feedback,
}


def _check_alone(fields: Mapping[bytes, bytes]) -> None:
    _check_version(fields)
    if sum(kind in fields for kind in (_BODY, *_SMALL)) > 1:
        message = "an entry holds a body, a memory or another one of its kind, not both or several"
        raise InvalidEntry(message)


def _check_version(fields: Mapping[bytes, bytes]) -> None:
    if fields.get(b"v") != _WIRE_VERSION:
        message = f"field v is not {WIRE_VERSION}: this version of the wire format is not known"
        raise InvalidEntry(message)


def received_at(entry_id: bytes, now: float) -> float:
    """Return when Redis received an entry, from its id; a made-up id cannot lie in the future."""
    milliseconds, _, _ = entry_id.partition(b"-")
    return min(int(milliseconds) / 1000, now)
