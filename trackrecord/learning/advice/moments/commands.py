"""Commands as people see them: by repository and kind of check, what runs and what does not.

Facts have ids by which a person dismisses them; no agent is told of them then.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

import msgspec

from ...numbers.speakers import is_known
from ..runs.failures import error_template, names_its_remedy
from .calls import CI, UNNAMED, WORK, TriedRun, exact_key
from .facts import (
    CHECKING_KINDS,
    FEWEST_SESSIONS,
    Defect,
    KnownFailure,
    KnownLine,
    KnownNeed,
    MomentFacts,
    is_standing,
)
from .history import CallHistory
from .wording import (
    code,
    defect_words,
    ended_words,
    failing_words,
    file_words,
    needing_words,
    never_text,
    often_words,
    running_words,
)

COMMAND: Final = "command"
FILE: Final = "file"
_DIGEST_BYTES: Final = 8


def command_id(repository: str, kind: str, line: str, machine: str = "") -> str:
    """Return the id of a fact about a command or a file."""
    whole = "\0".join((repository, kind, line, machine)).encode(errors="replace")
    return hashlib.blake2b(whole, digest_size=_DIGEST_BYTES).hexdigest()


def failure_id(repository: str, key: str, failure: KnownFailure) -> str:
    """Return the id of what fails; of one shape of lines it is the same whichever failed last."""
    kind = failure.kinds[0] if failure.kinds else COMMAND
    return command_id(repository, kind, key.partition(" ")[2], failure.machine)


def need_id(repository: str, need: KnownNeed) -> str:
    """Return the id of what a command needs first."""
    kind = need.kinds[0] if need.kinds else COMMAND
    return command_id(repository, kind, f"{need.first}\0{need.says}")


def facts_without(facts: MomentFacts, repository: str, dismissed: Collection[str]) -> MomentFacts:
    """Return facts without those that a person dismissed.

    Args:
        facts: those of a repository.
        repository: the repository.
        dismissed: the ids of facts.
    """
    if not dismissed:
        return facts

    def is_told(kind: str, line: str) -> bool:
        return command_id(repository, kind, line) not in dismissed

    def is_told_of(key: str, failure: KnownFailure) -> bool:
        # By its line, too, where it is known by the shape of it.
        keys = (key, f"line {failure.says}")
        return all(failure_id(repository, each, failure) not in dismissed for each in keys)

    failures = {
        key: tuple(each for each in known if is_told_of(key, each))
        for key, known in facts.failures.items()
    }
    return msgspec.structs.replace(
        facts,
        failures={key: kept for key, kept in failures.items() if kept},
        checks={
            kind: tuple(each for each in lines if is_told(kind, each.line))
            for kind, lines in facts.checks.items()
        },
        needs={
            key: need
            for key, need in facts.needs.items()
            if need_id(repository, need) not in dismissed
        },
        files={name: file for name, file in facts.files.items() if is_told(FILE, name)},
        never=tuple(each for each in facts.never if is_told(FILE, each[0])),
        usual=tuple(each for each in facts.usual if is_told(each.kind, each.line)),
    )


MOST_RUNS: Final = 2000
"""How many runs are read: half a second's work; a streak that is older has long been told."""
# Names of calls that are shown only where each command is.
_UNLISTED: Final = ("shape ", "file ", "tool ")
# A reason that is told of a tool is that of so many of the sessions.
_OFTEN: Final = 0.3
_SHELL: Final = "shell:"
_MOST_OUTCOMES: Final = 8
# What stands before it is a command of its own, such as a change of the folder.
_JOINS: Final = re.compile(r"[;&|]")
KINDS: Final = ("test", "check", "build", "type check", "lint", *WORK, CI, COMMAND, FILE)
"""The kinds of commands, in the order in which they are shown."""


