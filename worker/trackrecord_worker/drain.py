"""Draining the stream: read a batch, learn it in one transaction, only then acknowledge.

A crash at any point leads to a redelivery that changes nothing twice: committed outcomes are
recognised by their outcome_id, and the others were never acknowledged.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from trackrecord.errors import ServerUnavailable, StoreUnavailable
from trackrecord.fleet_counts import Counts, batch_counts
from trackrecord.redis_problems import is_out_of_memory
from trackrecord.settings import Settings
from trackrecord.store.database.engine import writing
from trackrecord.store.intake.amending import MOST_ENTRIES
from trackrecord.store.intake.intake import Learnt, learn
from trackrecord.store.patterns.transitions import Transition
from trackrecord.wire.outcome_scorer import OutcomeScorer

from .background_stream import BackgroundStream
from .batch_size import BatchSize
from .error_entries import ErrorRecorder
from .exposure_entries import record_arrived
from .feedback_entries import count_arrived
from .memory_entries import remember_arrived
from .outage import DatabaseOutage
from .recall_entries import recall_arrived
from .refresh import RankingsRefresher
from .spans import Spans
from .store_probe import try_store
from .stream import OutcomeStream
from .stream_entries import Arrived, ArrivedError, Entry, RefusedEntry, sort_arrivals

_log = structlog.get_logger(__name__)

# Beyond this many full batches in the stream, another process is woken to help.
_LONG_BACKLOG_BATCHES = 4
# A client that waits longer for a response considers the server hung.
_LONGEST_BLOCK_S = 10.0
_REFUSED = "the database refuses it"
_NO_ROOM = f"the outcome is put together from {MOST_ENTRIES} other entries, which is the most"


@dataclass
class Drained:
    """The counts of one drain.

    Attributes:
        recorded: outcomes that were new.
        amended: entries that changed the record of an outcome.
        duplicates: entries that added nothing to what was recorded already.
        memories: memories that were stored now or before.
        exposures: exposures that were recorded now or before.
        recalls: entries that say which memories were handed out.
        feedback: feedback that was counted now or before.
        errors: reports on tasks in flight that were recorded now or before.
        forgotten: entries about outcomes that a person has forgotten.
        refused: entries that became dead letters.
        batches: batches that were read.
    """

    recorded: int = 0
    amended: int = 0
    duplicates: int = 0
    memories: int = 0
    exposures: int = 0
    recalls: int = 0
    feedback: int = 0
    errors: int = 0
    forgotten: int = 0
    refused: int = 0
    batches: int = 0

    def add(self, other: "Drained") -> None:
        """Add the counts of another drain."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def counts(self, seconds: float) -> Counts:
        """Return what the fleet counts with a batch that took some seconds."""
        return batch_counts(
            seconds,
            {
                "recorded": self.recorded,
                "amended": self.amended,
                "duplicates": self.duplicates,
                "memories": self.memories,
                "exposures": self.exposures,
                "recalls": self.recalls,
                "feedback": self.feedback,
                "errors": self.errors,
                "forgotten": self.forgotten,
            },
        )

    def log(self) -> None:
        """Log the counts in one short line, unless there was nothing to learn."""
        if self.batches:
            _log.info("learnt", **{name: count for name, count in asdict(self).items() if count})


