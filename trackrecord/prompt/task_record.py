"""The record of a past task, as it is found at prompt time."""

from array import array
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec

from trackrecord.learning.advice.task_finding import LONGEST_TOLD, MOST_TERMS, Question, terms_of

from .document import RankedTask

_MOST_STEPS: Final = 9
_LONGEST_STEP: Final = 48
_LONGEST_ENDING: Final = 160


class TaskRecord(msgspec.Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A past task.

    Attributes:
        id: the outcome that says how it ended.
        task_id: the task.
        text: the beginning of its instruction.
        success: whether it reached its goal.
        verdict: what its score stands for; "" if it has none.
        ended_at: when it ended, seconds since the epoch.
        steps: of a success, the beginning of its tools in their order.
        ending: of a failure, the template of its last error, or how it failed; "" if unknown.
        terms: the terms of its instruction: unsigned 32-bit integers.
    """

    id: str
    task_id: str
    text: str
    success: bool
    verdict: str
    ended_at: float
    steps: tuple[str, ...] = ()
    ending: str = ""
    terms: bytes = b""


class FoundTask(NamedTuple):
    """A past task that a task is similar to.

    Attributes:
        record: the past task.
        similarity: how similar, 0..1.
    """

    record: TaskRecord
    similarity: float


_decoder = msgspec.msgpack.Decoder(TaskRecord)
_encoder = msgspec.msgpack.Encoder()


def encode_record(record: TaskRecord) -> bytes:
    """Return the record as it is cached."""
    return _encoder.encode(record)


def decode_record(data: bytes) -> TaskRecord:
    """Return the record from the cache.

    Raises:
        msgspec.DecodeError: it was written by another version.
    """
    return _decoder.decode(data)


def record_of(
    *,
    id: str,  # noqa: A002 - the name of the field
    task_id: str,
    instruction: str,
    success: bool,
    verdict: str | None,
    ended_at: float,
    steps: Iterable[str] = (),
    ending: str = "",
) -> TaskRecord:
    """Return the record of a task, with only the beginning of whatever may be long."""
    named = [step[:_LONGEST_STEP] for step in steps]
    return TaskRecord(
        id=id,
        task_id=task_id,
        text=" ".join(instruction.split())[:LONGEST_TOLD],
        success=success,
        verdict=verdict or "",
        ended_at=ended_at,
        steps=tuple(named[:_MOST_STEPS]),
        ending=ending[:_LONGEST_ENDING],
        terms=_packed_terms(instruction),
    )


def records_of_ranked(tasks: Iterable[RankedTask]) -> list[TaskRecord]:
    """Return the records of past tasks that rankings hold."""
    return [_record_of_ranked(each) for each in tasks]


# The newest past tasks are the same for one prompt after another.
@lru_cache(maxsize=1024)
def _packed_terms(instruction: str) -> bytes:
    return array("I", terms_of(instruction, MOST_TERMS)).tobytes()


def _record_of_ranked(task: RankedTask) -> TaskRecord:
    return record_of(
        id=task.id,
        task_id=task.task_id,
        instruction=task.text,
        success=task.success,
        verdict=task.verdict,
        ended_at=task.ended_at,
    )


def best_of(
    records: Iterable[TaskRecord], question: Question, *, least: float
) -> tuple[FoundTask, ...]:
    """Return the records that are similar enough, the most similar first, then the last to end.

    Args:
        records: of two of the same outcome the first one counts.
        question: what they are compared with.
        least: the least similarity.
    """
    found: dict[str, FoundTask] = {}
    for record in records:
        similarity = question.similarity(array("I", record.terms))
        if similarity >= least:
            found.setdefault(record.id, FoundTask(record, similarity))
    return tuple(sorted(found.values(), key=_best_first))


def _best_first(found: FoundTask) -> tuple[float, float, str]:
    return -found.similarity, -found.record.ended_at, found.record.id