class CommandState(StrEnum):
    """The present state of a command."""

    NEVER_RAN = "never ran"
    FAILS = "does not run"
    """It ran in the past."""
    NEEDS = "needs another first"
    """It hardly ever ran without another command before it, and nearly always with it."""
    OFTEN_FAILS = "often fails"
    """It failed in three sessions or more, mostly for one reason, and works between."""
    RUNS = "runs"
    OPENED = "was opened"
    """A file, mostly in one place."""
    NOT_HERE = "is not here"
    """A file that the last sessions sought in vain."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one command, or of one file, over the sessions in a repository.

    Attributes:
        id: follows from the repository, the kind and the line.
        repository: the repository; "" for the project's own.
        kind: the kind of check; "command" for any other, "file" for the name of a file.
        line: the command line, or its first words; the name, or the pattern, of a file.
        state: how it fares now.
        text: the fact with its counts, in English.
        sessions: of one that runs, the sessions in which it did; else the last sessions, in each of
            which it failed.
        calls: how often it ran or failed in these.
        since: the first time, seconds since the epoch.
        last_at: the last time.
        error: the line that tells of the last error; "" for none.
        instead: the check that then ran in the same sessions, what has to run first, or the place
            of a file.
        instead_sessions: in how many of them.
        is_standing: whether it has failed for so long that a person should hear of it.
        machine: where it fails; "" for any machine.
        key: the name by which failing calls of it are known; "" of one that runs.
        told: the line of such checks that agents are told first; "" for none.
        is_whole: whether it checks all that its program would.
        is_minor: whether few want to see it: a file that was opened, a line that only puts a
            launcher before one that runs in more sessions, what is known of the shape of a line.
        outcomes: the rows of the outcomes of its newest sessions, the newest first.
    """

    id: str
    repository: str
    kind: str
    line: str
    state: CommandState
    text: str
    sessions: int
    calls: int
    since: float
    last_at: float
    error: str = ""
    instead: str = ""
    instead_sessions: int = 0
    is_standing: bool = False
    machine: str = ""
    key: str = ""
    told: str = ""
    is_whole: bool = False
    is_minor: bool = False
    outcomes: tuple[int, ...] = ()


def commands_of(runs: Sequence[TriedRun], *, now: float) -> list[Command]:
    """Return what runs and what does not: standing defects first, then by kind, the newest first.

    Args:
        runs: the runs of one project, in the order of their ends.
        now: the moment to answer for, seconds since the epoch.
    """
    histories = histories_of(runs)
    told = {name: (each, each.facts()) for name, each in told_histories(runs, histories).items()}
    by_repository: defaultdict[str, list[TriedRun]] = defaultdict(list)
    for run in runs:
        by_repository[run.repository].append(run)
    found: list[Command] = []
    for repository, history in sorted(histories.items()):
        teller, facts = told.get(repository, (history, MomentFacts()))
        commands = list(_commands(repository, history, now))
        for command in commands:
            lines = facts.checks.get(command.kind, ())
            line = lines[0].line if lines else ""
            found.append(msgspec.structs.replace(command, told=line))
        known = {
            each.line for each in commands if each.sessions >= FEWEST_SESSIONS and not each.is_minor
        }
        found += _failing_tools(repository, by_repository[repository], known)
        found += _files(repository, teller, facts)
    return sorted(found, key=_rank)


def told_histories(
    runs: Sequence[TriedRun], of_all: Mapping[str, CallHistory] | None = None
) -> Mapping[str, CallHistory]:
    """Return the histories that agents are told from: of speakers who are known, or the only one.

    Args:
        runs: the runs of one project, in the order of their ends.
        of_all: what `histories_of` returned of all of them; None where it was not asked.
    """
    told = runs
    if len({run.speaker for run in runs}) > 1:
        told = [run for run in runs if is_known(run.speaker)]
    return of_all if of_all is not None and len(told) == len(runs) else histories_of(told)


def histories_of(runs: Iterable[TriedRun]) -> dict[str, CallHistory]:
    """Return the history of each repository.

    Args:
        runs: the runs of one project, in the order of their ends.
    """
    histories: dict[str, CallHistory] = {}
    for run in runs:
        histories.setdefault(run.repository, CallHistory()).add(run)
    return histories


def _rank(command: Command) -> tuple[object, ...]:
    is_over = command.state is CommandState.RUNS
    standing = (not command.is_standing, -command.sessions if command.is_standing else 0)
    return (
        command.repository, standing, KINDS.index(command.kind), is_over, -command.sessions,
        -command.last_at, command.line,
    )  # fmt: skip


def _commands(repository: str, history: CallHistory, now: float) -> Iterator[Command]:
    for kind in KINDS[:-2]:
        lines = history.lines(kind)
        for line in lines:
            if kind not in CHECKING_KINDS and line.sessions < FEWEST_SESSIONS:
                continue
            yield _running(repository, line, now, is_minor=_is_wrapped(line, lines))
    needs = history.every_need()
    exact = {need.says for key, need in needs.items() if key.startswith("line ")}
    for key, need in needs.items():
        if key.startswith(_UNLISTED):
            continue
        if key.startswith("line ") or not any(need.says in line for line in exact):
            yield _needing_command(repository, key, need)
    yield from _failing_commands(repository, history, now)


