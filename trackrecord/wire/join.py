"""Joining what several sources, or later evidence, say of one outcome into one record.

Pure, and a function of the set of entries: neither their order nor how often each is given makes a
difference. The verdict comes from the entry with the best evidence, everything else from the one
that tells most of the run; what that one lacks comes from the next. Where several sources captured
the run, what its calls prove is taken from the one that has most of them.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from .outcome import MAX_COMMITS, Outcome, decode_outcome

# Each entry passed the limit of its day.
_ANY_SIZE: Final = 2**31
_EVIDENCE: Final = {"evaluator": 4, "explicit": 3, "tests": 2, "heuristic": 1}
# Evidence that is found in the calls of a run.
_OF_CALLS: Final = frozenset({"tests", "heuristic"})
_DETAIL: Final = {"transcript": 4, "plugin": 3, "hooks": 2, "traces": 1, None: 0}

# What belongs to the verdict; the rest of an entry tells of the run.
_GROUNDS: Final[tuple[str, ...]] = ("success", "outcome_source", "grounds")
_OF_FAILURE: Final = ("failure_mode", "failure_details")
# What an entry that amends a verdict has, too.
_OF_ANY: Final = (
    "outcome_id", "project", "task_id", "bead_id", "timestamp", "source", "captured_from",
    "commits", "metadata",
)  # fmt: skip
_APART: Final = frozenset(
    (*_GROUNDS, *_OF_FAILURE, "criteria", "task_id", "bead_id", "timestamp", "captured_from",
     "commits")
)  # fmt: skip
_TELLS_NOTHING: Final = frozenset((*_GROUNDS, *_OF_FAILURE, "criteria", *_OF_ANY))


class OutcomeEntry(NamedTuple):
    """One entry about an outcome.

    Attributes:
        body: its body, as it came.
        received_at: when it was received, seconds since the epoch.
    """

    body: bytes
    received_at: float


class Joined(NamedTuple):
    """What entries come to.

    Attributes:
        body: the body of the one record.
        entries: those that something of the record comes from. The others can be forgotten: they
            would add nothing beside any further entries either.
    """

    body: bytes
    entries: tuple[OutcomeEntry, ...]


class _Read(NamedTuple):
    """An entry, decoded."""

    entry: OutcomeEntry
    outcome: Outcome
    fields: dict[str, msgspec.Raw]
    digest: bytes

    @property
    def moment(self) -> float:
        return self.outcome.ended_at(self.entry.received_at)


_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


def join(entries: Iterable[OutcomeEntry]) -> Joined:
    """Join the entries of one outcome.

    Args:
        entries: valid ones, at least one.
    """
    read = [_read(each) for each in _distinct(entries)]
    by_detail = sorted(read, key=_detail, reverse=True)
    used = _Used()
    # Also what counts once a source comes that tells more of the run, so that it is not forgotten.
    verdicts = [
        _verdict(sorted(read, key=partial(_evidence, detail=detail), reverse=True), used)
        for detail in range(max(_DETAIL.values()) + 1)
    ]
    joined = _details(by_detail, used) | verdicts[_detail_of_calls(by_detail[0].outcome)]
    if commits := _commits(by_detail, used):
        joined["commits"] = msgspec.Raw(msgspec.json.encode(commits))
    body = msgspec.json.encode(joined, order="deterministic")
    return Joined(body, tuple(each.entry for each in read if each.digest in used.digests))


def _distinct(entries: Iterable[OutcomeEntry]) -> Sequence[OutcomeEntry]:
    """Return each body once, as it was received first, in a fixed order."""
    first: dict[bytes, float] = {}
    for body, received_at in entries:
        first[body] = min(received_at, first.get(body, received_at))
    return [OutcomeEntry(body, first[body]) for body in sorted(first)]


def _read(entry: OutcomeEntry) -> _Read:
    fields = {
        name: raw
        for name, raw in _fields.decode(entry.body).items()
        # A null stands for "not given".
        if name == "success" or bytes(raw) != b"null"
    }
    outcome = decode_outcome(entry.body, max_bytes=_ANY_SIZE)
    return _Read(entry, outcome, fields, blake2b(entry.body, digest_size=16).digest())


def _evidence(each: _Read, detail: int) -> tuple[int, float, bytes]:
    """Return what verdicts are ranked by: the evidence, then the later one.

    Args:
        each: the entry.
        detail: how much is known of the calls of the run. What was found in fewer of them does not
            count: a trace may have lost the last edit, and that its tests had passed proves nothing
            then. What somebody said of the run, or scored, does not depend on its calls.
    """
    said = each.outcome
    rank = _EVIDENCE[said.outcome_source] if said.success is not None else 0
    if said.captured_from and (said.success is None or said.outcome_source in _OF_CALLS):
        rank = rank if _DETAIL[said.captured_from] >= detail else -1
    return rank, each.moment, each.digest


def _detail_of_calls(best: Outcome) -> int:
    """Return how much is known of the calls of a run, by the entry that tells most of it."""
    return _DETAIL[best.captured_from] if best.tool_graph else 0


def _detail(each: _Read) -> tuple[bool, int, bool, int, float, bytes]:
    """Return what entries are ranked by for how much they tell of the run.

    What was captured is read again and again while the run goes on, so that the later one is the
    better one; of all others the earlier one is: what came later amends it.
    """
    calls = len(each.outcome.tool_graph or ())
    source = each.outcome.captured_from
    tells = not _TELLS_NOTHING.issuperset(each.fields)
    moment = each.moment if source else -each.moment
    return calls > 0, _DETAIL[source], tells, calls, moment, each.digest


class _Used:
    """The entries that something was taken from."""

    def __init__(self) -> None:
        self.digests: set[bytes] = set()

    def take(self, each: _Read, name: str) -> msgspec.Raw:
        self.digests.add(each.digest)
        return each.fields[name]

    def first(self, ranked: Iterable[_Read], name: str) -> dict[str, msgspec.Raw]:
        """Take a field from the first entry that has it."""
        found = next((each for each in ranked if name in each.fields), None)
        return {} if found is None else {name: self.take(found, name)}


def _details(ranked: Sequence[_Read], used: _Used) -> dict[str, msgspec.Raw]:
    best = ranked[0]
    used.digests.add(best.digest)
    names = {name for each in ranked for name in each.fields} - _APART
    joined: dict[str, msgspec.Raw] = {}
    for name in sorted(names):
        joined |= used.first(ranked, name)
    joined |= used.first(ranked[:1], "captured_from")
    joined["task_id"] = msgspec.Raw(msgspec.json.encode(best.outcome.task_id))
    # Written out: whoever receives the record later must not move the end of the task.
    joined["timestamp"] = msgspec.Raw(msgspec.json.encode(best.moment))
    return joined


def _verdict(ranked: Sequence[_Read], used: _Used) -> dict[str, msgspec.Raw]:
    best = ranked[0]
    joined: dict[str, msgspec.Raw] = {}
    for name in _GROUNDS:
        joined |= used.first([best], name)
    joined |= used.first(ranked, "criteria")
    # Taken whatever the verdict is, because a later one may be a failure again.
    failed = [each for each in ranked if each.outcome.success is False]
    how: dict[str, msgspec.Raw] = {}
    for name in _OF_FAILURE:
        how |= used.first(failed, name)
    return joined | how if best.outcome.success is False else joined


def _commits(ranked: Sequence[_Read], used: _Used) -> list[str]:
    named: dict[str, _Read] = {}
    for each in ranked:
        for commit in each.outcome.commits or ():
            named.setdefault(commit, each)
    kept = sorted(named)[:MAX_COMMITS]
    used.digests.update(named[commit].digest for commit in kept)
    return kept
