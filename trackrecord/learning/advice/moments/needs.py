"""Needs: what has to run first, told from the sessions in which a command failed until it had.

A need is told where the command hardly ever ran without the other one and nearly always with it, in
its sessions' first calls and in those that overcame a failure, beyond what chance explains: of all
that came before, no more than one in a hundred would be found by chance.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..lessons.chance import Stratum, chance_of, discoveries
from .calls import TriedCall, TriedRun
from .facts import FEWEST_SESSIONS, KnownNeed

_LEVEL: Final = 0.01
_MOSTLY: Final = 0.8
_HARDLY: Final = 0.2
_MOST_EARLIER: Final = 200
# What only looks is no preparation; what destroys is not named.
_NOT_NAMED: Final = re.compile(
    r"^(?:ls|cat|head|tail|grep|rg|find|which|echo|pwd|ps|curl|wc|sed|awk|jq|stat|sleep|cd|env|rm"
    r"|sudo|kill|pkill|dd|mv|chmod|chown)\b|\b(?:status|log|diff|show|ps|logs|list|rm|delete|drop"
    r"|reset|clean|prune|push|publish|deploy|release|destroy|remove|uninstall|force)\b"
)


@dataclass(slots=True)
class _Attempt:
    earlier: frozenset[str]
    ran: bool
    speaker: str


@dataclass(slots=True)
class _Attempts:
    """The attempts at one command: of each session the first, and the one that overcame it."""

    made: list[_Attempt] = field(default_factory=list)
    failing: set[str] = field(default_factory=set)
    failed_at: list[float] = field(default_factory=list)
    outcomes: list[int] = field(default_factory=list)
    says: str = ""
    error: str = ""
    kinds: tuple[str, ...] = ()


class NeedHistory:
    """The attempts at the commands of a repository, by runs in the order of their ends."""

    def __init__(self) -> None:
        self._attempts: defaultdict[str, _Attempts] = defaultdict(_Attempts)
        self._earlier: defaultdict[str, set[str]] = defaultdict(set)
        # Of each session and command that was tried: whether it has failed and not yet run.
        self._is_failing: dict[tuple[str, str], bool] = {}

    def add(self, run: TriedRun, keyed: Iterable[tuple[TriedCall, Sequence[str]]]) -> None:
        """Add a run that ended after all that were added before.

        Args:
            run: the run.
            keyed: those of its calls that ran or failed, each with its names.
        """
        before = self._earlier[run.session]
        for call, keys in keyed:
            if not call.line:
                continue
            for key in keys:
                if key.startswith(("line ", "words ")):
                    self._note(key, run, call, before)
            words = call.words
            if call.ran and words and len(before) < _MOST_EARLIER and not _NOT_NAMED.search(words):
                before.add(words)

    def _note(self, key: str, run: TriedRun, call: TriedCall, before: set[str]) -> None:
        attempts = self._attempts[key]
        is_failing = self._is_failing.get((run.session, key))
        if is_failing is None or (is_failing and call.ran):
            attempts.made.append(_Attempt(frozenset(before), call.ran, run.speaker))
            self._is_failing[run.session, key] = not call.ran
        if call.failed:
            attempts.failing.add(run.session)
            attempts.failed_at.append(min(call.at or run.ended_at, run.ended_at))
            attempts.outcomes.append(run.outcome)
            attempts.says = call.told if key.startswith("line ") else call.words
            attempts.error, attempts.kinds = call.error or attempts.error, call.not_started

    def need(self, key: str) -> KnownNeed | None:
        """Return what a command needs first; None if nothing is known.

        Args:
            key: the name of the command.
        """
        attempts = self._attempts.get(key)
        if attempts is None or len(attempts.failing) < FEWEST_SESSIONS:
            return None
        tested = list(_pairs(attempts))
        kept = discoveries(
            [chance for chance, _ in tested], level=_LEVEL, tests=max(1, len(tested))
        )
        needed = [need for place in kept if _is_needed(need := tested[place][1], attempts)]
        return min(
            needed,
            key=lambda need: (-need.ran_with, need.with_first, need.ran_without, need.first),
            default=None,
        )

    def every_need(self) -> dict[str, KnownNeed]:
        """Return what commands need first, by the name of each command."""
        return {key: need for key in self._attempts if (need := self.need(key)) is not None}


def _pairs(attempts: _Attempts) -> Iterator[tuple[float, KnownNeed]]:
    """Yield each command that came before one that ran, with how probable that is by chance."""
    own = attempts.says
    names = {name for each in attempts.made if each.ran for name in each.earlier}
    total, ran = len(attempts.made), sum(each.ran for each in attempts.made)
    for name in sorted(names):
        if name == own or own.endswith(name):
            continue
        with_first = [each for each in attempts.made if name in each.earlier]
        ran_with = sum(each.ran for each in with_first)
        yield (
            chance_of([Stratum(total, ran, len(with_first), ran_with)]),
            KnownNeed(
                says=own,
                first=name,
                with_first=len(with_first),
                ran_with=ran_with,
                without=total - len(with_first),
                ran_without=ran - ran_with,
                sessions=len(attempts.failing),
                since=min(attempts.failed_at),
                last_at=max(attempts.failed_at),
                error=attempts.error,
                kinds=attempts.kinds,
                outcomes=tuple(dict.fromkeys(reversed(attempts.outcomes)))[:8],
            ),
        )


def _is_needed(need: KnownNeed, attempts: _Attempts) -> bool:
    ran = sum(each.ran for each in attempts.made)
    return (
        need.without >= FEWEST_SESSIONS
        and need.ran_without <= _HARDLY * need.without
        and need.ran_with >= _MOSTLY * need.with_first
        and need.ran_with >= _MOSTLY * ran
    )
