"""Joining the entries of several sources, or later evidence, on one outcome into one record.

Pure, and a function of the set of entries: neither their order nor how often each is given makes a
difference. The outcome belongs to the speaker whose entry told of the run first. The verdict comes
from the entry with the best evidence, everything else from the owner's entry that tells most of the
run; what that one lacks comes from the next. Where several captured the run, what its calls prove
is taken from the one that has most of them, and from the last reading of that one. Of what a
repository says of commits the last word counts. Others give verdicts only, and none that outranks
the owner's tests: `amended_by` names them.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from typing import Final, NamedTuple

import msgspec

from trackrecord.learning.numbers.speaker_names import PERSON

from .outcome import MAX_COMMITS, Outcome, decode_stored

# With the digest, 128 characters.
_LONGEST_ID_KEPT: Final = 115
# How a verdict is known, the strongest evidence first.
EVIDENCE: Final = {"evaluator": 4, "explicit": 3, "tests": 2, "heuristic": 1}
# The same, from neither the owner nor a person: below the owner's tests.
_OF_OTHERS: Final = {"evaluator": 1.4, "explicit": 1.3, "tests": 1.2, "heuristic": 0.5}
# Evidence that is found in the calls of a run.
_OF_CALLS: Final = frozenset({"tests", "heuristic"})
_DETAIL: Final = {"transcript": 4, "plugin": 3, "hooks": 2, "traces": 1, "repository": 0, None: 0}
# It tells of commits, which may come back: of several entries the last says all.
_REPOSITORY: Final = "repository"

# How many of a speaker's last words are kept to be told, whatever came later.
_WORDS_KEPT: Final = 20

# What belongs to the verdict; the rest of an entry tells of the run.
_GROUNDS: Final[tuple[str, ...]] = ("success", "outcome_source", "grounds")
_OF_FAILURE: Final = ("failure_mode", "failure_details")
# What an entry that amends a verdict has, too.
_OF_ANY: Final = (
    "outcome_id", "project", "task_id", "bead_id", "timestamp", "source", "reporter",
    "captured_from", "commits", "metadata", "judged_by", "amended_by", "thinned",
)  # fmt: skip
_APART: Final = frozenset(
    (*_GROUNDS, *_OF_FAILURE, "criteria", "task_id", "bead_id", "timestamp", "captured_from",
     "commits", "judged_by", "amended_by")
)  # fmt: skip
# What a recording tells of a run's calls, which traces do not fill in where it tells nothing.
_RECORDED: Final = frozenset(("tool_graph", "files_touched", "error_count", "process"))
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
    """The record that entries are joined into.

    Attributes:
        body: the body of the one record.
        owner: the speaker whose outcome it is.
        entries: those that something of the record comes from, and what somebody said last. The
            others can be forgotten: they would add nothing beside any further entries either.
    """

    body: bytes
    owner: str
    entries: tuple[OutcomeEntry, ...]


class _Read(NamedTuple):
    """An entry, decoded."""

    entry: OutcomeEntry
    outcome: Outcome
    fields: dict[str, msgspec.Raw]
    digest: bytes
    speaker: str

    @property
    def moment(self) -> float:
        return self.outcome.ended_at(self.entry.received_at)


_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


def join(entries: Iterable[OutcomeEntry]) -> Joined:
    """Join the entries of one outcome.

    Args:
        entries: valid ones, at least one.
    """
    read = _standing([_read(each) for each in _distinct(entries)])
    first = _first(read)
    owner = first.speaker
    used = _Used()
    used.digests.add(first.digest)
    used.digests.update(each.digest for each in read if _is_of_repository(each))
    last = _last_readings(read)
    used.digests.update(each.digest for each in last.values())
    used.digests.update(_words(read))
    # Also what would count without the repository, which may take back what it said; and if the
    # outcome were another speaker's, which may turn out later.
    without = [each for each in read if not _is_of_repository(each)]
    for some in (read, without):
        for speaker in {owner, *(each.speaker for each in some)} - {PERSON}:
            if own := [each for each in some if each.speaker in (speaker, PERSON)]:
                _record(own, speaker, used, last)
    if any(each.speaker in (owner, PERSON) for each in without):
        _record(without, owner, used, last)
    joined = _record(read, owner, used, last)
    body = msgspec.json.encode(joined, order="deterministic")
    return Joined(body, owner, tuple(each.entry for each in read if each.digest in used.digests))


def run_speaker(entries: Iterable[OutcomeEntry]) -> str | None:
    """Return the speaker of a run's entries; None if none of them is about a run."""
    first = _first([_read(each) for each in _distinct(entries)])
    return first.speaker if _tells_of_run(first) else None


