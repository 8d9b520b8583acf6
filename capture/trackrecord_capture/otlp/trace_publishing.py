"""Publishing the traces that are due, and amending what they became when scores come later."""

import threading
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from ..agent_run import AgentRun
from .event_runs import TurnOf
from .runs import RunOfTrace, Score, runs_of, sign_of
from .scores import GivenScore
from .trace_rules import TraceRules
from .trace_store import Known, TraceStore
from .waiting import Due, WaitingTraces

Publish = Callable[[AgentRun], None]
"""Takes a run; a run that is taken again says more than before, or the same."""
Confirm = Callable[[], bool]
"""Waits until what was published is safe, and says whether it is."""

_AT_ONCE: Final = 64
_MOST_OUTCOMES: Final = 100_000
_FORGET_EVERY_S: Final = 600.0


class TracePublishing:
    """Publish what is due.

    Args:
        store: the traces on disk.
        waiting: how they stand.
        lock: guards both.
        publish: takes a run.
        confirm: says whether everything that was published is safe.
        rules: how long is remembered what a trace became.
        turn_of: asks Codex's recordings for the turn of a session at a moment.
    """

    def __init__(
        self,
        store: TraceStore,
        waiting: WaitingTraces,
        lock: threading.Lock,
        *,
        publish: Publish,
        confirm: Confirm,
        rules: TraceRules,
        turn_of: TurnOf,
    ) -> None:
        self._store = store
        self._waiting = waiting
        self._lock = lock
        self._publish = publish
        self._confirm = confirm
        self._rules = rules
        self._turn_of = turn_of
        self._one_at_a_time = threading.Lock()
        self._rescored = {
            (trace, session)
            for trace, session in store.scored()
            if not trace or waiting.get(trace) is None
        }
        self._forgot_at = 0.0

    def rescored(self, given: GivenScore) -> None:
        """Amend, next time, what a trace or a session became that is not kept any longer."""
        self._rescored.add((given.trace, given.session))

    def publish_due(self, now: float) -> int:
        """Publish all traces that are due; return how many runs there were.

        Raises:
            NoRoom: the disk is full.
        """
        published = 0
        with self._one_at_a_time:
            while due := self._due(now):
                became = [(trace, self._published(trace)) for trace in due]
                published += sum(len(runs) for _, runs in became)
                if not self._confirm():
                    return published
                self._settle(became, now)
            published += self._amend()
            self._forget(now)
        return published

    def _due(self, now: float) -> list[Due]:
        with self._lock:
            return self._waiting.due(now, _AT_ONCE)

    def _published(self, due: Due) -> list[RunOfTrace]:
        """Publish the runs of a trace, and return them."""
        with self._lock:
            facts = self._store.facts_of(due.trace)
            scores = self._store.scores_of(due.trace)
        runs = runs_of(due.trace, facts, scores, is_idle=due.is_idle, turn_of=self._turn_of)
        for found in runs:
            self._publish(found.run)
        return runs

    def _settle(self, became: Sequence[tuple[Due, list[RunOfTrace]]], now: float) -> None:
        """Write down what traces became, so that they are not published again for nothing."""
        with self._lock, self._store.writing():
            for due, runs in became:
                waiting = self._waiting.settle(due)
                if due.is_early:
                    self._store.count("traces published before they were whole")
                for found in runs:
                    self._store.put_outcome(due.trace, _known(found), now)
                    if found.run.session:
                        self._rescored.add(("", found.run.session))
                if waiting is not None and not runs:
                    self._store.count("traces without a run of an agent")
                    self._store.forget_spans(due.trace)
                    self._waiting.forget([due.trace])
                elif waiting is not None:
                    self._store.put_traces([waiting.kept(due.trace)])

    def _amend(self) -> int:
        """Publish scores of traces that are not kept any longer, by what they became."""
        amended, done = 0, []
        with self._lock:
            asked, self._rescored = self._rescored, set()
        for trace, session in asked:
            with self._lock:
                scores, known = self._scored(trace, session)
            for score_id, score in scores if known else ():
                self._amend_one(known, score)
                done.append(score_id)
                amended += 1
        if done and self._confirm():
            with self._lock, self._store.writing():
                self._store.forget_scores(done)
        elif done:
            with self._lock:
                self._rescored |= asked
        return amended

    def _scored(self, trace: str, session: str) -> tuple[list[tuple[str, Score]], list[Known]]:
        if trace:
            if self._waiting.get(trace) is not None:
                return [], []
            return self._store.scores_by_id(trace, ""), self._store.outcomes_of(trace)
        if not session:
            return [], []
        return self._store.scores_by_id("", session), self._store.outcomes_of_session(session)

    def _amend_one(self, known: Sequence[Known], score: Score) -> None:
        """Publish a score of a trace or a session, by the run that it is about.

        A session's score is told of its latest run. It is that run's verdict only if it is the
        only one: of several nobody knows which of them it praises or blames.
        """
        of_span = [run for run in known if score.span in run.spans] if score.span else []
        about = (of_span or known)[0]
        is_tool = score.span in about.tools
        counts = (bool(of_span) or len(known) == 1) and not is_tool
        sign = sign_of(score.evaluation, counts=counts)
        self._publish(msgspec.structs.replace(about.run, signs=(sign,)))

    def _forget(self, now: float) -> None:
        with self._lock:
            old = self._waiting.old(now)
            if not old and now - self._forgot_at < _FORGET_EVERY_S:
                return
            with self._store.writing():
                self._store.forget(old)
                waited = self._store.forget_before(
                    now - self._rules.remember_s, most=_MOST_OUTCOMES
                )
                if waited:
                    self._store.count("scores whose trace never came", waited)
            self._waiting.forget(old)
            self._forgot_at = now


def _known(found: RunOfTrace) -> Known:
    """Return what is remembered of a run: what its outcome's id and project are made of."""
    run = found.run
    return Known(
        run=AgentRun(
            agent=run.agent,
            session=run.session,
            prompt=run.prompt,
            captured_from=run.captured_from,
            started_at=run.started_at,
            ended_at=run.ended_at,
            folder=run.folder,
            repository=run.repository,
            branch=run.branch,
            parent=run.parent,
            name=run.name,
        ),
        spans=found.spans,
        tools=found.tools,
    )
