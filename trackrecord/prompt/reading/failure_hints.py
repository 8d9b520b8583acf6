"""The hint that a call gets right after it failed, and the state of the session that it depends on.

Facts are read from the cache in Redis; what a session was told is held in this process.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from trackrecord.learning.advice.assignment import is_told
from trackrecord.learning.advice.hint_effect import probability_of
from trackrecord.learning.advice.moments.calls import TriedCall, keys_of
from trackrecord.learning.advice.moments.facts import CachedMoments
from trackrecord.learning.advice.moments.hints import Hint, SessionCalls, hint_after, hint_at_stop
from trackrecord.learning.text.hints import HINT_MARK, without_hints
from trackrecord.settings.effect_consent import effect_consent
from trackrecord.wire.hint import HintBody

_MOST_SESSIONS: Final = 2000
_LONGEST_ENTRY: Final = 512
_LONGEST_NAME: Final = 256
_MOST_CALLS: Final = 5000
# Of a longer text its beginning and its end are looked at.
_LONGEST_ERROR: Final = 32 * 1024


class FailedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that has just failed, and where.

    Attributes:
        call: the call.
        error: the text of its error.
        session: the session that it belongs to.
        agent: which of the session's agents made it; "" for the main one.
        machine: a digest of the machine and its user; "" if unknown.
        repository: the repository; "" for the project's own.
        has_status: whether the client says that it failed. If not, its words have to show it.
        strayed: the folder that the shell is in and a path of the call that lies at the top of the
            repository; None where the call does not fail for that.
    """

    call: TriedCall
    error: str
    session: str
    agent: str = ""
    machine: str = ""
    repository: str = ""
    has_status: bool = True
    strayed: tuple[str, str] | None = None


@dataclass(frozen=True)
class DecidedHint:
    """A hint, and whether the agent is given it.

    Attributes:
        hint: the hint.
        is_given: whether the agent gets it.
        probability: with which it was given; 1 or 0 where nothing was left to chance.
        at: when, seconds since the epoch.
    """

    hint: Hint
    is_given: bool
    probability: float
    at: float

    @property
    def text(self) -> str:
        """The line that the agent gets; "" where it is withheld."""
        return f"{HINT_MARK}{self.hint.text}" if self.is_given else ""

    def report(self, project: str, failed: FailedCall, source: str) -> HintBody:
        """Return what is recorded of it.

        Args:
            project: the project.
            failed: the call.
            source: the agent that made it, as its outcomes name it.
        """
        return HintBody(
            project=project,
            source=source,
            session=failed.session or "-",
            agent=failed.agent,
            entry=self.hint.entry[:_LONGEST_ENTRY],
            kind=self.hint.kind.value,
            given=self.is_given,
            probability=self.probability,
            key=(self.hint.key or next(iter(keys_of(failed.call)), ""))[:_LONGEST_ENTRY],
            check=self.hint.check,
            tool=failed.call.tool[:_LONGEST_NAME],
            text=self.hint.text,
        )


def probability_in(home: Path, points: int) -> float:
    """Return the probability of a hint: it is left to chance only where the user agreed.

    Args:
        home: TRACKRECORD_HOME.
        points: how many hints the trial has decided on so far.
    """
    return probability_of(points) if effect_consent(home) else 1.0


class FailureHints:
    """Decides on hints for the sessions of one process."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, str], SessionCalls] = OrderedDict()
        self._lock = threading.Lock()

    def decide(
        self,
        project: str,
        document: CachedMoments,
        failed: FailedCall,
        probability: Callable[[int], float],
        earlier: Callable[[], Iterable[TriedCall] | None] = lambda: None,
    ) -> DecidedHint | None:
        """Return what is told about a failing call; None for nothing.

        Args:
            project: the project.
            document: what is known.
            failed: the call.
            probability: returns the probability with which a hint is given, after so many points of
                the trial.
            earlier: returns the calls of the session before this one, as far as they are known;
                asked for only where something would be told.
        """
        now, known = time.time(), document.of(failed.repository)
        error = without_hints(_bounded(failed.error))

        def ask(session: SessionCalls) -> Hint | None:
            return hint_after(
                known, failed.call, error, session, agent=failed.agent, machine=failed.machine,
                now=now, has_status=failed.has_status, strayed=failed.strayed,
            )  # fmt: skip

        with self._lock:
            session = self._session(project, failed.session)
            session.add(failed.call)
            hint = ask(session)
        if hint is None:
            return None
        before = earlier()
        with self._lock:
            session = self._session(project, failed.session)
            if before is not None:
                session = self._replaced(project, session, before, failed.call)
            # Asked again: another call of the session may have been told meanwhile.
            hint = ask(session)
            if hint is None:
                return None
            session.note(hint, failed.agent)
        return _drawn(project, failed, hint, probability(document.points), now)

    def remind(
        self,
        project: str,
        document: CachedMoments,
        stopped: FailedCall,
        probability: Callable[[int], float],
    ) -> DecidedHint | None:
        """Return what is told where a turn ends with an unchecked edit; None for nothing.

        Args:
            project: the project.
            document: what is known.
            stopped: the edit; its error is empty.
            probability: as of `decide`.
        """
        hint = hint_at_stop(document.of(stopped.repository), stopped.call.file)
        if hint is None:
            return None
        return _drawn(project, stopped, hint, probability(document.points), time.time())

    def add(self, project: str, session: str, calls: Iterable[TriedCall]) -> None:
        """Take note of calls of a session that did not fail."""
        with self._lock:
            state = self._session(project, session)
            for call in calls:
                state.add(call)

    def _session(self, project: str, name: str) -> SessionCalls:
        key = (project, name)
        state = self._sessions.setdefault(key, SessionCalls(id=name))
        self._sessions.move_to_end(key)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        if len(state.ran) > _MOST_CALLS:
            state.ran.clear()
        return state

    def _replaced(
        self, project: str, session: SessionCalls, calls: Iterable[TriedCall], failed: TriedCall
    ) -> SessionCalls:
        """Return the state of a session by all of its calls."""
        state = SessionCalls(id=session.id, told=session.told)
        for call in calls:
            state.add(call)
        state.add(failed)
        self._sessions[project, session.id] = state
        return state


def _drawn(project: str, failed: FailedCall, hint: Hint, chance: float, now: float) -> DecidedHint:
    is_given = is_told(project, failed.session, failed.agent, hint.entry, chance)
    return DecidedHint(hint, is_given, chance, now)


def _bounded(text: str) -> str:
    if len(text) <= 2 * _LONGEST_ERROR:
        return text
    return f"{text[:_LONGEST_ERROR]}\n{text[-_LONGEST_ERROR:]}"