def _standing(read: Sequence[_Read]) -> Sequence[_Read]:
    """Return the entries without all but the last reading of the repository, for each speaker."""
    last: dict[str, _Read] = {}
    for each in read:
        if _is_of_repository(each):
            known = last.setdefault(each.speaker, each)
            last[each.speaker] = max(known, each, key=lambda one: (one.moment, one.digest))
    return [each for each in read if not _is_of_repository(each) or last[each.speaker] is each]


def _words(read: Iterable[_Read]) -> Iterator[bytes]:
    """Yield the digests of what each speaker said last, other than by a reading of the run."""
    said: defaultdict[str, list[_Read]] = defaultdict(list)
    for each in read:
        if each.outcome.captured_from is None:
            said[each.speaker].append(each)
    for words in said.values():
        words.sort(key=lambda each: (each.moment, each.digest))
        yield from (each.digest for each in words[-_WORDS_KEPT:])


def _last_readings(read: Iterable[_Read]) -> dict[tuple[str, str], _Read]:
    """Return the last reading of each recording of the run, by its speaker and what was read."""
    last: dict[tuple[str, str], _Read] = {}
    for each in read:
        if each.outcome.captured_from is not None and _tells_of_run(each):
            key = (each.speaker, each.outcome.captured_from)
            last[key] = max(last.get(key, each), each, key=_completeness)
    return last


def _read_up_to(each: _Read) -> tuple[float, int]:
    return each.moment, len(each.outcome.tool_graph or ())


def _completeness(each: _Read) -> tuple[tuple[float, int], int, bytes]:
    said = each.outcome
    rank = 0 if said.success is None else EVIDENCE[said.outcome_source]
    return _read_up_to(each), rank, each.digest


def _is_found_in_calls(each: _Read) -> bool:
    """Return whether another reading of the run could find something else."""
    said = each.outcome
    if said.captured_from is None or not _tells_of_run(each):
        return False
    return said.success is None or said.outcome_source in _OF_CALLS


def _is_outdated(each: _Read, last: Mapping[tuple[str, str], _Read]) -> bool:
    """Return whether a verdict was found in calls of which more are known by now."""
    captured_from = each.outcome.captured_from
    if captured_from is None or not _is_found_in_calls(each):
        return False
    return _read_up_to(each) < _read_up_to(last[each.speaker, captured_from])


def _is_of_repository(each: _Read) -> bool:
    return each.outcome.captured_from == _REPOSITORY


def _first(read: Sequence[_Read]) -> _Read:
    """Return the entry of the outcome's owner: the first of a run, else the first."""
    return min(
        read, key=lambda each: (not _tells_of_run(each), each.entry.received_at, each.digest)
    )


def _tells_of_run(each: _Read) -> bool:
    return not _TELLS_NOTHING.issuperset(each.fields)


def _record(
    read: Sequence[_Read], owner: str, used: "_Used", last: Mapping[tuple[str, str], _Read]
) -> dict[str, msgspec.Raw]:
    """Return the fields of the record of an outcome of that speaker's."""
    own = [each for each in read if each.speaker in (owner, PERSON)]
    is_recorded = any(map(_is_recording, own))
    # One recording is not forgotten, because of the traces that it replaces.
    used.digests.update(sorted(each.digest for each in own if _is_recording(each))[:1])
    # Also what counts once a recording comes.
    ranked = {
        by_recording: sorted(own, key=partial(_detail, is_recorded=by_recording), reverse=True)
        for by_recording in (False, True)
    }
    details = {
        by_recording: _details(each, used, is_recorded=by_recording)
        for by_recording, each in ranked.items()
    }
    by_detail = ranked[is_recorded]
    # Also what counts once a source comes that tells more of the run, so that it is not forgotten.
    verdicts = [
        _verdict(
            sorted(read, key=partial(_evidence, owner=owner, detail=detail), reverse=True),
            owner,
            used,
            last,
        )
        for detail in range(max(_DETAIL.values()) + 1)
    ]
    best = by_detail[0]
    detail = _detail_of_calls(best.outcome, is_recording=_is_recording(best))
    joined = details[is_recorded] | verdicts[detail]
    if commits := _commits(by_detail, used):
        joined["commits"] = msgspec.Raw(msgspec.json.encode(commits))
    return joined


def digest_of_body(body: bytes) -> bytes:
    """Return the digest that decides between entries which are alike in all else."""
    return blake2b(body, digest_size=16).digest()


def speaker_of(body: bytes) -> str:
    """Return the speaker of a valid entry, see `Outcome.speaker`."""
    return decode_stored(body).speaker


def apart_id(outcome_id: str, speaker: str) -> str:
    """Return the id of a speaker's outcome where another speaker's run has the id that it gave."""
    digest = blake2b(f"{outcome_id}\0{speaker}".encode(), digest_size=6).hexdigest()
    return f"{outcome_id[:_LONGEST_ID_KEPT]}~{digest}"


