"""Draining the stream: read a batch, learn it in one transaction, only then acknowledge.

A crash at any point leads to a redelivery that changes nothing twice: committed outcomes are
recognised by their outcome_id, and the others were never acknowledged.

Work with Redis while SQL runs: read the next batch, acknowledge the last one.

Redis needs a third of the time that a batch takes. Entries that were read ahead and not learnt
are pending like any other; those learnt but not yet acknowledged are recognised when they come
again.
"""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from trackrecord.errors import InvalidEntry, StoreUnavailable
from trackrecord.redis.fleet_counts import RESULTS, Counts, batch_counts
from trackrecord.redis.keys import split_mark
from trackrecord.redis.signs_of_life import SignOfLife
from trackrecord.wire.kinds import KINDS, MARK
from trackrecord.wire.outcome import MAX_BODY_BYTES, WIRE_VERSION
from trackrecord.wire.redacted_body import redacted_body
from trackrecord.wire.storable import storable

from ..caching.refresh import RankingsRefresher
from .entries import (
    DecodedEntry,
    Entry,
    EntryKind,
    IntakeContext,
    IntakeResult,
    ReceivedEntry,
    RefusedEntry,
)
from .outage import DatabaseOutage
from .outcome_entries import OUTCOME
from .report_entries import ERROR, EXPOSURE, FEEDBACK, HINT, MEMORY, RECALL
from .stream import OutcomeStream

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


# How fast a batch may grow: outcomes may suddenly be larger than those before.
_GROWTH = 4


