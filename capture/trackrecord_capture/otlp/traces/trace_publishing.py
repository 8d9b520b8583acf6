"""Publishing due traces, and amending their outcomes when scores come later."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Final

from trackrecord.errors import InvalidOutcome, ServerUnavailable, StoreUnfit, TrackrecordError
from trackrecord.learning.text.times import believed_age
from trackrecord.settings.trace_rules import TraceRules

from ...agent_run import AgentRun, Signal, SignalKind
from ...history.reading import OutcomeOf
from ...history.sink import Sink
from ..runs.event_runs import PromptOf
from ..runs.runs import RunOfTrace, TraceScore, runs_of, sign_of
from ..runs.scores import ReportedScore
from .trace_store import TraceOutcome, TraceStore
from .waiting import Due, WaitingTraces

_OF_VERDICT: Final = ("success", "outcome_source", "grounds")


_AT_ONCE: Final = 64
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
            runs = runs_of(due.trace, facts, scores, is_idle=due.is_idle, prompt_of=self._prompt_of)
            return [known for found in runs if (known := self._publish(found)) is not None]
        except ServerUnavailable:
            raise
        except Exception:  # noqa: BLE001 - one odd trace must not hold up all others
            self._lose("traces that could not be read")
        return []

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
            sign = Signal(kind=SignalKind.FOLLOWED_BY, says=run.instruction, at=run.started_at)
            self._amend_by(max(before, key=lambda each: each.started_at), sign, run.started_at)

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
                    self._store.count("traces without a run of an agent")
                    self._store.forget_spans(due.trace)
                    self._waiting.forget([due.trace])
                elif waiting is not None:
                    self._store.put_traces([waiting.kept(due.trace)])

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
