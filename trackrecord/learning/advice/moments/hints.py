"""The hint that a failure deserves: at most one sentence, or nothing.

Told are facts that earlier sessions in the repository show, no orders, and nothing that the error
says itself: once per fact, session and agent, and at most three in a session.
"""

import re
from collections.abc import Iterator
from enum import StrEnum
from posixpath import basename, dirname
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from ..runs.failures import error_template, names_its_remedy
from .calls import TriedCall, ending_of, exact_key, is_exact, keys_of, programs_of, without_home
from .facts import (
    CHECKING_KINDS,
    FEWEST_SESSIONS,
    TEST,
    CachedFacts,
    KnownFailure,
    KnownLine,
    KnownNeed,
    LineFacts,
    MomentFacts,
)
from .wording import (
    LONGEST_HINT,
    failed_text,
    file_text,
    folder_text,
    like_text,
    line_text,
    need_text,
    unchecked_text,
)

if TYPE_CHECKING:
    from .history import CallHistory

Known: TypeAlias = "CachedFacts | CallHistory"
"""The record of a project's earlier sessions: from the cache, or while it is counted."""
MOST_IN_SESSION: Final = 3
_STANDING: Final = 5
_STOOD: Final = 2
# The path that an error says is not there.
_MISSING: Final = re.compile(
    r"(?:^|[\s'\"(:])((?:[~\w.@+-]{0,200}/){1,30}[\w.@+-]{1,200}|[\w@+-][\w.@+-]{0,200}\.\w{1,12})"
    r"['\")]?:? (?:no such file|does not exist|not found|cannot be found)"
    r"|(?:no such file or directory|ENOENT)[^'\"\n]{0,60}['\"]([^'\"\n]{1,300})['\"]"
    r"|['\"]([^'\"\n]{1,300})['\"][^'\"\n]{1,40}(?:no such file|not exist|be found)",
    re.IGNORECASE,
)
# Sought as plain text: an error may be long, and an agent waits.
_NO_FILE: Final = (
    "no such file", "does not exist", "file not found", "enoent", "cannot find file",
    "cannot find the file", "cannot find path", "cannot find the path",
)  # fmt: skip


class HintKind(StrEnum):
    """The kind of fact in a hint."""

    LINE = "line that runs"
    FAILURE = "known failure"
    NEED = "what has to run first"
    FILE = "file elsewhere"
    LIKE = "file of another ending"
    FOLDER = "folder of the shell"
    UNCHECKED = "unchecked edit"


class Hint(msgspec.Struct, frozen=True):
    """One sentence after a failure.

    Attributes:
        kind: what it tells.
        entry: what it is about: it is told once per session and agent.
        text: the sentence.
        proposed: the line or the path that it names as working; "" if it names none.
        key: the name by which the failing call was known; "" where that does not matter.
        check: the kind of check that it is about; "" for none.
    """

    kind: HintKind
    entry: str
    text: str
    proposed: str = ""
    key: str = ""
    check: str = ""


class SessionCalls(msgspec.Struct):
    """The calls and hints of a session so far, as far as later hints depend on them.

    Attributes:
        id: the session.
        told: the entries that were told, each with the agent that heard it.
        checked: the kinds of checks that ran.
        ran: the names of calls that did their work.
        words: the first words of these.
    """

    id: str = ""
    told: list[tuple[str, str]] = []
    checked: set[str] = set()
    ran: set[str] = set()
    words: set[str] = set()

    def add(self, call: TriedCall) -> None:
        """Take note of a call that has ended."""
        for check in call.checks:
            if check.state in ("passed", "ran"):
                self.checked.add(check.kind)
        if call.ran:
            self.ran.update(keys_of(call))
            self.words.add(call.words)

    def note(self, hint: Hint, agent: str = "") -> None:
        """Take note of a hint that was told."""
        self.told.append((agent, hint.entry))


def standing_lines(facts: MomentFacts, now: float) -> dict[str, str]:
    """Return, by machine, the one line that the start of a session says of a repository's checks.

    It names the line that runs, where another one failed to start in the last two sessions; else
    what a check needs first that failed in five sessions or more and never ran without it.

    Args:
        facts: those of the repository.
        now: seconds since the epoch.
    """
    need = _standing_need(facts)
    lines = {
        machine: line_text(line, failure, now)
        for machine, (failure, line) in standing_checks(facts).items()
    }
    return lines if need is None else {"": need_text(need), **lines}