def _failing_commands(repository: str, history: CallHistory, now: float) -> Iterator[Command]:
    """Yield all that fails; of what another one says better, that few want to see it."""
    failing = list(_failing(history))
    listed = [(each, False) for each in _listed(failing)]
    found: dict[str, Command] = {}
    for (key, each), is_minor in (*listed, *((each, True) for each in failing)):
        command = _failing_command(repository, key, each, now)
        found.setdefault(command.id, msgspec.structs.replace(command, is_minor=is_minor))
    yield from found.values()


def _listed(failing: Sequence[tuple[str, KnownFailure]]) -> Iterator[tuple[str, KnownFailure]]:
    """Yield what fails, without what a line says more exactly or the first words as well."""
    named = [(key, each) for key, each in failing if not key.startswith(_UNLISTED)]
    exact = [each for key, each in named if key.startswith("line ")]
    words = [each for key, each in named if not key.startswith("line ")]
    shown = [each for each in words if not any(_says_more(line, each) for line in exact)]
    by_words = {(each.says, each.machine) for each in shown}
    for key, each in named:
        if key.startswith("line "):
            if (each.says, each.machine) not in by_words:
                yield key, each
        elif each in shown:
            yield key, each


def _says_more(line: KnownFailure, words: KnownFailure) -> bool:
    """Return whether a line tells what its first words tell, of as many sessions if it is it."""
    if line.says == words.says:
        return line.sessions >= words.sessions
    return words.says in line.says and (line.is_standing or not words.is_standing)


def _failing(history: CallHistory) -> Iterator[tuple[str, KnownFailure]]:
    """Yield what fails: checks that do not start, and what failed in three sessions or more."""
    for key, known in history.every_failure().items():
        for each in known:
            is_check = each.is_of_check and key == exact_key(each.says)
            if each.says and (is_check or each.sessions >= FEWEST_SESSIONS):
                yield key, each


def defects_of(histories: Mapping[str, CallHistory], *, now: float) -> tuple[Defect, ...]:
    """Return the standing defects, the longest streak first, and then those that have ended.

    Args:
        histories: those of a project's repositories.
        now: the moment to answer for, seconds since the epoch.
    """
    found: dict[str, Defect] = {}
    for repository, history in sorted(histories.items()):
        place = f"in repository {code(repository)}, " if len(histories) > 1 and repository else ""
        for each in (*_standing(repository, history, now), *_ended(repository, history, now)):
            told = msgspec.structs.replace(each, text=f"{place}{each.text}")
            known = found.setdefault(each.id, told)
            if not known.ended_at and not each.ended_at and each.sessions > known.sessions:
                found[each.id] = told
    return tuple(sorted(found.values(), key=lambda each: (each.ended_at, -each.sessions, each.id)))


def _standing(repository: str, history: CallHistory, now: float) -> Iterator[Defect]:
    for key, failure in _listed(list(_failing(history))):
        if failure.is_standing:
            lines = history.lines(failure.kinds[0]) if failure.kinds else ()
            line = next((line for line in lines if line.line != failure.says), None)
            text = defect_words(failure, line, now)
            instead = failure.remedy or ("" if line is None else line.line)
            yield Defect(
                failure_id(repository, key, failure),
                failure.says,
                text,
                failure.sessions,
                instead=instead,
                last_at=failure.last_at,
            )


def _ended(repository: str, history: CallHistory, now: float) -> Iterator[Defect]:
    for key, ended in history.ended_failures().items():
        if not key.startswith(_UNLISTED):
            for failure, at in ended:
                yield Defect(
                    failure_id(repository, key, failure),
                    failure.says,
                    ended_words(failure, at, now),
                    failure.sessions,
                    at,
                )


def _is_wrapped(line: KnownLine, lines: Iterable[KnownLine]) -> bool:
    """Return whether a line is one that runs in more sessions, behind a launcher."""
    for other in lines:
        before = line.line.removesuffix(f" {other.line}")
        if before != line.line and other.sessions > line.sessions and not _JOINS.search(before):
            return True
    return False


def _running(repository: str, line: KnownLine, now: float, *, is_minor: bool) -> Command:
    return Command(
        id=command_id(repository, line.kind, line.line),
        repository=repository,
        kind=line.kind,
        line=line.line,
        state=CommandState.RUNS,
        text=running_words(line, now),
        sessions=line.sessions,
        calls=line.times,
        since=line.since,
        last_at=line.last_at,
        is_whole=line.is_whole,
        is_minor=is_minor,
        outcomes=line.outcomes,
    )