def with_id(body: bytes, outcome_id: str) -> bytes:
    """Return the body of a valid entry with another id."""
    fields = _fields.decode(body) | {"outcome_id": msgspec.Raw(msgspec.json.encode(outcome_id))}
    return msgspec.json.encode(fields, order="deterministic")


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
    outcome = decode_stored(entry.body)
    if outcome.thinned is None:
        digest = digest_of_body(entry.body)
    else:
        digest = bytes.fromhex(outcome.thinned)
    return _Read(entry, outcome, fields, digest, outcome.speaker)


def _evidence(each: _Read, owner: str, detail: int) -> tuple[float, float, bytes]:
    """Return what verdicts are ranked by: the evidence, then the later one.

    Args:
        each: the entry.
        owner: the speaker whose outcome it is.
        detail: how much is known of the calls of the run. What was found in fewer of them does not
            count: a trace may have lost the last edit, and that its tests had passed proves nothing
            then. What somebody said of the run, or scored, does not depend on its calls.
    """
    said = each.outcome
    weights = EVIDENCE if each.speaker in (owner, PERSON) else _OF_OTHERS
    rank: float = weights[said.outcome_source] if said.success is not None else 0
    if said.captured_from == _REPOSITORY and said.success is None:
        # It only takes back what was said of the commits.
        return -2, each.moment, each.digest
    if said.captured_from and (said.success is None or said.outcome_source in _OF_CALLS):
        rank = rank if _DETAIL[said.captured_from] >= detail else -1
    return rank, each.moment, each.digest


def _detail_of_calls(best: Outcome, *, is_recording: bool) -> int:
    """Return how much detail the calls of a run have, by its most detailed entry."""
    is_known = bool(best.tool_graph) or is_recording
    return _DETAIL[best.captured_from] if is_known else 0


def _is_recording(each: _Read) -> bool:
    """Return whether an entry is the agent's own recording of the run: all its calls are there."""
    return each.outcome.captured_from == "transcript" and _tells_of_run(each)


def _detail(each: _Read, *, is_recorded: bool) -> tuple[bool, bool, int, bool, int, float, bytes]:
    """Return the rank of an entry by how much detail of the run it has.

    A recording without calls is of a run without calls, whatever a trace may say.
    What was captured is read again and again while the run goes on, so that the later one is the
    better one; of all others the earlier one is: what came later amends it.
    """
    calls = len(each.outcome.tool_graph or ())
    source = each.outcome.captured_from
    moment = each.moment if source else -each.moment
    is_replaced = is_recorded and source == "traces"
    tells = _tells_of_run(each)
    return not is_replaced, calls > 0, _DETAIL[source], tells, calls, moment, each.digest


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


def _details(ranked: Sequence[_Read], used: _Used, *, is_recorded: bool) -> dict[str, msgspec.Raw]:
    best = ranked[0]
    used.digests.add(best.digest)
    names = {name for each in ranked for name in each.fields} - _APART
    joined: dict[str, msgspec.Raw] = {}
    recorded = [each for each in ranked if each.outcome.captured_from != "traces"]
    for name in sorted(names):
        joined |= used.first(recorded if is_recorded and name in _RECORDED else ranked, name)
    joined |= used.first(ranked[:1], "captured_from")
    joined["task_id"] = msgspec.Raw(msgspec.json.encode(best.outcome.task_id))
    # Written out: whoever receives the record later must not move the end of the task.
    joined["timestamp"] = msgspec.Raw(msgspec.json.encode(best.moment))
    return joined


def _verdict(
    ranked: Sequence[_Read], owner: str, used: _Used, last: Mapping[tuple[str, str], _Read]
) -> dict[str, msgspec.Raw]:
    current = [each for each in ranked if not _is_outdated(each, last)]
    best = current[0]
    own = (owner, PERSON)
    # What counts once a further reading finds something else, so that it is not forgotten.
    lasting = (each.digest for each in current if not _is_found_in_calls(each))
    used.digests.update(itertools.islice(lasting, 1))
    its_own = [each for each in ranked if each.speaker in own]
    used.first(its_own, "criteria")
    for name in _OF_FAILURE:
        used.first([each for each in its_own if each.outcome.success is False], name)
    joined: dict[str, msgspec.Raw] = {}
    for name in (*_GROUNDS, "judged_by"):
        joined |= used.first([best], name)
    if best.speaker not in own:
        joined["amended_by"] = msgspec.Raw(msgspec.json.encode(best.speaker))
    # What others say counts where their verdict does.
    heard = [each for each in ranked if each is best or each.speaker in own]
    joined |= used.first(heard, "criteria")
    # Taken whatever the verdict is, because a later one may be a failure again.
    failed = [each for each in heard if each.outcome.success is False]
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
