"""Monotonic counters that all workers keep in Redis, for all projects together.

They count with the round trips that they make anyway, in one hash that survives restarts. A batch
whose acknowledgement is sent twice, because the connection broke, is counted twice.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, Self, get_args

from trackrecord.wire.kinds import KINDS

# Why an entry became a dead letter.
RefusedAs = Literal["invalid", "not_scored", "refused_by_database", "no_room"]
Server = Literal["database", "redis"]
Ending = Literal["finished", "failed"]

# What became of an entry of the stream; the names are those of a drain's counts.
RESULTS: Final = (
    "recorded", "amended", "duplicates",
    *(kind.counted_as for kind in KINDS.values() if kind.counted_as is not None),
    "forgotten", "too_old",
)  # fmt: skip
# Dead letters that were dropped to make room for newer ones.
LETTERS_DROPPED: Final = "letters:dropped"
# Entries that workers took out of the stream, and those that somebody else did before they could.
TAKEN: Final = "entries:taken"
LOST: Final = "entries:lost"

BATCH_BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_REASONS: Final[tuple[RefusedAs, ...]] = get_args(RefusedAs)
_SERVERS: Final[tuple[Server, ...]] = get_args(Server)
_ENDINGS: Final[tuple[Ending, ...]] = get_args(Ending)
_BATCH_US: Final = "batch_us"
_US: Final = 1_000_000

Counts = dict[str, int]
"""Fields of the hash, and how much is added to each."""


def batch_counts(seconds: float, results: Mapping[str, int]) -> Counts:
    """Return the increments for a learnt batch.

    Args:
        seconds: how long it took.
        results: how many entries ended how; those of other names are passed.
    """
    counts = {_result(name): results[name] for name in RESULTS if results[name]}
    bucket = bisect_left(BATCH_BOUNDS_S, seconds)
    return counts | {_bucket(bucket): 1, _BATCH_US: round(seconds * _US)}


def refused_count(reason: RefusedAs) -> str:
    """Return the counter of dead letters with a reason."""
    return f"refused:{reason}"


def outage_count(server: Server) -> str:
    """Return the field that counts the outages of a server."""
    return f"outages:{server}"


def consolidation_count(ending: Ending) -> str:
    """Return the field that counts the consolidations of all projects that ended in a way."""
    return f"consolidations:{ending}"


@dataclass
class Durations:
    """The distribution of the durations of one kind of work, in buckets.

    Attributes:
        bounds_s: the upper bounds of the buckets, ascending, in seconds; the last bucket has none.
        buckets: how many times fell into each bucket.
        total_s: all of it together.
    """

    bounds_s: tuple[float, ...]
    buckets: list[int] = field(default_factory=list)
    total_s: float = 0.0

    def __post_init__(self) -> None:
        self.buckets = self.buckets or [0] * (len(self.bounds_s) + 1)

    def note(self, seconds: float) -> None:
        """Count one time."""
        self.buckets[bisect_left(self.bounds_s, seconds)] += 1
        self.total_s += seconds

    def copy(self) -> Self:
        """Return these durations as of now."""
        return type(self)(self.bounds_s, list(self.buckets), self.total_s)


@dataclass(frozen=True)
class FleetCounts:
    """The counters of all workers and projects.

    Attributes:
        entries: what became of the entries that were learnt.
        refused: the entries that became dead letters, by reason.
        letters_dropped: the dead letters that were dropped to make room for newer ones.
        lost: the entries that somebody took out of the stream before workers could.
        outages: the outages of each server that workers noticed.
        consolidations: the consolidations of all projects, by how they ended.
        batches: how long batches took.
    """

    entries: dict[str, int]
    refused: dict[str, int]
    letters_dropped: int
    lost: int
    outages: dict[str, int]
    consolidations: dict[str, int]
    batches: Durations


def all_fields() -> list[str]:
    """Return every field of the hash, in the order that `counts_of` expects."""
    return list(_fields())


def counts_of(shards: list[list[bytes | None]]) -> FleetCounts:
    """Return the counts from the values of all fields in each shard; missing ones are 0."""
    found = {
        name: sum(int(value or 0) for value in values)
        for name, *values in zip(_fields(), *shards, strict=True)
    }
    buckets = [found[_bucket(number)] for number in range(len(BATCH_BOUNDS_S) + 1)]
    return FleetCounts(
        entries={name: found[_result(name)] for name in RESULTS},
        refused={name: found[refused_count(name)] for name in _REASONS},
        letters_dropped=found[LETTERS_DROPPED],
        lost=found[LOST],
        outages={name: found[outage_count(name)] for name in _SERVERS},
        consolidations={name: found[consolidation_count(name)] for name in _ENDINGS},
        batches=Durations(BATCH_BOUNDS_S, buckets, found[_BATCH_US] / _US),
    )


def _fields() -> Iterator[str]:
    yield from (_result(name) for name in RESULTS)
    yield from (refused_count(name) for name in _REASONS)
    yield from (outage_count(name) for name in _SERVERS)
    yield from (consolidation_count(name) for name in _ENDINGS)
    yield from (_bucket(number) for number in range(len(BATCH_BOUNDS_S) + 1))
    yield from (_BATCH_US, LETTERS_DROPPED, LOST)


def _result(name: str) -> str:
    return f"entries:{name}"


def _bucket(number: int) -> str:
    # By its bound, so that other bounds begin other fields.
    bound = BATCH_BOUNDS_S[number] if number < len(BATCH_BOUNDS_S) else "inf"
    return f"batch_le:{bound}"
