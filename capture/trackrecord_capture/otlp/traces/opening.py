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
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from trackrecord.errors import InvalidOutcome, ServerUnavailable, StoreUnfit, TrackrecordError
from trackrecord.learning.text.times import believed_age
from trackrecord.settings.daemon_settings import DaemonSettings, TraceRules
from trackrecord_producers.publishing.publisher import Publisher

from ...agent_run import AgentRun, Signal, SignalKind
from ...history.counts import CountedSinks
from ...history.reading import OutcomeOf
from ...history.sink import Sink, SpoolingSink
from ...outcome import outcome_of
from ...projects import run_projects
from ...sources.register import agent_names, agent_of, tool_words
from ...sources.source import RecordedPrompt
from ..encodings.receiver import Full
from ..encodings.span import LogRecord, Span
from ..facts.fact import Fact
from ..facts.log_events import event_of
from ..facts.reading import fact_of
from ..facts.safe_facts import without_secrets
from ..facts.vocabulary import SpanKind
from ..runs.event_runs import PromptOf, no_prompt
from ..runs.runs import (
    RunOfTrace,
    TraceOutline,
    TraceScore,
    is_resumed,
    outline_of,
    runs_of,
    sign_of,
)
from ..runs.scores import ReportedScore, score_events
from .trace_status import traces_file
from .trace_store import NoRoom, TraceOutcome, TraceStore, WaitingTrace, encode_fact
from .waiting import Due, WaitingTraces

_OF_VERDICT: Final = ("success", "outcome_source", "grounds")


_NO_RUN: Final = "traces without a run of an agent"
_REQUESTS: Final = (
    "traces of requests to a model alone: no span of an agent holds them together, see "
    "docs/capture.md"
)
_AT_ONCE: Final = 64
_MOST_RECENT: Final = 64
_MOST_OUTCOMES: Final = 100_000
_FORGET_EVERY_S: Final = 600.0
# So long scores that come later find the run of a trace.
_REMEMBERED_S: Final = 30 * 86_400.0


