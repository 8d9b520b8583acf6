"""Commands as people see them: by repository and kind of check, what runs and what does not."""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

from ...numbers.speakers import is_known
from .calls import CI, WORK, TriedRun, exact_key
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
    needing_words,
    running_words,
)

MOST_RUNS: Final = 2000
"""How many runs are read: half a second's work; a streak that is older has long been told."""
_DIGEST_BYTES: Final = 8
_COMMAND: Final = "command"
_FILE: Final = "file"
# Names of calls that are not shown as a command.
_UNLISTED: Final = ("shape ", "file ", "tool ")
# What stands before it is a command of its own, such as a change of the folder.
_JOINS: Final = re.compile(r"[;&|]")
# Kinds in the order in which they are shown.
_KINDS: Final = ("test", "check", "build", "type check", "lint", *WORK, CI, _COMMAND)


class CommandState(StrEnum):
    """The present state of a command."""

    NEVER_RAN = "never ran"
    FAILS = "does not run"
    """It ran in the past."""
    NEEDS = "needs another first"
    """It hardly ever ran without another command before it, and nearly always with it."""
    RUNS = "runs"


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """The record of one command over the sessions in a repository.

    Attributes:
        id: follows from the repository, the kind and the line.
        repository: the repository; "" for the project's own.
        kind: the kind of check, or "command" for any other.
        line: the command line, or its first words.
        state: how it fares now.
        text: the fact with its counts, in English.
        sessions: of one that runs, the sessions in which it did; else the last sessions, in each of
            which it failed.
        calls: how often it ran or failed in these.
        since: the first time, seconds since the epoch.
        last_at: the last time.
        error: the line that tells of the last error; "" for none.
        instead: the check that then ran in the same sessions, or what has to run first.
        instead_sessions: in how many of them.
        is_standing: whether it has failed for so long that a person should hear of it.
        machine: where it fails; "" for any machine.
        key: the name by which failing calls of it are known; "" of one that runs.
        told: the line of such checks that agents are told first; "" for none.
        is_whole: whether it checks all that its program would.
        is_wrapped: whether it only puts a launcher before a line that runs in more sessions.
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
    is_wrapped: bool = False
    outcomes: tuple[int, ...] = ()


def commands_of(runs: Sequence[TriedRun], *, now: float) -> list[Command]:
    """Return what runs and what does not: standing defects first, then by kind, the newest first.

    Args:
        runs: the runs of one project, in the order of their ends.
        now: the moment to answer for, seconds since the epoch.
    """
    histories = histories_of(runs)
    told = {name: each.facts().checks for name, each in told_histories(runs, histories).items()}
    found = []
    for repository, history in sorted(histories.items()):
        for command in _commands(repository, history, now):
            lines = told.get(repository, {}).get(command.kind, ())
            line = lines[0].line if lines else ""
            found.append(msgspec.structs.replace(command, told=line))
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


def named_files(runs: Sequence[TriedRun]) -> dict[str, str]:
    """Return the files, and patterns of files, that agents are told of, by the ids of the facts.

    Args:
        runs: the runs of one project, in the order of their ends.
    """
    return {
        command_id(repository, _FILE, name): name
        for repository, history in told_histories(runs).items()
        for facts in (history.facts(),)
        for name in (*facts.files, *(pattern for pattern, _ in facts.never))
    }


def command_id(repository: str, kind: str, line: str, machine: str = "") -> str:
    """Return the id of a fact about a command."""
    whole = "\0".join((repository, kind, line, machine)).encode(errors="replace")
    return hashlib.blake2b(whole, digest_size=_DIGEST_BYTES).hexdigest()


def _rank(command: Command) -> tuple[object, ...]:
    is_over = command.state is CommandState.RUNS
    standing = (not command.is_standing, -command.sessions if command.is_standing else 0)
    return (
        command.repository, standing, _KINDS.index(command.kind), is_over, -command.sessions,
        -command.last_at, command.line,
    )  # fmt: skip


def _commands(repository: str, history: CallHistory, now: float) -> Iterator[Command]:
    for kind in _KINDS[:-1]:
        lines = history.lines(kind)
        for line in lines:
            if kind not in CHECKING_KINDS and line.sessions < FEWEST_SESSIONS:
                continue
            yield _running(repository, line, now, is_wrapped=_is_wrapped(line, lines))
    needs = history.every_need()
    exact = {need.says for key, need in needs.items() if key.startswith("line ")}
    for key, need in needs.items():
        if key.startswith(_UNLISTED):
            continue
        if key.startswith("line ") or not any(need.says in line for line in exact):
            yield _needing_command(repository, key, need)
    for key, each in _listed_failures(history):
        yield _failing_command(repository, key, each, now)


def _listed_failures(history: CallHistory) -> Iterator[tuple[str, KnownFailure]]:
    """Yield what fails, without what a line says more exactly or the first words as well."""
    failing = list(_failing(history))
    exact = [each for key, each in failing if key.startswith("line ")]
    words = [each for key, each in failing if not key.startswith("line ")]
    shown = [each for each in words if not any(_says_more(line, each) for line in exact)]
    by_words = {(each.says, each.machine) for each in shown}
    for key, each in failing:
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
        if key.startswith(_UNLISTED):
            continue
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
    for _, failure in _listed_failures(history):
        if failure.is_standing:
            lines = history.lines(failure.kinds[0]) if failure.kinds else ()
            line = next((line for line in lines if line.line != failure.says), None)
            text = defect_words(failure, line, now)
            instead = failure.remedy or ("" if line is None else line.line)
            yield Defect(
                _failure_id(repository, failure),
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
                    _failure_id(repository, failure),
                    failure.says,
                    ended_words(failure, at, now),
                    failure.sessions,
                    at,
                )


def _failure_id(repository: str, failure: KnownFailure) -> str:
    kind = failure.kinds[0] if failure.kinds else _COMMAND
    return command_id(repository, kind, failure.says, failure.machine)


def _is_wrapped(line: KnownLine, lines: Iterable[KnownLine]) -> bool:
    """Return whether a line is one that runs in more sessions, behind a launcher."""
    for other in lines:
        before = line.line.removesuffix(f" {other.line}")
        if before != line.line and other.sessions > line.sessions and not _JOINS.search(before):
            return True
    return False


def _running(repository: str, line: KnownLine, now: float, *, is_wrapped: bool) -> Command:
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
        is_wrapped=is_wrapped,
        outcomes=line.outcomes,
    )


def _needing_command(repository: str, key: str, need: KnownNeed) -> Command:
    kind = need.kinds[0] if need.kinds else _COMMAND
    lasted = need.last_at - need.since
    return Command(
        id=command_id(repository, kind, f"{need.first}\0{need.says}"),
        repository=repository,
        kind=kind,
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
        is_standing=is_standing(need.sessions, lasted),
        key=key,
        outcomes=need.outcomes,
    )


def _failing_command(repository: str, key: str, failure: KnownFailure, now: float) -> Command:
    return Command(
        id=_failure_id(repository, failure),
        repository=repository,
        kind=failure.kinds[0] if failure.kinds else _COMMAND,
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


def facts_without(facts: MomentFacts, repository: str, dismissed: Collection[str]) -> MomentFacts:
    """Return facts without those about commands and files that a person dismissed.

    Args:
        facts: those of a repository.
        repository: the repository.
        dismissed: the ids of facts.
    """
    if not dismissed:
        return facts

    def is_told(kind: str, line: str, machine: str = "") -> bool:
        return command_id(repository, kind, line, machine) not in dismissed

    failures = {
        key: tuple(
            each
            for each in known
            if is_told(each.kinds[0] if each.kinds else _COMMAND, each.says, each.machine)
        )
        for key, known in facts.failures.items()
    }
    checks = {
        kind: tuple(each for each in lines if is_told(kind, each.line))
        for kind, lines in facts.checks.items()
    }
    needs = {
        key: need
        for key, need in facts.needs.items()
        if is_told(need.kinds[0] if need.kinds else _COMMAND, f"{need.first}\0{need.says}")
    }
    return msgspec.structs.replace(
        facts,
        failures={key: kept for key, kept in failures.items() if kept},
        checks=checks,
        needs=needs,
        files={name: file for name, file in facts.files.items() if is_told(_FILE, name)},
        never=tuple(each for each in facts.never if is_told(_FILE, each[0])),
        usual=tuple(each for each in facts.usual if is_told(each.kind, each.line)),
    )