class Drain:
    """Learn from the stream.

    Args:
        stream: the stream to read and acknowledge.
        engine: the store.
        outage: this process's state towards the database.
        settings: sizes, times and rules.
        scorer: scores outcomes.
        refresher: refreshes the rankings of changed projects.
        errors: records the errors of tasks in flight.
        spans: tells a collector of each batch.
        wake_another: called once in a drain that finds a long backlog.
    """

    def __init__(
        self,
        stream: OutcomeStream,
        engine: Engine,
        outage: DatabaseOutage,
        settings: Settings,
        scorer: OutcomeScorer,
        *,
        refresher: RankingsRefresher,
        errors: ErrorRecorder,
        spans: Spans,
        wake_another: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._size = BatchSize(settings.batch_size, settings.batch_bytes, settings.max_body_bytes)
        self._background = BackgroundStream(stream, self._size)
        self._engine = engine
        self._outage = outage
        self._settings = settings
        self._scorer = scorer
        self._refresher = refresher
        self._errors = errors
        self._spans = spans
        self._wake_another = wake_another
        self._rules = settings.rules
        self._held: set[bytes] = set()

    def run(self) -> Drained:
        """Work batch by batch until the stream stays empty or the time slice is over."""
        done = Drained()
        if self._outage.is_pausing:
            return done
        self._held.clear()
        self._stream.ensure_group()
        deadline = time.monotonic() + self._settings.drain_slice_s
        try:
            if self._learn_own_pending(done):
                self._learn_new(done, deadline)
                # Read ahead when the slice ended, or when the database failed: in the latter case
                # it stays pending, and is read again with the rest.
                last = self._background.last_batch()
                if last and not self._outage.is_pausing:
                    self.learn_entries(last, done)
                self._refresher.flush()
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

    def _learn_new(self, done: Drained, deadline: float) -> None:
        has_woken = False
        while (left := deadline - time.monotonic()) > 0:
            refresh_in = self._refresher.next_refresh_in()
            block_s = self._settings.drain_block_s if refresh_in is None else refresh_in
            block_s = min(block_s, left, _LONGEST_BLOCK_S)
            entries = self._background.next_batch(block_s)
            if entries:
                if not self.learn_entries(entries, done):
                    return
                if not has_woken and self._background.has_more:
                    has_woken = self._wake_if_long_backlog()
            elif refresh_in is None:
                return
            else:
                self._refresher.flush()

    def take_over(self) -> Drained:
        """Learn the entries that silent workers left pending."""
        done = Drained()
        if self._outage.is_pausing:
            return done
        self._stream.ensure_group()
        batches = self._stream.take_over(self._settings.claim_idle_s, self._size.next)
        for entries in batches:
            _log.warning("claimed", entries=len(entries))
            if not self.learn_entries(entries, done):
                break
            self._background.settle()
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
        arrivals = sort_arrivals(
            entries,
            self._scorer,
            max_body_bytes=self._settings.max_body_bytes,
            now=time.time(),
        )
        refused_by_store: list[RefusedEntry] = []
        learnt: list[Learnt] = []
        remembered: set[str] = set()
        memories = 0
        try:
            # First: an outcome of the same batch may have used one of them.
            if arrivals.memories:
                remembered, refused_by_store = remember_arrived(
                    self._engine, arrivals.memories, self._settings.memories
                )
                memories = len(arrivals.memories) - len(refused_by_store)
            record_arrived(self._engine, arrivals.exposures)
            recall_arrived(
                self._engine, arrivals.exposures, arrivals.recalls, self._settings.memories
            )
            if arrivals.arrived:
                self._learn(arrivals.arrived, learnt, refused_by_store)
            # Last: an outcome of the same batch may be the first to name the pattern.
            told, changes = count_arrived(
                self._engine, arrivals.feedback, self._rules, now=time.time()
            )
            remembered |= told
            _log_changes(changes)
        except StoreUnavailable as error:
            # The learnt part is committed and will be recognised; all of it stays pending.
            self._spans.note("learn batch", started, failed="database", entries=len(entries))
            self._outage.begin(str(error))
            return False
        self._outage.end()
        without_room = self._record_errors(arrivals.errors)
        refused = arrivals.refused + refused_by_store + without_room
        gone = {each.entry_id for each in refused} | self._held
        batch = Drained(
            recorded=sum(each.recorded for each in learnt),
            amended=sum(each.amended for each in learnt),
            duplicates=sum(each.duplicates for each in learnt),
            memories=memories,
            exposures=len(arrivals.exposures),
            recalls=len(arrivals.recalls),
            feedback=len(arrivals.feedback),
            errors=len(arrivals.errors) - len(without_room),
            forgotten=sum(each.forgotten for each in learnt),
            refused=len(refused),
            batches=1,
        )
        self._background.acknowledge(
            (each for each in arrivals.entry_ids if each not in gone),
            batch.counts(time.perf_counter() - started),
        )
        if refused:
            # Acknowledging first makes room in a Redis that is too full for dead letters.
            self._background.settle()
            self._stream.set_aside(refused)
        self._spans.note("learn batch", started, entries=len(entries), **vars(batch))
        done.add(batch)
        self._note_learnt(learnt)
        _log.debug(
            "batch_learnt",
            entries=len(entries),
            memories=memories,
            refused=len(refused),
            milliseconds=round((time.perf_counter() - started) * 1000, 1),
        )
        self._refresher.note_changes(remembered)
        return True

    def _record_errors(self, arrived: Sequence[ArrivedError]) -> list[RefusedEntry]:
        """Record errors of tasks in flight; leave them pending while Redis's memory is full.

        The other entries of the batch are acknowledged, which makes room.
        """
        try:
            return self._errors.record(arrived)
        except ServerUnavailable as error:
            if not is_out_of_memory(error.__cause__):
                raise
            self._held.update(each.entry_id for each in arrived)
            return []

    def _learn(
        self, arrived: Sequence[Arrived], learnt: list[Learnt], refused_by_store: list[RefusedEntry]
    ) -> None:
        """Learn outcomes in one transaction; refuse those that the database cannot take."""
        try:
            with writing(self._engine) as connection:
                result = learn(
                    connection,
                    [each.outcome for each in arrived],
                    self._rules,
                    now=time.time(),
                )
            learnt.append(result)
            refused_by_store += _without_room(arrived, result)
        except SQLAlchemyError as error:
            if len(arrived) == 1:
                if not any(each.reason.startswith(_REFUSED) for each in refused_by_store):
                    # Before blaming the first one: does the database accept any?
                    try_store(self._engine, self._rules, self._scorer)
                reason = f"{_REFUSED} ({type(error).__name__})"
                refused_by_store.append(_refused_by_database(arrived[0], reason))
                return
            # One outcome must not hold up the others: halve until it stands alone.
            middle = len(arrived) // 2
            self._learn(arrived[:middle], learnt, refused_by_store)
            self._learn(arrived[middle:], learnt, refused_by_store)

    def _note_learnt(self, learnt: Sequence[Learnt]) -> None:
        changed = frozenset[str]().union(*(each.projects for each in learnt))
        for each in learnt:
            _log_changes(each.transitions)
        self._refresher.note_changes(changed)


def _log_changes(changes: Iterable[Transition]) -> None:
    for change in changes:
        _log.info(
            # Without its name: that would outlast `forget` here.
            "pattern_changed",
            aspect=change.aspect,
            before=change.before,
            after=change.after,
        )


def _refused_by_database(arrived: Arrived, reason: str) -> RefusedEntry:
    return RefusedEntry(arrived.entry_id, arrived.fields, reason, "refused_by_database")


def _without_room(arrived: Sequence[Arrived], learnt: Learnt) -> list[RefusedEntry]:
    """Return the entries that the store had no room for."""
    if not learnt.refused:
        return []
    refused = {id(outcome) for outcome in learnt.refused}
    return [
        RefusedEntry(each.entry_id, each.fields, _NO_ROOM, "no_room")
        for each in arrived
        if id(each.outcome) in refused
    ]