class TracePublishing:
    """Publishes due traces.

    Args:
        store: the traces on disk.
        waiting: how they stand.
        lock: guards both.
        outcome_of: makes an outcome of a run.
        sink: takes the outcomes.
        rules: how long is remembered what a trace became.
        prompt_of: asks the recordings of an agent for the prompt of a session at a moment.
    """

    def __init__(
        self,
        store: TraceStore,
        waiting: WaitingTraces,
        lock: threading.Lock,
        *,
        outcome_of: OutcomeOf,
        sink: Sink,
        rules: TraceRules,
        prompt_of: PromptOf,
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._lock = lock
        self._outcome_of = outcome_of
        self._sink = sink
        self._rules = rules
        self._prompt_of = prompt_of
        self._one_at_a_time = threading.Lock()
        self._rescored = {
            (trace, session)
            for trace, session in store.scored()
            if not trace or waiting.get(trace) is None
        }
        self._forgot_at = 0.0
        self._recent: OrderedDict[str, TraceOutline] = OrderedDict()

    def rescored(self, given: ReportedScore) -> None:
        """Amend, next time, the outcomes of a trace or a session that is no longer kept."""
        self._rescored.add((given.trace, given.session))

    def is_waiting(self) -> bool:
        """Return whether anything is to be published, now or later."""
        with self._lock:
            return bool(self._rescored) or self._waiting.has_unpublished()

    def publish_due(self, now: float) -> int:
        """Publish all traces that are due; return how many runs there were.

        While neither Redis nor the spool takes outcomes, traces and scores stay due.

        Raises:
            NoRoom: the disk is full.
            StoreUnfit: it cannot be told which project a run belongs to; its trace stays due.
        """
        published = 0
        with self._one_at_a_time:
            while due := self._due(now):
                try:
                    became = [(trace, self._published(trace)) for trace in due]
                except StoreUnfit:
                    raise
                except ServerUnavailable:
                    return published
                published += sum(len(runs) for _, runs in became)
                if not self._is_safe():
                    return published
                self._settle(became, now)
            published += self._amend(now)
            self._forget(now)
        return published

    def _due(self, now: float) -> list[Due]:
        with self._lock:
            return self._waiting.due(now, _AT_ONCE)

    def _published(self, due: Due) -> list[TraceOutcome]:
        """Publish the runs of a trace; return the outcomes to remember.

        Raises:
            StoreUnfit: it cannot be told which projects they belong to.
        """
        try:
            with self._lock:
                facts = self._store.facts_of(due.trace)
                scores = self._store.scores_of(due.trace)
            if self._is_joined(due.trace, facts):
                return []
            runs = runs_of(due.trace, facts, scores, is_idle=due.is_idle, prompt_of=self._prompt_of)
            return [known for found in runs if (known := self._publish(found)) is not None]
        except ServerUnavailable:
            raise
        except Exception:  # noqa: BLE001 - one odd trace must not hold up all others
            self._lose("traces that could not be read")
        return []

    def _is_joined(self, trace: str, facts: list[Fact]) -> bool:
        """Join a trace with an earlier one whose run it is a part of; return whether it is."""
        own = outline_of(trace, facts)
        self._recent.pop(trace, None)
        others = list(reversed(self._recent.values()))
        earlier = next((each.trace for each in others if own.is_twin_of(each)), "")
        with self._lock:
            if not earlier and own.session and is_resumed(facts):
                known = (each.trace for each in others if each.session == own.session)
                earlier = next(known, "") or self._store.trace_of_session(own.session)
            joined = self._waiting.join(trace, earlier, self._rules.max_trace_bytes)
            if joined is not None:
                with self._store.writing():
                    self._store.move_facts(trace, joined)
                return True
        self._recent[trace] = own
        while len(self._recent) > _MOST_RECENT:
            self._recent.popitem(last=False)
        return False

    def _publish(self, found: RunOfTrace) -> TraceOutcome | None:
        fields = self._outcome_of(found.run)
        if fields is None:
            return None
        known = _known(found, fields)
        try:
            self._sink.publish(fields)
        except InvalidOutcome:
            self._lose("runs that were no valid outcome")
            return None
        self._tell_the_one_before(found.run)
        return known

    def _tell_the_one_before(self, run: AgentRun) -> None:
        """Amend the session's previous run, where this prompt corrects it."""
        if not run.session or not run.instruction:
            return
        with self._lock:
            known = self._store.outcomes_of_session(run.session)
        before = [each for each in known if each.started_at < run.started_at]
        if before:
            about = max(before, key=lambda each: each.started_at)
            sign = Signal(kind=SignalKind.FOLLOWED_BY, says=run.instruction, at=run.started_at)
            # The agent's own recording says the same with more grounds, and is to count as later.
            self._amend_by(about, sign, about.started_at)

    def _lose(self, reason: str) -> None:
        with self._lock, self._store.writing():
            self._store.count(reason)

    def _is_safe(self) -> bool:
        """Return whether everything that was published is with Redis or in the spool."""
        try:
            dropped = self._sink.settle()
        except TrackrecordError:
            return False
        if dropped:
            self._lose("outcomes that the publisher dropped")
        return True

    def _settle(self, became: Sequence[tuple[Due, list[TraceOutcome]]], now: float) -> None:
        """Store the outcomes of traces, so that they are not published again."""
        with self._lock, self._store.writing():
            for due, runs in became:
                waiting = self._waiting.settle(due)
                if due.is_early:
                    self._store.count("traces published before they were whole")
                for known in runs:
                    self._store.put_outcome(due.trace, known, now)
                    if known.session:
                        self._rescored.add(("", known.session))
                if waiting is not None and not runs:
                    outline = self._recent.get(due.trace)
                    is_alone = outline is not None and outline.has_requests
                    self._store.count(_REQUESTS if is_alone else _NO_RUN)
                    self._store.forget_spans(due.trace)
                    self._waiting.forget([due.trace])
                elif waiting is not None:
                    self._store.put_traces([waiting])

    def _amend(self, now: float) -> int:
        """Publish late scores of traces, through the outcomes that these became."""
        done: list[str] = []
        amended = 0
        with self._lock:
            asked, self._rescored = self._rescored, set()
        try:
            for trace, session in asked:
                with self._lock:
                    scores, known = self._scored(trace, session)
                for score_id, score in scores if known else ():
                    amended += self._amend_one(known, score, now)
                    done.append(score_id)
            is_safe = not done or self._is_safe()
        except ServerUnavailable:
            is_safe = False
        if is_safe and done:
            with self._lock, self._store.writing():
                self._store.forget_scores(done)
        elif not is_safe:
            with self._lock:
                self._rescored |= asked
        return amended

    def _scored(
        self, trace: str, session: str
    ) -> tuple[list[tuple[str, TraceScore]], list[TraceOutcome]]:
        if not trace:
            known = self._store.outcomes_of_session(session) if session else []
            return self._store.scores_by_id("", session), known
        if self._waiting.get(trace) is not None:
            return [], []
        return self._store.scores_by_id(trace, ""), self._store.outcomes_of(trace)

    def _amend_one(self, known: Sequence[TraceOutcome], score: TraceScore, now: float) -> bool:
        """Publish a score of a trace or a session, as later evidence of the run that it is about.

        A session's score is the verdict on its only run: of several runs nobody knows which of
        them it praises or blames. A score of one call, or without a threshold, is no verdict.
        """
        of_span = [run for run in known if score.span and score.span in run.spans]
        about = (of_span or known)[0]
        counts = (bool(of_span) or len(known) == 1) and score.span not in about.tools
        sign = sign_of(score.evaluation, counts=counts)
        if sign.success is None:
            self._lose("scores that are no verdict on a run")
            return False
        return self._amend_by(about, sign, score.evaluation.at or now)

    def _amend_by(self, about: TraceOutcome, sign: Signal, at: float) -> bool:
        """Publish late evidence on a run, if it is a verdict; return whether it is."""
        run = AgentRun(
            agent="",
            session="",
            prompt="",
            captured_from="traces",
            started_at=at,
            ended_at=at,
            signs=(sign,),
        )
        fields = self._outcome_of(run) or {}
        if fields.get("success") is None:
            return False
        self._sink.publish(
            {
                "outcome_id": about.outcome_id,
                "project": about.project,
                "task_id": about.task_id,
                "timestamp": at,
                "captured_from": run.captured_from,
            }
            | {name: fields[name] for name in _OF_VERDICT if name in fields}
        )
        return True

    def _forget(self, now: float) -> None:
        with self._lock:
            old = self._waiting.old(now)
            if not old and believed_age(now - self._forgot_at) < _FORGET_EVERY_S:
                return
            with self._store.writing():
                self._store.forget(old)
                waited = self._store.forget_before(now - _REMEMBERED_S, most=_MOST_OUTCOMES)
                if waited:
                    self._store.count("scores whose trace never came", waited)
            self._waiting.forget(old)
            self._forgot_at = now


def _known(found: RunOfTrace, fields: Mapping[str, Any]) -> TraceOutcome:
    return TraceOutcome(
        outcome_id=found.run.outcome_id,
        project=fields.get("project"),
        task_id=str(fields["task_id"]),
        session=found.run.session,
        started_at=found.run.started_at,
        spans=found.spans,
        tools=found.tools,
    )


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
            stand = [self._with(trace, facts, now, rows) for trace, facts in of_trace.items()]
            rejected = sum(map(len, of_trace.values())) - len(rows)
            with self._room(for_spans=True):
                self._store.add_facts(rows)
                self._store.put_traces(stand)
                if rejected:
                    self._store.count("spans of a trace that is too large", rejected)
            for waiting in stand:
                self._waiting.put(waiting)
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
