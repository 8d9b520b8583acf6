"""Replay: what recorded sessions would have been told, in order of time, and how much was right.

A session knows what others had ended by then, and nothing of its own future. Each figure stands
beside what it is a share of.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from trackrecord.learning.advice.moments.calls import (
    EDITS,
    PASSED,
    RAN,
    TriedCall,
    TriedRun,
    is_inside,
    keys_of,
)
from trackrecord.learning.advice.moments.facts import FEWEST_SESSIONS
from trackrecord.learning.advice.moments.hints import (
    Hint,
    HintKind,
    SessionCalls,
    hint_after,
    hint_at_stop,
    standing_lines,
)
from trackrecord.learning.advice.moments.history import CallHistory
from trackrecord.learning.advice.moments.wording import named_text, names_in
from trackrecord.learning.numbers.speaker_names import LOCAL
from trackrecord.learning.numbers.wilson import wilson_interval
from trackrecord.settings.capture_rules import CaptureRules
from trackrecord.wire.outcome import decode_outcome, encode_body
from trackrecord.wire.tried_calls import tried_digest, tried_run
from trackrecord_capture.agent_run import AgentRun
from trackrecord_capture.outcome import outcome_of
from trackrecord_capture.sources.register import find_logs, known_sources
from trackrecord_capture.sources.source import ReadRun

_TEST = "test"
NO_TASKS: Mapping[int, str] = {}
_MOST_ENTRIES = 5


@dataclass(frozen=True, slots=True)
class CountedShare:
    """A share, with its counts.

    Attributes:
        part: how many were.
        whole: how many there were.
    """

    part: int
    whole: int

    @property
    def rate(self) -> float | None:
        """The share; None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Its 95% interval; None of nothing."""
        return wilson_interval(self.part, self.whole - self.part) if self.whole else None

    def to_document(self) -> dict[str, Any]:
        """Return the share as a JSON object."""
        return {
            "part": self.part, "whole": self.whole, "rate": self.rate, "interval": self.interval,
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SessionReplay:
    """The hints that recorded sessions would have got.

    Attributes:
        sessions: sessions in which something was called that can be tried again.
        calls: their calls that did their work or failed.
        failures: those that failed.
        hints: how many hints there would have been, by kind.
        silent: sessions without any.
        silent_elsewhere: the same, without the sessions that were told of a standing defect: as
            long as nobody mends it, each session that meets it is told.
        by_entry: what was told in most sessions, and in two at least, with the share of them.
        most: the most in one session.
        right: by kind, the hints that proved right among those that can be judged: the line ran
            later in the session; the call did not work later; the file was opened there later.
        first_failures: of the first checks of a kind in a session that did not start, while a line
            was known that runs: those at which one was told.
        recalled: of the failing calls, those at which a known failure was told.
        false_alarms: of the calls that did their work, those of which it was known that they fail.
        unverified: of the sessions that tried to run tests and never got any to run, those in
            which a line was known that runs them.
        tested: sessions that tried to run tests.
        told_sessions: of the sessions, those that were told anything: at their start, with their
            first prompt, or at a failure.
        told_of_failing: the same of those in which something failed.
        usual_lines: of the lines that session starts named because most sessions run them, those
            that the session ran.
        named_files: of the files that the first prompts only named, and that were then opened,
            those that were opened at the place told.
        reminded: of the sessions with edits, those told at the end of a turn that nothing has
            checked the last one.
        reminders_found: of those in which something was checked after that, those in which the
            first check found something.
        told: every hint, in order of time, with its session and whether it was right.
    """

    sessions: int
    calls: int
    failures: int
    hints: dict[str, int]
    silent: CountedShare
    silent_elsewhere: CountedShare
    by_entry: tuple[tuple[str, CountedShare], ...]
    most: int
    right: dict[str, CountedShare]
    first_failures: CountedShare
    recalled: CountedShare
    false_alarms: CountedShare
    unverified: CountedShare
    tested: int
    told_sessions: CountedShare
    told_of_failing: CountedShare
    usual_lines: CountedShare
    named_files: CountedShare
    reminded: CountedShare
    reminders_found: CountedShare
    told: tuple[tuple[str, str, str, bool | None], ...] = ()

    @property
    def per_session(self) -> float:
        """Return how many hints a session gets in the mean."""
        return sum(self.hints.values()) / self.sessions if self.sessions else 0.0

    def to_document(self) -> dict[str, Any]:
        """Return the figures as a JSON object."""
        return {
            "sessions": self.sessions,
            "calls": self.calls,
            "failures": self.failures,
            "hints": self.hints,
            "hints_per_session": self.per_session,
            "most_in_a_session": self.most,
            "silent_sessions": self.silent.to_document(),
            "silent_sessions_without_standing_defects": self.silent_elsewhere.to_document(),
            "sessions_by_entry": [
                {"entry": entry, "sessions": share.to_document()} for entry, share in self.by_entry
            ],
            "right": {kind: share.to_document() for kind, share in self.right.items()},
            "told_at_first_failures": self.first_failures.to_document(),
            "failures_told": self.recalled.to_document(),
            "false_alarms": self.false_alarms.to_document(),
            "never_tested_with_a_line_known": self.unverified.to_document(),
            "sessions_that_test": self.tested,
            "told_sessions": self.told_sessions.to_document(),
            "told_sessions_with_a_failure": self.told_of_failing.to_document(),
            "usual_lines_run": self.usual_lines.to_document(),
            "named_files_opened_there": self.named_files.to_document(),
            "sessions_with_edits_reminded": self.reminded.to_document(),
            "next_checks_that_found_something": self.reminders_found.to_document(),
            "told": [
                {"session": session, "kind": kind, "text": text, "right": right}
                for session, kind, text, right in self.told
            ],
        }


@dataclass
class _Session:
    """A session as it goes on: its calls, and the hints with the place at which each was told."""

    state: SessionCalls
    calls: list[TriedCall] = field(default_factory=list)
    hints: list[tuple[int, float, Hint]] = field(default_factory=list)
    failed_first: set[str] = field(default_factory=set)
    could_test: bool = False
    met_standing: bool = False
    failed: bool = False
    standing: bool = False
    usual: tuple[str, ...] = ()
    named: Mapping[str, str] = field(default_factory=dict)
    has_edited: bool = False
    unchecked: str = ""
    is_reminded: bool = False
    next_found: bool | None = None

    def note_edit(self, call: TriedCall) -> None:
        """Take note of an edit, or of a check, and what the first one after a reminder found."""
        if call.ok and call.tool.lower() in EDITS and is_inside(call.file or "/"):
            self.has_edited, self.unchecked = True, call.file
        elif call.checks and call.ran:
            self.unchecked = ""
            if self.is_reminded and self.next_found is None:
                self.next_found = any(check.state == RAN for check in call.checks)

    @property
    def is_told(self) -> bool:
        """Return whether it was told anything."""
        return bool(self.hints or self.standing or self.usual or self.named or self.is_reminded)


class _Repository:
    """One repository while its sessions are replayed."""

    def __init__(self) -> None:
        self.history = CallHistory()
        self.sessions: dict[str, _Session] = {}
        self.counts: Counter[str] = Counter()

    def _session(self, run: TriedRun, task: str, at: float) -> _Session:
        known = self.sessions.get(run.session)
        if known is not None:
            return known
        facts = self.history.facts()
        files = ((name, self.history.file(name)) for name in names_in(task))
        begun = _Session(
            SessionCalls(id=run.session),
            standing=bool(standing_lines(facts, at) or facts.never),
            usual=tuple(line.line for line in facts.usual),
            named={
                name: file.path for name, file in files if file and named_text([name], self.history)
            },
        )
        self.sessions[run.session] = begun
        return begun

    def call(self, run: TriedRun, call: TriedCall, task: str, at: float) -> None:
        session = self._session(run, task, at)
        session.failed |= call.failed
        session.note_edit(call)
        if not (call.failed or call.ran):
            session.calls.append(call)
            session.state.add(call)
            return
        self.counts["calls"] += 1
        self.counts["failures"] += call.failed
        self.counts["alarms"] += call.ran and self._would_alarm(call, run, session)
        first = [kind for kind in call.not_started if self._is_first(session, kind, call)]
        session.could_test |= bool(self.history.lines(_TEST))
        session.calls.append(call)
        session.state.add(call)
        hint = hint_after(
            self.history, call, call.error, session.state, machine=run.machine, now=at
        )
        self.counts["first"] += len(first)
        if hint is None:
            return
        session.state.note(hint)
        session.hints.append((len(session.calls), at, hint))
        session.met_standing |= any(
            known is not None and known.is_standing
            for known in (self.history.failure(key, run.machine) for key in keys_of(call))
        )
        self.counts["told first"] += hint.check in first
        self.counts["recalled"] += hint.kind is HintKind.FAILURE

    def end(self, run: TriedRun) -> None:
        """Take note of the end of a run, at which its session may be reminded of an edit."""
        session = self.sessions.get(run.session)
        if session is not None and session.unchecked and not session.is_reminded:
            session.is_reminded = hint_at_stop(self.history.facts(), session.unchecked) is not None
        self.history.add(run)

    def _is_first(self, session: _Session, kind: str, call: TriedCall) -> bool:
        """Return whether a kind of check fails to start for the first time, and a line is known."""
        if kind in session.state.checked or kind in session.failed_first:
            return False
        session.failed_first.add(kind)
        return any(line.line != call.told for line in self.history.lines(kind))

    def _would_alarm(self, call: TriedCall, run: TriedRun, session: _Session) -> bool:
        for key in keys_of(call):
            found = self.history.failure(key, run.machine)
            others = 0 if found is None else found.sessions - (run.session in found.recent)
            if others >= FEWEST_SESSIONS and key not in session.state.ran:
                return True
        return False


def replay(runs: Iterable[TriedRun], tasks: Mapping[int, str] = NO_TASKS) -> SessionReplay:
    """Go through sessions in order of time, and return what would have been told in them.

    Args:
        runs: the runs of one project, in any order.
        tasks: by the number of a run, the text of its task.
    """
    repositories: defaultdict[str, _Repository] = defaultdict(_Repository)
    for at, run, call in _events(runs):
        repository = repositories[run.repository]
        if call is None:
            repository.end(run)
        else:
            repository.call(run, call, tasks.get(run.outcome, ""), at)
    return together([_replayed(each) for _, each in sorted(repositories.items())])


def _events(runs: Iterable[TriedRun]) -> Iterator[tuple[float, TriedRun, TriedCall | None]]:
    """Yield the calls in order of time, and each run when it has ended."""
    events: list[tuple[float, int, int, TriedRun, TriedCall | None]] = []
    for number, run in enumerate(sorted(runs, key=lambda run: (run.ended_at, run.session))):
        last = 0.0
        for call in run.calls:
            last = max(last, call.at or run.ended_at)
            events.append((last, number, len(events), run, call))
        events.append((max(last, run.ended_at), number, len(events), run, None))
    events.sort(key=lambda event: event[:3])
    return ((at, run, call) for at, _, _, run, call in events)


def _replayed(repository: _Repository) -> SessionReplay:
    sessions, counts = repository.sessions, repository.counts
    judged: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    told: list[tuple[float, str, str, str, bool | None]] = []
    for name, session in sessions.items():
        for place, at, hint in session.hints:
            right = _is_right(hint, session.calls[place:])
            told.append((at, name, hint.kind.value, hint.text, right))
            if right is not None:
                judged[hint.kind][right] += 1
    told.sort()
    every = list(sessions.values())
    tested = [each for each in every if _tries(each, _TEST)]
    never = [each for each in tested if _TEST not in each.state.checked and _fails(each, _TEST)]
    spoke = sum(bool(each.hints) for each in sessions.values())
    standing = sum(each.met_standing for each in sessions.values())
    entries = Counter(
        entry for each in sessions.values() for entry in {hint.entry for _, _, hint in each.hints}
    )
    kinds = Counter(hint.kind.value for each in sessions.values() for _, _, hint in each.hints)
    return SessionReplay(
        sessions=len(sessions),
        calls=counts["calls"],
        failures=counts["failures"],
        hints=dict(sorted(kinds.items())),
        silent=CountedShare(len(sessions) - spoke, len(sessions)),
        silent_elsewhere=CountedShare(len(sessions) - spoke, len(sessions) - standing),
        by_entry=_most_told(
            (entry, CountedShare(n, len(sessions))) for entry, n in entries.items()
        ),
        most=max((len(each.hints) for each in sessions.values()), default=0),
        right={
            kind: CountedShare(each[True], each.total()) for kind, each in sorted(judged.items())
        },
        first_failures=CountedShare(counts["told first"], counts["first"]),
        recalled=CountedShare(counts["recalled"], counts["failures"]),
        false_alarms=CountedShare(counts["alarms"], counts["calls"] - counts["failures"]),
        unverified=CountedShare(sum(each.could_test for each in never), len(never)),
        tested=len(tested),
        told_sessions=CountedShare(sum(each.is_told for each in every), len(every)),
        told_of_failing=CountedShare(
            sum(each.is_told and each.failed for each in every), sum(each.failed for each in every)
        ),
        usual_lines=_sum(map(_ran_of_usual, every)),
        named_files=_sum(map(_opened_of_named, every)),
        reminded=CountedShare(
            sum(each.is_reminded for each in every), sum(each.has_edited for each in every)
        ),
        reminders_found=CountedShare(
            sum(each.next_found is True for each in every),
            sum(each.next_found is not None for each in every),
        ),
        told=tuple((name, kind, text, right) for _, name, kind, text, right in told),
    )


def _ran_of_usual(session: _Session) -> CountedShare:
    ran = {check.line for call in session.calls for check in call.checks}
    ran.update(call.line for call in session.calls)
    return CountedShare(sum(line in ran for line in session.usual), len(session.usual))


def _opened_of_named(session: _Session) -> CountedShare:
    opened = {call.file for call in session.calls if call.ok and call.file}
    names = {path.rpartition("/")[2] for path in opened}
    judged = [path for name, path in session.named.items() if name in names]
    return CountedShare(sum(path in opened for path in judged), len(judged))


def _tries(session: _Session, kind: str) -> bool:
    return any(check.kind == kind for call in session.calls for check in call.checks)


def _fails(session: _Session, kind: str) -> bool:
    return any(kind in call.not_started for call in session.calls)


def _is_right(hint: Hint, later: Iterable[TriedCall]) -> bool | None:
    """Return whether what followed in the session bears a hint out; None if nothing tells."""
    if hint.kind is HintKind.LINE:
        ran = [
            check.line
            for call in later
            for check in call.checks
            if check.kind == hint.check and check.state in (PASSED, RAN)
        ]
        if not ran:
            return None
        return any(each == hint.proposed or each.startswith(f"{hint.proposed} ") for each in ran)
    if hint.kind is HintKind.FILE:
        name = hint.proposed.rpartition("/")[2]
        opened = [call.file for call in later if call.ok and call.file.endswith(name)]
        return hint.proposed in opened if opened else None
    if hint.kind is HintKind.NEED:
        return _is_need_right(hint, later)
    return not any(call.ran and hint.key in keys_of(call) for call in later)


def _is_need_right(hint: Hint, later: Iterable[TriedCall]) -> bool | None:
    """Return whether the call ran only once what it needs had; None if it did not run again."""
    has_run = False
    for call in later:
        if call.ran and hint.key in keys_of(call):
            return has_run
        has_run = has_run or (call.ran and call.words == hint.proposed)
    return None


def together(parts: Iterable[SessionReplay]) -> SessionReplay:
    """Return the figures of several repositories as one."""
    every = list(parts)
    hints: Counter[str] = Counter()
    for each in every:
        hints.update(each.hints)
    kinds = sorted({kind for each in every for kind in each.right})
    return SessionReplay(
        sessions=sum(each.sessions for each in every),
        calls=sum(each.calls for each in every),
        failures=sum(each.failures for each in every),
        hints=dict(sorted(hints.items())),
        silent=_sum(each.silent for each in every),
        silent_elsewhere=_sum(each.silent_elsewhere for each in every),
        by_entry=_most_told(told for each in every for told in each.by_entry),
        most=max((each.most for each in every), default=0),
        right={
            kind: _sum(each.right[kind] for each in every if kind in each.right) for kind in kinds
        },
        first_failures=_sum(each.first_failures for each in every),
        recalled=_sum(each.recalled for each in every),
        false_alarms=_sum(each.false_alarms for each in every),
        unverified=_sum(each.unverified for each in every),
        tested=sum(each.tested for each in every),
        told_sessions=_sum(each.told_sessions for each in every),
        told_of_failing=_sum(each.told_of_failing for each in every),
        usual_lines=_sum(each.usual_lines for each in every),
        named_files=_sum(each.named_files for each in every),
        reminded=_sum(each.reminded for each in every),
        reminders_found=_sum(each.reminders_found for each in every),
        told=tuple(hint for each in every for hint in each.told),
    )


def _most_told(told: Iterable[tuple[str, CountedShare]]) -> tuple[tuple[str, CountedShare], ...]:
    often = [each for each in told if each[1].part > 1]
    ordered = sorted(often, key=lambda each: (-each[1].part, each[0], each[1].whole))
    return tuple(ordered[:_MOST_ENTRIES])


def _sum(shares: Iterable[CountedShare]) -> CountedShare:
    every = list(shares)
    return CountedShare(sum(each.part for each in every), sum(each.whole for each in every))


def replay_sessions(rules: CaptureRules, paths: Sequence[Path]) -> SessionReplay:
    """Return what recorded sessions would have been told; nothing is published.

    Args:
        rules: what is kept of a run.
        paths: files and folders of agents' logs.
    """
    projects, tasks = _runs_by_project(rules, paths)
    return together([replay(runs, tasks) for _, runs in sorted(projects.items())])


def _runs_by_project(
    rules: CaptureRules, paths: Sequence[Path]
) -> tuple[dict[str, list[TriedRun]], dict[int, str]]:
    logs = find_logs(known_sources().values(), paths)
    projects: defaultdict[str, list[TriedRun]] = defaultdict(list)
    project_of: dict[str, str] = {}
    runs: dict[str, AgentRun] = {}
    for source, log in logs:
        for read in source.read(log):
            if isinstance(read, ReadRun):
                run = read.run
                # A fork repeats the runs of its session: each counts once, as the fullest copy.
                name = f"{source.name} {run.record}" if run.record else run.outcome_id
                known = runs.get(name)
                if known is None or _fullness(run) > _fullness(known):
                    runs[name] = run
    tasks: dict[int, str] = {}
    for number, run in enumerate(runs.values(), 1):
        tasks[number] = run.instruction
        if (fields := outcome_of(run, rules)) is None:
            continue
        outcome = decode_outcome(encode_body(fields))
        if digest := tried_digest(outcome):
            ended_at = outcome.ended_at(run.ended_at)
            tried = tried_run(digest, outcome=number, ended_at=ended_at, speaker=LOCAL)
            # Where a recorded folder is gone, its name stands for the repository.
            projects[project_of.setdefault(tried.session, outcome.project)].append(tried)
    return dict(projects), tasks


def _fullness(run: AgentRun) -> tuple[float, bool]:
    return run.ended_at, not run.is_copy