class BatchSize:
    """Choose the size of the next batch by the size of the outcomes in the last one.

    Redis can be asked for a number of entries, not of bytes. The first batch is small enough
    whatever it holds.

    Args:
        most: maximum number of entries in a batch.
        most_bytes: target total size of the bodies in one batch, in bytes.
        largest_body: the size of the largest body, in bytes.

    Attributes:
        next: the number of entries that the next batch should hold.
    """

    def __init__(self, most: int, most_bytes: int, largest_body: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self.next = self._within(most_bytes // largest_body)

    def note(self, entries: Sequence[Entry]) -> None:
        """Take account of the batch that was just read."""
        if not entries:
            return
        size = sum(len(fields.get(b"body", b"")) for _, fields in entries if fields)
        fitting = self._most_bytes * len(entries) // max(1, size)
        self.next = self._within(min(fitting, self.next * _GROWTH))

    def _within(self, count: int) -> int:
        return max(1, min(self._most, count))


class BackgroundStream:
    """Read batches of a stream, one ahead while there is a backlog, and acknowledge them.

    A thread of its own does all of it, in the order of the calls.

    Args:
        stream: where entries are read and acknowledged.
        size: how many entries a batch holds.
    """

    def __init__(self, stream: OutcomeStream, size: BatchSize) -> None:
        self._stream = stream
        self._size = size
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="stream")
        self._ahead: Future[list[Entry]] | None = None
        # Whether what is read ahead waits for its first entry.
        self._is_waiting = False
        self._asked = 0
        self._acknowledging: list[Future[None]] = []

    @property
    def has_more(self) -> bool:
        """Return whether the last batch was full, so that another one is being read."""
        return self._ahead is not None

    def next_batch(self, block_s: float, *, wait_s: float | None = None) -> list[Entry]:
        """Return the next batch; wait for the first entry if the stream is empty.

        Args:
            block_s: for how long Redis waits for it. Redis looks at the time a few times a second
                only, so that this ends late.
            wait_s: after how long this returns without any, while Redis waits on.
        """
        entries = [] if self._is_waiting else self.last_batch()
        if not entries and not self._is_waiting:
            self._asked = self._size.next
            if wait_s:
                self._is_waiting = True
                self._ahead = self._thread.submit(self._stream.read_new, self._asked, block_s)
            else:
                entries = self._stream.read_new(self._asked, block_s if wait_s is None else None)
        if self._is_waiting:
            assert self._ahead is not None  # noqa: S101 - it is what waits
            if not wait([self._ahead], wait_s).done:
                return []
            entries = self.last_batch()
        is_full = len(entries) == self._asked
        self._size.note(entries)
        if is_full:
            self._asked = self._size.next
            self._ahead = self._thread.submit(self._stream.read_new, self._asked, None)
        return entries

    def last_batch(self) -> list[Entry]:
        """Return the batch that was read ahead, before the process ends."""
        self._is_waiting = False
        ahead, self._ahead = self._ahead, None
        return ahead.result() if ahead is not None else []

    def acknowledge(self, entry_ids: Iterable[bytes], counts: Counts) -> None:
        """Remove learnt entries soon, and count them; `settle` waits for the result."""
        acknowledged = self._thread.submit(self._stream.acknowledge, list(entry_ids), counts)
        self._acknowledging.append(acknowledged)

    def settle(self) -> None:
        """Wait until all learnt entries are acknowledged.

        Raises:
            redis.RedisError: Redis refused; entries that it still holds are recognised when they
            come
                again.
        """
        acknowledging, self._acknowledging = self._acknowledging, []
        for each in acknowledging:
            each.result()


# Beyond this many full batches in the stream, another process is woken to help.
_LONG_BACKLOG_BATCHES = 4
# The bodies of one transaction, as far as it can be helped.
_BATCH_BYTES: Final = 64 * MAX_BODY_BYTES
# New outcomes do not wait longer than this for the rankings of many other projects.
_REFRESH_AT_ONCE_S = 0.25
# A worker that is to end does not wait longer than this for outcomes.
_LONGEST_BLOCK_S = 2.5
# An answer of Redis may get lost, and with it what this process does not know that it has read.
_SETTLED_S = 10.0
_COUNTS: Final = (*RESULTS, "refused", "batches")


class Drained(Counter[str]):
    """The counts of one drain.

    Entries are counted under `RESULTS`, those that became dead letters as "refused", and the
    batches that were read as "batches".
    """

    def log(self) -> None:
        """Log the counts in one short line, unless there was nothing to learn."""
        if self["batches"]:
            _log.info("learnt", **{name: self[name] for name in _COUNTS if self[name]})


class Drain:
    """Learn from the stream.

    Args:
        stream: the stream to read and acknowledge.
        context: the servers and rules that entries are learnt with.
        outage: this process's state towards the database.
        refresher: refreshes the rankings of changed projects.
        sign_of_life: given while this process has its turn at the stream.
        is_stopping: whether this process is to end.
        wake_another: called once in a drain that finds a long backlog.
        learning: held while a batch is learnt, by one thread of the process at a time.
    """

    def __init__(
        self,
        stream: OutcomeStream,
        context: IntakeContext,
        *,
        outage: DatabaseOutage,
        refresher: RankingsRefresher,
        sign_of_life: SignOfLife,
        is_stopping: Callable[[], bool],
        wake_another: Callable[[], None],
        learning: AbstractContextManager[bool],
    ) -> None:
        settings = context.settings
        self._stream = stream
        self._context = context
        self._size = BatchSize(settings.batch_size, _BATCH_BYTES, settings.max_body_bytes)
        self._background = BackgroundStream(stream, self._size)
        self._outage = outage
        self._settings = settings
        self._refresher = refresher
        self._sign_of_life = sign_of_life
        self._is_stopping = is_stopping
        self._wake_another = wake_another
        self._learning = learning
        self._held: set[bytes] = set()
        # Until when there is a group, and nothing that this process has read and not learnt.
        self._settled_until = 0.0

    def run(self) -> Drained:
        """Work batch by batch until the stream stays empty or the time slice is over."""
        done = Drained()
        if self._outage.is_pausing:
            return done
        self._held.clear()
        was_settled, self._settled_until = time.monotonic() < self._settled_until, 0.0
        if not was_settled:
            self._stream.ensure_group()
        deadline = time.monotonic() + self._settings.drain_slice_s
        try:
            if was_settled or self._learn_own_pending(done):
                is_settled = self._learn_new(done, deadline)
                # Read ahead when the slice ended, or when the database failed: in the latter case
                # it stays pending, and is read again with the rest.
                last = self._background.last_batch()
                if last:
                    is_settled = not self._outage.is_pausing and self.learn_entries(last, done)
                self._background.settle()
                # Where more is waiting, the drain that learns it goes on with the rankings, too.
                if self._refresher.next_refresh_in() is not None and not self._stream.length():
                    self._refresher.flush()
                if is_settled and not self._held:
                    self._settled_until = time.monotonic() + _SETTLED_S
        finally:
            self._background.settle()
            done.log()
        return done

    def _learn_own_pending(self, done: Drained) -> bool:
        """Learn entries that this process read before; False while the database is away."""
        while entries := self._stream.read_own_pending(self._size.next):
            if self._held.issuperset(entry_id for entry_id, _ in entries):
                return True
            self._size.note(entries)
            if not self.learn_entries(entries, done):
                return False
            self._background.settle()  # else they would be read once more
        return True

    def _learn_new(self, done: Drained, deadline: float) -> bool:
        """Learn unread entries; return whether all that were read could be learnt."""
        has_woken = False
        idle_from = time.monotonic()
        while (left := deadline - time.monotonic()) > 0 and not self._is_stopping():
            self._sign_of_life.give(drains=True)
            refresh_in = self._refresher.next_refresh_in()
            block_s = min(self._settings.drain_block_s, left, _LONGEST_BLOCK_S)
            entries = self._background.next_batch(block_s, wait_s=refresh_in)
            if entries:
                idle_from = time.monotonic()
                if not self.learn_entries(entries, done):
                    return False
                if not has_woken and self._background.has_more:
                    has_woken = self._wake_if_long_backlog()
            elif refresh_in is None:
                if time.monotonic() - idle_from >= self._settings.drain_block_s:
                    break
            else:
                self._refresher.flush(within_s=_REFRESH_AT_ONCE_S)
        return True

    def take_over(self) -> Drained:
        """Learn the entries that silent workers left pending."""
        done = Drained()
        if self._outage.is_pausing:
            return done
        if time.monotonic() >= self._settled_until:
            self._stream.ensure_group()
        batches = self._stream.take_over(self._settings.claim_idle_s, self._size.next)
        for entries in batches:
            _log.warning("claimed", entries=len(entries))
            # What it cannot learn is its own from now on.
            settled_until, self._settled_until = self._settled_until, 0.0
            if not self.learn_entries(entries, done):
                break
            self._background.settle()
            if not self._held:
                self._settled_until = settled_until
        self._refresher.flush()
        self._stream.forget_gone_consumers()
        self._stream.drop_excess_letters()
        done.log()
        return done

    def _wake_if_long_backlog(self) -> bool:
        if self._stream.length() < _LONG_BACKLOG_BATCHES * self._settings.batch_size:
            return False
        self._wake_another()
        return True

    def learn_entries(self, entries: Sequence[Entry], done: Drained) -> bool:
        """Learn, acknowledge and log one batch; False when the database is away."""
        started = time.perf_counter()
        decoded = decode_entries(entries, self._context, now=time.time())
        try:
            with self._learning:
                learnt = take_in(decoded, self._context)
        except StoreUnavailable as error:
            # The learnt part is committed and will be recognised; all of it stays pending.
            self._outage.begin(str(error))
            return False
        self._outage.end()
        self._held |= learnt.held
        counts = {"refused": len(learnt.refused), "batches": 1}
        batch = Drained(learnt.counts | counts)
        unfinished = {each.entry_id for each in learnt.refused} | self._held
        self._background.acknowledge(
            (each for each in decoded.entry_ids if each not in unfinished),
            batch_counts(time.perf_counter() - started, batch),
        )
        if learnt.refused:
            # Acknowledging first makes room in a Redis that is too full for dead letters.
            self._background.settle()
            self._stream.set_aside(learnt.refused)
        done.update(batch)
        self._refresher.note_changes(learnt.projects)
        _log.debug(
            "batch_learnt",
            entries=len(entries),
            memories=batch["memories"],
            refused=batch["refused"],
            milliseconds=round((time.perf_counter() - started) * 1000, 1),
        )
        return True
