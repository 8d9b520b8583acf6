"""The buffer of traces, put together from the settings.

The receiver of spans and log records: kept by trace until the trace is whole, then published.

Spans come in any order and any number of batches, children before their parents, twice where an
answer was lost. A trace is published when its root has ended and nothing came for a short while, or
when nothing came for long. It is kept on for late spans: with them, the same outcome is published
again and says more.

Prompts of sessions, looked up in the agents' own recordings on this machine.

Codex's log records and opencode's spans name the session and not the prompt, and no agent's events
name the folder. Where the recording is at hand, its prompt and its folder make them the same run of
the same project as the one that is read from the recording.
"""

import contextlib
import re
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from trackrecord.errors import StoreUnfit
from trackrecord.settings.daemon_settings import DaemonSettings
from trackrecord.settings.trace_rules import TraceRules
from trackrecord_producers.publishing.publisher import Publisher

from ...history.capture_counts import CountedSinks
from ...history.reading import OutcomeOf
from ...history.sink import Sink, SpoolingSink
from ...outcome import outcome_of
from ...projects import run_projects
from ...sources.register import agent_names, agent_of
from ...sources.source import RecordedPrompt
from ...sources.tool_words import tool_words
from ..encodings.receiver import Full
from ..encodings.span import LogRecord, Span
from ..facts.fact import Fact
from ..facts.log_events import event_of
from ..facts.reading import fact_of
from ..facts.safe_facts import without_secrets
from ..facts.vocabulary import SpanKind
from ..runs.event_runs import PromptOf, no_prompt
from ..runs.scores import ReportedScore, score_events
from .trace_publishing import TracePublishing
from .trace_status import traces_file
from .trace_store import NoRoom, TraceStore, encode_fact
from .waiting import WaitingTrace, WaitingTraces

_SESSION: Final = re.compile(r"[0-9a-zA-Z_-]{1,64}\Z")


def recorded_prompt(agent: str, session: str, at: float) -> RecordedPrompt:
    """Return the prompt that a session was at at a moment, as far as there is a recording of it."""
    ask = agent_of(agent).recorded_prompt if agent in agent_names() else None
    if ask is None or _SESSION.match(session) is None:
        return RecordedPrompt()
    try:
        return ask(session, at)
    except (OSError, sqlite3.Error):
        return RecordedPrompt()


_TICK_S: Final = 0.5
# Without a trace to publish, old ones are forgotten so often.
_AT_REST_S: Final = 60.0
_FORGOTTEN_AT_ONCE: Final = 256
_PRESSED_AT_ONCE: Final = 64
# What a row takes beside its content.
_ROW_BYTES: Final = 100
_ROOTS: Final = (SpanKind.RUN, SpanKind.STEP, SpanKind.OTHER)