def _standing_need(facts: MomentFacts) -> KnownNeed | None:
    """Return what the check needs first that failed without it in the most sessions."""
    needs = (
        need
        for key, need in facts.needs.items()
        if is_exact(key)
        and need.kinds
        and need.sessions >= _STANDING
        and not need.ran_without
        and len(need_text(need)) <= LONGEST_HINT
    )
    return max(needs, key=lambda need: (need.sessions, need.says), default=None)


def standing_checks(facts: MomentFacts) -> dict[str, tuple[KnownFailure, KnownLine]]:
    """Return, by machine, the check that failed to start for longest, and the line that runs.

    Args:
        facts: those of the repository.
    """
    found: dict[str, tuple[KnownFailure, KnownLine]] = {}
    for key, known in facts.failures.items():
        for failure in known:
            kind = failure.kinds[0] if failure.kinds else ""
            line = next((line for line in facts.lines(kind) if line.line != failure.says), None)
            before = found.get(failure.machine)
            most = _STOOD - 1 if before is None else before[0].sessions
            if is_exact(key) and failure.sessions > most and line is not None:
                found[failure.machine] = failure, line
    return found


def hint_after(
    known: Known,
    call: TriedCall,
    output: str,
    session: SessionCalls,
    *,
    agent: str = "",
    machine: str = "",
    now: float,
    has_status: bool = True,
    strayed: tuple[str, str] | None = None,
) -> Hint | None:
    """Return what is told after a call; None if nothing is, as after a call that did not fail.

    Args:
        known: what earlier sessions show.
        call: the call that has just ended, and that `session` has taken note of.
        output: the text of its error, as far as it is known.
        session: what the session did so far.
        agent: which of the session's agents called; "" for the main one.
        machine: a digest of the machine and its user.
        now: seconds since the epoch.
        has_status: whether the client says that the call failed. If not, only an error that is
            known of the call tells so.
        strayed: where the call fails because the shell has left the top of the repository, the
            folder that it is in, and the path that lies at the top.
    """
    if not call.failed or len(session.told) >= MOST_IN_SESSION:
        return None
    told = {entry for who, entry in session.told if who == agent}
    found = _hints(known, call, output, session, machine, now)
    if strayed is not None:
        text = folder_text(*strayed)
        found = iter([_hint(HintKind.FOLDER, " ".join(strayed), text)])
    for hint in found if has_status else _by_error(known, found, call, machine):
        if hint.entry in told:
            return None
        if len(hint.text) <= LONGEST_HINT and not _says(output, hint.proposed):
            # Asked last: it reads the whole error, and mostly there is nothing to tell.
            return None if names_its_remedy(output) else hint
    return None


def hint_at_stop(facts: LineFacts, file: str) -> Hint | None:
    """Return what is told where a turn ends with an edit that nothing checked; None for nothing.

    Args:
        facts: those of the repository.
        file: the file that was edited last, as it is told.
    """
    line = next((each for each in facts.usual if each.kind in CHECKING_KINDS), None)
    if line is None or ending_of(file) not in facts.checked:
        return None
    kind, text = HintKind.UNCHECKED, unchecked_text(file, line)
    return Hint(kind, kind, text, line.line, check=line.kind)


def _hint(kind: HintKind, about: str, text: str, proposed: str = "", **more: str) -> Hint:
    return Hint(kind, f"{kind}: {about}", text, proposed, **more)


def _by_error(known: Known, hints: Iterator[Hint], call: TriedCall, machine: str) -> Iterator[Hint]:
    """Yield the hints for which the words of an error alone are reason enough."""
    template = error_template(call.error)
    for hint in hints:
        match hint.kind:
            case HintKind.LINE | HintKind.FOLDER:
                yield hint
            case HintKind.FILE | HintKind.LIKE if _is_missing(call.error):
                yield hint
            case HintKind.NEED if (need := known.need(hint.key)) is not None:
                if error_template(need.error) == template:
                    yield hint
            case HintKind.FAILURE if (failure := known.failure(hint.key, machine)) is not None:
                if failure.template and failure.template == template:
                    yield hint
            case _:
                pass


def _says(output: str, proposed: str) -> bool:
    """Return whether an error names itself what is proposed."""
    return bool(proposed) and proposed in without_home(output)