def _needing_command(repository: str, key: str, need: KnownNeed) -> Command:
    return Command(
        id=need_id(repository, need),
        repository=repository,
        kind=need.kinds[0] if need.kinds else COMMAND,
        line=need.says,
        state=CommandState.NEEDS,
        text=needing_words(need),
        sessions=need.sessions,
        calls=need.without - need.ran_without,
        since=need.since,
        last_at=need.last_at,
        error=need.error,
        instead=need.first,
        instead_sessions=need.ran_with,
        is_standing=is_standing(need.sessions, need.last_at - need.since),
        key=key,
        outcomes=need.outcomes,
    )


def _failing_command(repository: str, key: str, failure: KnownFailure, now: float) -> Command:
    return Command(
        id=failure_id(repository, key, failure),
        repository=repository,
        kind=failure.kinds[0] if failure.kinds else COMMAND,
        line=failure.says,
        state=CommandState.NEVER_RAN if failure.never else CommandState.FAILS,
        text=failing_words(failure, now),
        sessions=failure.sessions,
        calls=failure.calls,
        since=failure.since,
        last_at=failure.last_at,
        error=failure.error,
        instead=failure.remedy,
        instead_sessions=failure.remedied,
        is_standing=failure.is_standing,
        machine=failure.machine,
        key=key,
        outcomes=failure.outcomes,
    )


@dataclass
class _Failures:
    """The sessions in which a tool failed, each with its last run, and those it worked in later."""

    runs: dict[str, TriedRun] = field(default_factory=dict)
    errors: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    recovered: set[str] = field(default_factory=set)
    calls: int = 0


def _failing_tools(repository: str, runs: Iterable[TriedRun], told: Set[str]) -> Iterator[Command]:
    """Yield the tools that failed in three sessions or more for one reason mostly.

    Checks that did not start count, and not what they found; none that only looks, none of the
    agent's tools for files.

    Args:
        repository: the repository.
        runs: its runs, in the order of their ends.
        told: the lines, or first words, of commands of which more is told.
    """
    found: defaultdict[str, _Failures] = defaultdict(_Failures)
    for run in runs:
        for call in run.calls:
            if call.file or not told.isdisjoint((call.told, call.words)):
                continue
            if UNNAMED.search(call.words):
                continue
            if call.failed and not names_its_remedy(call.error):
                tool = found[call.tool]
                tool.calls += 1
                tool.runs[run.session] = run
                tool.errors[error_template(call.error)].add(run.session)
                tool.recovered.discard(run.session)
            elif call.ran and call.tool in found and run.session in found[call.tool].runs:
                found[call.tool].recovered.add(run.session)
    for name, tool in found.items():
        error, seen = max(tool.errors.items(), key=lambda item: (len(item[1]), item[0]))
        if len(seen) >= max(FEWEST_SESSIONS, len(tool.runs) * _OFTEN):
            line, last = name.removeprefix(_SHELL), [*reversed(tool.runs.values())]
            words = often_words(line, len(tool.runs), error, len(seen), len(tool.recovered))
            command = _of_runs(repository, COMMAND, line, last)
            yield msgspec.structs.replace(
                command,
                id=command_id(repository, "tool", name),
                state=CommandState.OFTEN_FAILS,
                text=words,
                calls=tool.calls,
                error=error,
            )


def _files(repository: str, history: CallHistory, facts: MomentFacts) -> Iterator[Command]:
    """Yield the files, and patterns of files, that agents are told of."""
    for name, file in facts.files.items():
        opened = _of_runs(repository, FILE, name, history.runs_opening(file.path))
        yield msgspec.structs.replace(
            opened, text=file_words(name, file), instead=file.path, is_minor=True
        )
    for never in facts.never:
        sought = _of_runs(repository, FILE, never[0], history.runs_seeking(never[0]))
        yield msgspec.structs.replace(
            sought, text=never_text([never]).rstrip("."), state=CommandState.NOT_HERE
        )


def _of_runs(repository: str, kind: str, line: str, runs: Sequence[TriedRun]) -> Command:
    """Return what a run of each of some sessions shows, the newest first."""
    return Command(
        id=command_id(repository, kind, line),
        repository=repository,
        kind=kind,
        line=line,
        state=CommandState.OPENED,
        text="",
        sessions=len(runs),
        calls=len(runs),
        since=min(run.ended_at for run in runs),
        last_at=max(run.ended_at for run in runs),
        outcomes=tuple(run.outcome for run in runs[:_MOST_OUTCOMES]),
    )