class TraceBuffer:
    """Take spans, log records and scores, and publish the runs in them.

    Args:
        path: the file that keeps what was taken.
        outcome_of: makes the fields of an outcome of a run.
        sink: takes the outcomes, from one thread at a time. Until it says that they are safe, a
            trace counts as not published, and is published again.
        rules: how long is waited, and how much is kept.
        prompt_of: asks the recordings of an agent for the prompt of a session at a moment.
        on_close: called when it is closed, after the last outcome.
        clock: the time in seconds since the epoch.

    Raises:
        OSError: the folder cannot be made.
        sqlite3.Error: the file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        outcome_of: OutcomeOf,
        sink: Sink,
        *,
        rules: TraceRules | None = None,
        prompt_of: PromptOf = no_prompt,
        on_close: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._rules = rules or TraceRules()
        self._clock = clock
        self._on_close = on_close
        self._lock = threading.Lock()
        self._store = TraceStore(path, self._rules.max_bytes)
        self._waiting = WaitingTraces(self._rules, self._store.traces())
        self._publishing = TracePublishing(
            self._store,
            self._waiting,
            self._lock,
            outcome_of=outcome_of,
            sink=sink,
            rules=self._rules,
            prompt_of=prompt_of,
        )
        self._stopping = threading.Event()
        self._has_come = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Publish due traces in a thread of its own, until `close`."""
        self._thread = threading.Thread(target=self._run, name="traces", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stopping.wait(_TICK_S):
            # Without room for bookkeeping it is tried again: what is due stays due.
            with contextlib.suppress(NoRoom, StoreUnfit):
                self.publish_due()
            if not self._publishing.is_waiting():
                self._has_come.wait(_AT_REST_S)
                self._has_come.clear()

    def publish_due(self) -> int:
        """Publish the runs of all traces that are due; return how many runs there were.

        Raises:
            NoRoom: the disk is full.
        """
        return self._publishing.publish_due(self._clock())

    def close(self) -> None:
        """Stop publishing; what waits is kept on disk."""
        self._stopping.set()
        self._has_come.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            self._store.close()
        if self._on_close is not None:
            self._on_close()

    def spans(self, spans: list[Span]) -> int:
        """Take spans; return how many were rejected because their trace is too large.

        Raises:
            Full: nothing more can be taken now.
        """
        return self._take((span.trace_id, fact_of(span)) for span in spans)

    def logs(self, logs: list[LogRecord]) -> int:
        """Take log records; return how many were rejected because their trace is too large.

        Records that tell nothing of an agent's run are counted and not kept.

        Raises:
            Full: nothing more can be taken now.
        """
        scores, others = score_events(logs)
        told = [event_of(record) for record in others]
        rejected = self._take(event for event in told if event is not None)
        self._take_scores(scores)
        if silent := told.count(None):
            with self._room():
                self._store.count("log records that tell nothing of a run", silent)
        return rejected

    def _take_scores(self, scores: Sequence[ReportedScore]) -> None:
        if not scores:
            return
        with self._lock:
            with self._room():
                for given in scores:
                    self._store.add_score(given, self._clock())
            for given in scores:
                if not self._waiting.press(given.trace):
                    self._publishing.rescored(given)
        self._has_come.set()

    def _take(self, told: Iterable[tuple[str, Fact]]) -> int:
        of_trace: dict[str, list[Fact]] = defaultdict(list)
        for trace, fact in told:
            of_trace[trace].append(fact)
        if not of_trace:
            return 0
        now = self._clock()
        with self._lock:
            rows: list[tuple[str, str, bytes]] = []
            stand = {
                trace: self._with(trace, facts, now, rows) for trace, facts in of_trace.items()
            }
            rejected = sum(map(len, of_trace.values())) - len(rows)
            with self._room(for_spans=True):
                self._store.add_facts(rows)
                self._store.put_traces(waiting.kept(trace) for trace, waiting in stand.items())
                if rejected:
                    self._store.count("spans of a trace that is too large", rejected)
            for trace, waiting in stand.items():
                self._waiting.put(trace, waiting)
        self._has_come.set()
        return rejected

    def _with(
        self, trace: str, facts: Sequence[Fact], now: float, rows: list[tuple[str, str, bytes]]
    ) -> WaitingTrace:
        """Return a trace's state with more facts, and append the new rows."""
        waiting = self._waiting.after(trace, now)
        for fact in facts:
            encoded = encode_fact(without_secrets(fact))
            size = len(encoded) + _ROW_BYTES
            if waiting.bytes + size <= self._rules.max_trace_bytes:
                rows.append((trace, fact.span, encoded))
                waiting.bytes += size
                waiting.has_ended = waiting.has_ended or _is_end(fact)
        return waiting

    @contextlib.contextmanager
    def _room(self, *, for_spans: bool = False) -> Iterator[None]:
        """Write to the store; if it is full, make room or ask the exporter to come again.

        Raises:
            Full: there is no more room.
        """
        try:
            with self._store.writing(spans=for_spans):
                yield
        except NoRoom:
            self._make_room()
            raise Full from None

    def _make_room(self) -> None:
        """Forget traces that only wait for late spans; without any, publish the oldest early."""
        done = self._waiting.published(_FORGOTTEN_AT_ONCE)
        if not done:
            self._waiting.press_oldest(_PRESSED_AT_ONCE)
            return
        with contextlib.suppress(NoRoom), self._store.writing():
            self._store.forget(done)
            self._waiting.forget(done)


def _is_end(fact: Fact) -> bool:
    """Return whether nothing is expected to come after a fact."""
    return fact.is_end or (not fact.parent and fact.kind in _ROOTS)


def traces_of(settings: DaemonSettings, captured: CountedSinks | None = None) -> TraceBuffer:
    """Return the buffer of traces, ready to be started.

    Args:
        settings: the daemon's settings.
        captured: counts what is published.

    Raises:
        OSError: the home cannot be written.
        StoreUnfit: the file with the traces cannot be used.
    """
    path = traces_file(settings.home)
    publisher = Publisher(lambda: settings)
    projects = run_projects(settings.capture, settings.home)
    try:
        return TraceBuffer(
            path,
            partial(
                outcome_of,
                rules=settings.capture,
                projects=projects,
                tool_words=tool_words(),
            ),
            SpoolingSink(publisher, captured),
            rules=settings.traces,
            prompt_of=recorded_prompt,
            on_close=publisher.close,
        )
    except sqlite3.Error as error:
        message = f"{path} cannot be used ({error}); move it away to begin a new one"
        raise StoreUnfit(message) from None
