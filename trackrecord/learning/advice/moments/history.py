"""The history of a repository's calls, session by session, from which facts are read.

A fact is a pure function of the runs that were added in the order of their ends: the order of their
delivery changes nothing. Streaks count sessions and end with the first success.

Needs: what has to run first, told from the sessions in which a command failed until it had.

A need is told where the command hardly ever ran without the other one and nearly always with it, in
its sessions' first calls and in those that overcame a failure, beyond what chance explains: of all
that came before, no more than one in a hundred would be found by chance.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from itertools import islice
from posixpath import basename
from typing import Final

from msgspec.structs import replace

from ...numbers.speaker_names import LOCAL
from ...numbers.speakers import may_be_quoted
from ..lessons.chance import Stratum, chance_of, discoveries
from ..runs.failures import error_template
from .calls import (
    CI,
    EDITS,
    PASSED,
    RAN,
    UNNAMED,
    WORK,
    TriedCall,
    TriedCheck,
    TriedRun,
    ending_of,
    exact_key,
    holds_check,
    is_inside,
    is_path,
    keys_of,
    work_of,
)
from .facts import (
    CHECKING_KINDS,
    FEWEST_SESSIONS,
    KnownFailure,
    KnownFile,
    KnownLine,
    KnownNeed,
    MomentFacts,
    UsualLine,
    is_standing,
)

_LEVEL: Final = 0.01
_MOSTLY: Final = 0.8
_HARDLY: Final = 0.2
_MOST_EARLIER: Final = 200


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
            if call.file and not call.line:
                continue
            for key in keys:
                if key.startswith(("line ", "words ", "tool ")):
                    self._note(key, run, call, before)
            words = call.words
            if call.ran and words and len(before) < _MOST_EARLIER and not UNNAMED.search(words):
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


USUAL_KINDS: Final = (*CHECKING_KINDS, *WORK, CI)
_FEWEST_EDITED: Final = 5
_MOSTLY_CHECKED: Final = 0.6
_LAST_CHECKING: Final = 20
_MOST_NEVER: Final = 3
_OFTEN: Final = 5
_FEWEST_OPENED: Final = 2
_MOST_OPENED: Final = 0.7
_RECENT: Final = 8
_MOST_FAILURES: Final = 5000
_MOST_FILES: Final = 10_000
_MOST_LINES: Final = 50


@dataclass(slots=True)
class _Tries:
    """The results of one call in one session.

    Attributes:
        machine: where.
        failed: how often it failed.
        ran: how often it did its work.
        ran_at: when it did so first.
        since: the first failure.
        last_at: the last one.
        error: the line that tells of it.
        says: the call, as it may be told.
        kinds: what it checks.
        outcome: the row of the outcome of the last failure.
        then: the lines of checks of its kinds that ran after a failure.
    """

    machine: str
    failed: int = 0
    ran: int = 0
    ran_at: float = 0.0
    since: float = 0.0
    last_at: float = 0.0
    error: str = ""
    says: str = ""
    kinds: tuple[str, ...] = ()
    outcome: int = 0
    then: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Line:
    """The line of a check, by the sessions that it ran in."""

    times: Counter[str] = field(default_factory=Counter)
    since: float = 0.0
    last_at: float = 0.0
    is_whole: bool = False
    passed: bool = False
    machines: set[str] = field(default_factory=set)
    speakers: set[str] = field(default_factory=set)
    outcomes: dict[str, int] = field(default_factory=dict)


class CallHistory:
    """The calls of a repository's runs, added in the order in which the runs ended."""

    def __init__(self) -> None:
        self._tries: defaultdict[str, dict[str, _Tries]] = defaultdict(dict)
        self._lines: defaultdict[str, dict[str, _Line]] = defaultdict(dict)
        # By name and by path, the sessions that opened a file, each with its last run.
        self._files: defaultdict[str, defaultdict[str, dict[str, TriedRun]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        # By pattern, the sessions with the run that sought in vain; None where it was found.
        self._sought: defaultdict[str, dict[str, TriedRun | None]] = defaultdict(dict)
        self._speakers = set[str]()
        # By session and kind, checks that failed to start and may still be overcome.
        self._failing: defaultdict[tuple[str, str], list[_Tries]] = defaultdict(list)
        # The sessions in which something was checked, in the order in which they did it last.
        self._checking: dict[str, None] = {}
        # By the ending of a file, whether each session checked something after it edited one.
        self._edited: defaultdict[str, dict[str, bool]] = defaultdict(dict)
        self._needs = NeedHistory()

    def add(self, run: TriedRun) -> None:
        """Add a run that ended after all that were added before."""
        keyed: list[tuple[TriedCall, Sequence[str]]] = []
        self._speakers.add(run.speaker)
        for call in run.calls:
            failed = call.failed
            if failed or call.ran:
                keys = tuple(keys_of(call))
                keyed.append((call, keys))
                for key in keys:
                    self._try(run, call, key, failed=failed)
            self._add_lines(run, call)
            if call.sought:
                sessions = self._sought[call.sought]
                before = sessions.pop(run.session, run)
                sessions[run.session] = None if call.found or before is None else run
            if call.file and call.ok and not call.line and is_path(call.file):
                self._files[basename(call.file)][call.file][run.session] = run
                if call.tool.lower() in EDITS and is_inside(call.file):
                    self._edited[ending_of(call.file)][run.session] = False
        self._needs.add(run, keyed)

    def _try(self, run: TriedRun, call: TriedCall, key: str, *, failed: bool) -> None:
        of_key, at = self._tries[key], _moment(call, run)
        # The session that made it last stands last.
        tries = of_key.pop(run.session, None) or _Tries(run.machine)
        of_key[run.session] = tries
        if not failed:
            tries.ran += 1
            tries.ran_at = tries.ran_at or at
            return
        tries.since = tries.since or at
        tries.failed += 1
        tries.last_at = at
        tries.error, tries.outcome = call.error or tries.error, run.outcome
        tries.says = call.told if key.startswith(("line ", "shape ")) else key.partition(" ")[2]
        tries.kinds = tries.kinds or call.not_started
        for kind in call.not_started:
            self._failing[run.session, kind].append(tries)

    def _add_lines(self, run: TriedRun, call: TriedCall) -> None:
        at = _moment(call, run)
        if call.checks:
            self._checking.pop(run.session, None)
            self._checking[run.session] = None
            if call.ran:
                for sessions in self._edited.values():
                    if run.session in sessions:
                        sessions[run.session] = True
        for check in call.checks or _work(call):
            if check.state not in (PASSED, RAN) or not check.line:
                continue
            # What is captured here was read from the command itself.
            if (
                check.kind in CHECKING_KINDS
                and run.speaker != LOCAL
                and not holds_check(check.line)
            ):
                continue
            line = self._lines[check.kind].setdefault(check.line, _Line())
            line.times[run.session] += 1
            line.since = line.since or at
            line.last_at = max(line.last_at, at)
            line.is_whole |= check.is_whole
            line.passed |= check.state == PASSED
            line.machines.add(run.machine)
            line.speakers.add(run.speaker)
            line.outcomes.pop(run.session, None)
            line.outcomes[run.session] = run.outcome
            for tries in self._failing.pop((run.session, check.kind), ()):
                tries.then.add(check.line)

    def failure(self, key: str, machine: str = "") -> KnownFailure | None:
        """Return what is known of a call that failed in the last sessions; None if it ran.

        Args:
            key: a name of the call.
            machine: the machine that asks: what happened on others says nothing of it.
        """
        streak: list[tuple[str, _Tries]] = []
        for session, tries in reversed(self._tries.get(key, {}).items()):
            if tries.machine and machine and tries.machine != machine:
                continue
            if tries.ran:
                break
            streak.append((session, tries))
        never = len(streak) == len(self._tries.get(key, {}))
        return _known_failure(streak, machine, never=never) if streak else None

    def ended_failures(self) -> dict[str, tuple[tuple[KnownFailure, float], ...]]:
        """Return the standing defects that ended, by each name of the call, and when it ran again.

        Of each name and machine the last one, unless the call is a standing defect again.
        """
        found = {
            key: tuple(
                ended
                for machine in _machines(tries)
                if (ended := _last_ended(tries.items(), machine)) is not None
            )
            for key, tries in self._tries.items()
            if len(tries) > FEWEST_SESSIONS
        }
        return {key: ended for key, ended in found.items() if ended}

    def lines(self, kind: str) -> Sequence[KnownLine]:
        """Return the lines of a kind of check that ran and do not fail now.

        Those that run on all come before those that run on a part, then those of most sessions,
        then the newest.
        """
        known = (
            _known_line(kind, text, line)
            for text, line in self._lines.get(kind, {}).items()
            if line.passed and self.failure(exact_key(text)) is None
        )
        return sorted(
            known, key=lambda each: (not each.is_whole, -each.sessions, -each.last_at, each.line)
        )

    def _told_lines(self, kind: str) -> tuple[KnownLine, ...]:
        """Return those of the lines that agents may read."""
        own = self._lines[kind]
        rivals = {speaker for line in own.values() for speaker in line.speakers}
        return tuple(
            each
            for each in self.lines(kind)
            if may_be_quoted(own[each.line].speakers, rivals, self._speakers)
        )

    def _never_found(self) -> tuple[tuple[str, int], ...]:
        """Return the patterns that the last sessions sought in vain, those of most first.

        None that fits a file that was opened: some searches follow no link.
        """
        streaks = ((pattern, len(self.runs_seeking(pattern))) for pattern in self._sought)
        long = [each for each in streaks if each[1] >= FEWEST_SESSIONS]
        ordered = sorted(long, key=lambda each: (-each[1], each[0]))
        # Every file that is known is looked at for each: no more of them than are told.
        never = (each for each in ordered if not self._is_opened(each[0]))
        return tuple(islice(never, _MOST_NEVER))

    def _is_opened(self, pattern: str) -> bool:
        fits = re.compile(translate(f"*/{pattern.removeprefix('**/')}")).match
        return any(fits(f"/{path}") for places in self._files.values() for path in places)

    def _usual_lines(self, told: Mapping[str, Sequence[KnownLine]]) -> tuple[UsualLine, ...]:
        """Return, of each kind, the line that most of the last sessions ran.

        Args:
            told: by kind, the lines that agents may read.
        """
        last = list(self._checking)[-_LAST_CHECKING:]
        found = []
        for kind in USUAL_KINDS:
            ran = [
                UsualLine(kind, line.line, self._ran_in(line, last), len(last))
                for line in told.get(kind, ())
                if line.sessions >= _OFTEN
                or (line.sessions >= FEWEST_SESSIONS and line.sessions >= len(self._checking))
            ]
            # Of equal ones the first of `lines`: on all, and the newest.
            best = max(ran, key=lambda line: line.sessions, default=None)
            if best is not None and best.sessions >= len(last) / 2:
                found.append(best)
        return tuple(found)

    def _checked_endings(self) -> tuple[str, ...]:
        """Return the endings of files after whose last edit most sessions checked something."""
        return tuple(
            ending
            for ending, sessions in sorted(self._edited.items())
            if len(sessions) >= _FEWEST_EDITED
            and sum(sessions.values()) >= _MOSTLY_CHECKED * len(sessions)
        )

    def _ran_in(self, line: KnownLine, sessions: Sequence[str]) -> int:
        """Return in how many of these sessions a line ran."""
        return len(self._lines[line.kind][line.line].outcomes.keys() & sessions)

    def need(self, key: str) -> KnownNeed | None:
        """Return what a command needs first; None if nothing is known."""
        return self._needs.need(key)

    def every_need(self) -> dict[str, KnownNeed]:
        """Return what commands need first, by the name of each command."""
        return self._needs.every_need()

    def file(self, name: str) -> KnownFile | None:
        """Return where a file of exactly this name was opened, if it was in one place mostly."""
        places = self._files.get(name)
        if not places:
            return None
        path, sessions = min(places.items(), key=lambda item: (-len(item[1]), item[0]))
        every = len(set().union(*places.values()))
        if len(sessions) < _FEWEST_OPENED or len(sessions) < _MOST_OPENED * every:
            return None
        tellers = {run.speaker for run in sessions.values()}
        rivals = {run.speaker for each in places.values() for run in each.values()}
        is_told = may_be_quoted(tellers, rivals, self._speakers)
        return KnownFile(path, len(sessions)) if is_told else None

    @property
    def names(self) -> Collection[str]:
        """The names of files that were opened."""
        return self._files

    def runs_opening(self, path: str) -> Sequence[TriedRun]:
        """Return the last run of each session that opened a file, the newest first."""
        return [*reversed(self._files[basename(path)][path].values())]

    def runs_seeking(self, pattern: str) -> Sequence[TriedRun]:
        """Return the last run of each of the last sessions that sought a file in vain."""
        vain: list[TriedRun] = []
        for run in reversed(self._sought[pattern].values()):
            if run is None:
                break
            vain.append(run)
        return vain

    def facts(self) -> MomentFacts:
        """Return all that is told at a failure."""
        names = list(islice(reversed(self._files), _MOST_FILES))
        checks = {kind: self._told_lines(kind) for kind in sorted(self._lines)}
        told = {each.line for lines in checks.values() for each in lines}
        return MomentFacts(
            usual=self._usual_lines(checks),
            checked=self._checked_endings(),
            never=self._never_found(),
            failures={
                key: tuple(each if each.remedy in told else _without_remedy(each) for each in known)
                for key, known in self._failures().items()
            },
            checks={kind: lines[:_MOST_LINES] for kind, lines in checks.items()},
            files={name: found for name in sorted(names) if (found := self.file(name))},
            needs=self.every_need(),
        )

    def every_failure(self) -> dict[str, tuple[KnownFailure, ...]]:
        """Return what failed in the last sessions that called it, by each name of the call."""
        return {key: found for key in self._tries if (found := tuple(self._of_each_machine(key)))}

    def _failures(self) -> dict[str, tuple[KnownFailure, ...]]:
        found = {
            key: kept
            for key, known in self.every_failure().items()
            if (kept := tuple(each for each in known if _is_told(each)))
        }
        newest = sorted(found, key=lambda key: (-found[key][0].last_at, key))[:_MOST_FAILURES]
        return {key: found[key] for key in newest}

    def _of_each_machine(self, key: str) -> Iterable[KnownFailure]:
        machines = _machines(self._tries[key])
        return (each for machine in machines if (each := self.failure(key, machine)))


def _work(call: TriedCall) -> tuple[TriedCheck, ...]:
    """Return what a call did that checks nothing, as a check that passed; nothing if it failed."""
    kind = work_of(call.line) if call.ok and call.line else ""
    return (TriedCheck(kind, PASSED, call.line),) if kind else ()


def _moment(call: TriedCall, run: TriedRun) -> float:
    """Return when a call was made: before its run had ended, which it had before its receipt."""
    return min(call.at or run.ended_at, run.ended_at)


def _without_remedy(failure: KnownFailure) -> KnownFailure:
    return replace(failure, remedy="", remedied=0) if failure.remedy else failure


def _machines(tries: Mapping[str, _Tries]) -> list[str]:
    return sorted({each.machine for each in tries.values()})


def _last_ended(
    sessions: Iterable[tuple[str, _Tries]], machine: str
) -> tuple[KnownFailure, float] | None:
    """Return the last standing defect that a success ended, and when; None if it began again."""
    ended: tuple[Sequence[tuple[str, _Tries]], float] | None = None
    streak: list[tuple[str, _Tries]] = []
    for session, tries in sessions:
        if tries.machine and machine and tries.machine != machine:
            continue
        if not tries.ran:
            streak.append((session, tries))
            continue
        if _is_standing(streak):
            ended = streak, tries.ran_at
        streak = []
    if ended is None or _is_standing(streak):
        return None
    failed, ended_at = ended
    return _known_failure(failed[::-1], machine, never=False), ended_at


def _is_standing(streak: Sequence[tuple[str, _Tries]]) -> bool:
    since = min((tries.since for _, tries in streak), default=0.0)
    return is_standing(len(streak), max((t.last_at for _, t in streak), default=0.0) - since)


def _is_told(failure: KnownFailure) -> bool:
    # Of a check that did not start, one session is enough to tell what ran instead.
    return failure.sessions >= FEWEST_SESSIONS or bool(failure.kinds)


def _known_failure(
    streak: Sequence[tuple[str, _Tries]], machine: str, *, never: bool
) -> KnownFailure:
    """Return the fact of sessions in a row that failed, the newest first."""
    newest = streak[0][1]
    then = Counter(line for _, tries in streak for line in sorted(tries.then))
    remedy, remedied = min(then.items(), key=lambda item: (-item[1], item[0]), default=("", 0))
    return KnownFailure(
        says=newest.says,
        sessions=len(streak),
        since=min(tries.since for _, tries in streak),
        last_at=max(tries.last_at for _, tries in streak),
        error=newest.error,
        template=error_template(newest.error),
        remedy=remedy,
        remedied=remedied,
        kinds=newest.kinds,
        machine=machine,
        recent=tuple(session for session, _ in streak[:_RECENT]),
        outcomes=tuple(dict.fromkeys(tries.outcome for _, tries in streak))[:_RECENT],
        calls=sum(tries.failed for _, tries in streak),
        never=never,
    )


def _known_line(kind: str, text: str, line: _Line) -> KnownLine:
    newest = list(reversed(line.outcomes.items()))[:_RECENT]
    return KnownLine(
        kind=kind,
        line=text,
        sessions=len(line.times),
        times=line.times.total(),
        last_at=line.last_at,
        is_whole=line.is_whole,
        passed=line.passed,
        machines=tuple(sorted(line.machines)),
        recent=tuple(session for session, _ in newest),
        outcomes=tuple(outcome for _, outcome in newest),
        since=line.since,
    )