def _hints(
    known: Known, call: TriedCall, output: str, session: SessionCalls, machine: str, now: float
) -> Iterator[Hint]:
    failure, key = _known_failure(known, call, session, machine)
    if failure is not None and failure.remedy and not session.checked.intersection(failure.kinds):
        yield _of_failure(failure, key)
    if need := _need(known, call, session):
        yield need
    for kind in call.not_started:
        if kind not in session.checked and (line := _line(known, kind, call, machine)):
            before = known.failure(exact_key(call.told), machine) if call.told else None
            before = _of_others(before, session)
            # Of others than tests, an earlier session has to say so, too.
            if kind == TEST or before is not None:
                yield _of_line(line, before, machine, now)
    if file := _file(known, call, output):
        yield file
    if failure is not None and not failure.remedy:
        yield _of_failure(failure, key)


def _known_failure(
    known: Known, call: TriedCall, session: SessionCalls, machine: str
) -> tuple[KnownFailure | None, str]:
    """Return what failed in each of the last sessions, by the most exact name of a call."""
    template = error_template(call.error)
    for key in keys_of(call):
        found = _of_others(known.failure(key, machine), session)
        if found is None or found.sessions < FEWEST_SESSIONS or key in session.ran:
            continue
        if is_exact(key) or found.template == template:
            return found, key
    return None, ""


def _of_others(failure: KnownFailure | None, session: SessionCalls) -> KnownFailure | None:
    """Return what failed in other sessions than the one that asks."""
    if failure is None or session.id not in failure.recent:
        return failure
    if failure.sessions == 1:
        return None
    return msgspec.structs.replace(failure, sessions=failure.sessions - 1)


def _of_failure(failure: KnownFailure, key: str) -> Hint:
    check = failure.kinds[0] if failure.kinds else ""
    text = failed_text(failure)
    return _hint(HintKind.FAILURE, key, text, failure.remedy, key=key, check=check)


def _need(known: Known, call: TriedCall, session: SessionCalls) -> Hint | None:
    """Return what the call needs first, unless that has run in this session."""
    for key in keys_of(call):
        need = known.need(key)
        if need is not None and need.first not in session.words and key not in session.ran:
            check = need.kinds[0] if need.kinds else ""
            return _hint(HintKind.NEED, key, need_text(need), need.first, key=key, check=check)
    return None


def _line(known: Known, kind: str, call: TriedCall, machine: str) -> KnownLine | None:
    """Return a line that ran: of the program that failed first, then on all, then the newest.

    On this machine before others. Of a call that was to run on all, no line for a part; of one that
    was to run on a part, none for another part.
    """
    wanted = programs_of(call.told)
    is_narrow = not any(check.is_whole for check in call.checks if check.kind == kind)
    lines = [
        (each, not wanted.isdisjoint(programs_of(each.line)))
        for each in known.lines(kind)
        if each.line != call.told
    ]
    fitting = [(each, same) for each, same in lines if each.is_whole or (same and is_narrow)]
    fitting.sort(key=lambda pair: (not _is_at(pair[0], machine), not pair[1]))
    return fitting[0][0] if fitting else None


def _is_at(line: KnownLine, machine: str) -> bool:
    return machine in line.machines or "" in line.machines or not machine


def _of_line(line: KnownLine, failure: KnownFailure | None, machine: str, now: float) -> Hint:
    text = line_text(line, failure, now, is_elsewhere=not _is_at(line, machine))
    return _hint(HintKind.LINE, line.kind, text, line.line, check=line.kind)


def _is_missing(error: str) -> bool:
    """Return whether an error says that a file is not there."""
    text = error.lower()
    return any(words in text for words in _NO_FILE)


def _file(known: Known, call: TriedCall, output: str) -> Hint | None:
    if not _is_missing(output):
        return None
    found = _MISSING.search(output)
    missing = call.file or (found[found.lastindex or 0].replace("\\", "/") if found else "")
    name = basename(missing.rstrip("/"))
    if "." not in name:
        return None
    file = known.file(name)
    if file is None:
        return _like(known, missing, name)
    if without_home(missing).endswith(file.path):
        return None
    return _hint(HintKind.FILE, name, file_text(name, file), file.path)


def _like(known: Known, missing: str, name: str) -> Hint | None:
    """Return the file of the same folder and stem that was opened, with another ending."""
    stem, folder = name[: name.rindex(".") + 1], dirname(without_home(missing))
    # There may be many thousands, and an agent waits.
    for other in [each for each in known.names if each.startswith(stem)]:
        if stem != "." and "." not in other[len(stem) :]:
            file = known.file(other)
            if file is not None and _is_below(folder, dirname(file.path)):
                return _hint(HintKind.LIKE, name, like_text(name, file), file.path)
    return None


def _is_below(folder: str, end: str) -> bool:
    """Return whether a folder is the one that a path from the top of the repository names."""
    return folder == end or bool(end and folder.endswith(f"/{end}"))
