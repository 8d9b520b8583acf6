"""The sentences of hints: facts on one line, with what agents wrote in backquotes."""

import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ...text.error_summary import error_summary
from ...text.inert import one_line
from ...text.numerals import counted
from .facts import FEWEST_SESSIONS, KnownFailure, KnownFile, KnownLine, KnownNeed, UsualLine

if TYPE_CHECKING:
    from .hints import Known

LONGEST_HINT: Final = 300
_LONGEST_REASON: Final = 60
_YEAR: Final = 300 * 86_400.0
_MOST_NAMES: Final = 3
_LONGEST_TASK: Final = 32_768
# A file's name without a folder: "cart.py", ".golangci.yml".
_NAME: Final = re.compile(r"(?<![\w/.\\@-])[\w.-]{1,80}\.[A-Za-z]\w{0,9}(?![\w/\\@-])")
_RAN: Final = {
    "test": "Tests ran",
    "lint": "The linter ran",
    "type check": "The type check ran",
    "build": "The build ran",
    "check": "Checks ran",
}
_RUN: Final = {
    "test": "tests run",
    "lint": "the linter runs",
    "type check": "the type check runs",
    "build": "the build runs",
    "check": "the checks run",
    "format": "formatting works",
    "install": "installing works",
    "generate": "generating works",
    "start": "it starts",
    "CI": "CI is followed",
}
KINDS: Final = {"test": "tests", "lint": "linter", "type check": "types", "check": "checks"}
"""What kinds of checks are called in a list; others by their own names."""
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip


def line_text(
    line: KnownLine, failure: KnownFailure | None, now: float, *, is_elsewhere: bool = False
) -> str:
    """Return that a line of a check ran, and that the one at hand failed."""
    where = "on another machine" if is_elsewhere else "in this repository"
    said = (
        f"{_RAN[line.kind]} {where} with {code(line.line)} ({sessions(line.sessions)}, "
        f"{counted(line.times, 'time')}, last {day(line.last_at, now)})"
    )
    if failure is not None and failure.says:
        more = f"; {code(failure.says)} has failed in {_last(failure.sessions)}"
        if len(said) + len(more) < LONGEST_HINT:
            said += more
    return said + "."


def usual_text(lines: Sequence[UsualLine], most: int) -> str:
    """Return the lines that most of the last sessions ran, as many as fit; "" for none.

    Args:
        lines: the lines, the most important first.
        most: how many characters it may have.
    """
    said = ""
    for line in lines:
        which = f" of the last {line.of} sessions" if not said else ""
        more = f"{KINDS.get(line.kind, line.kind)} {code(line.line)} (in {line.sessions}{which})"
        if len(said) + len(more) + 10 <= most:
            said += f", {more}" if said else f"Ran here: {more}"
    return f"{said}." if said else ""


def never_text(never: Sequence[tuple[str, int]]) -> str:
    """Return which files are not there, by how many sessions sought them; "" for none."""
    if not never:
        return ""
    names = ", ".join(code(pattern) for pattern, _ in never)
    most = max(number for _, number in never)
    return f"Not here: {names} (sought in the last {most} sessions that did)."


def failed_text(failure: KnownFailure) -> str:
    """Return that a call failed in each of the last sessions, and what ran in its place."""
    said = f"{code(failure.says)} failed in each of the last {failure.sessions} sessions here"
    if failure.remedy:
        then = f"; {code(failure.remedy)} then ran in {failure.remedied}"
    else:
        then = " and in none of them did it work later"
    reason = reason_of(failure.error)
    if reason and len(said) + len(reason) + len(then) + 4 <= LONGEST_HINT:
        said += f" ({reason})"
    return f"{said}{then}."


def running_words(line: KnownLine, now: float) -> str:
    """Return in a maintainer's words that a check runs with a line."""
    return (
        f"{_RUN[line.kind]} with {code(line.line)}: in {sessions(line.sessions)} "
        f"({counted(line.times, 'time')}, last {day(line.last_at, now)})"
    )


def failing_words(failure: KnownFailure, now: float) -> str:
    """Return in a maintainer's words that a command does not run, and what does."""
    state = "never ran" if failure.never else "has stopped running"
    reason = reason_of(failure.error)
    when = day(failure.since, now)
    which = f"each of {failure.sessions} sessions since {when}"
    if failure.sessions == 1:
        which = f"1 session on {when}"
    said = f"{code(failure.says)} {state}: it failed in {which}"
    said += f" ({reason})" if reason else ""
    if failure.remedy:
        said += f"; {code(failure.remedy)} then ran in {failure.remedied}"
    return said


def defect_words(failure: KnownFailure, line: KnownLine | None, now: float) -> str:
    """Return in a maintainer's words what does not run, and the line that does, if one is known."""
    said = failing_words(failure, now)
    if line is None or failure.remedy:
        return said
    return f"{said}; {_RUN[line.kind]} with {code(line.line)}"


def ended_words(failure: KnownFailure, ended_at: float, now: float) -> str:
    """Return in a maintainer's words that a command runs again."""
    return (
        f"{code(failure.says)} has run again since {day(ended_at, now)}: before, it failed in "
        f"each of {failure.sessions} sessions since {day(failure.since, now)}"
    )


def unchecked_text(file: str, line: UsualLine) -> str:
    """Return that nothing has checked an edit, and the line that most sessions check with."""
    return (
        f"Nothing has checked the last edit ({code(file)}); {_RUN[line.kind]} with "
        f"{code(line.line)} (in {line.sessions} of the last {line.of} sessions)."
    )


def need_text(need: KnownNeed) -> str:
    """Return that a command ran once another one had run."""
    return f"{code(need.says)} {_needs(need)}."


def needing_words(need: KnownNeed) -> str:
    """Return in a maintainer's words that a command needs another one first."""
    reason = reason_of(need.error)
    return f"{code(need.says)} {_needs(need)}" + (f" ({reason})" if reason else "")


def _needs(need: KnownNeed) -> str:
    return (
        f"ran in {need.ran_with} of {counted(need.with_first, 'call')} after {code(need.first)} "
        f"in the same session, in {need.ran_without} of {counted(need.without, 'call')} without"
    )


def often_words(tool: str, failed: int, error: str, error_sessions: int, recovered: int) -> str:
    """Return in a maintainer's words that a tool often fails, mostly for one reason.

    Args:
        tool: the tool.
        failed: the sessions in which it failed.
        error: the line that tells of the reason.
        error_sessions: in how many of these it was that.
        recovered: in how many it worked later.
    """
    said = f"{code(tool)} failed in {sessions(failed)}"
    if error_sessions < failed:
        said += f", in {error_sessions}"
    said += f": {one_line(error, _LONGEST_REASON)}"
    return f"{said}; it worked later in {recovered}" if recovered else said


def file_text(name: str, file: KnownFile) -> str:
    """Return where a file of a name was opened."""
    return f"{file_words(name, file)}."


def file_words(name: str, file: KnownFile) -> str:
    """Return in a maintainer's words where a file of a name was opened."""
    return f"{code(name)} was opened at {code(file.path)} in {sessions(file.sessions)}"


def like_text(name: str, file: KnownFile) -> str:
    """Return that a file is not there, and one of the same name with another ending is."""
    return f"{code(name)} is not here; {code(file.path)} was opened in {file.sessions} sessions."


def folder_text(folder: str, path: str) -> str:
    """Return that the shell has left the folder in which a path lies."""
    return f"The shell is in {code(folder)} of this repository; {code(path)} lies at its top."


def reason_of(error: str) -> str:
    """Return in a few words what an error tells; "" if nothing in it does."""
    return one_line(error_summary(error, keeps_quoted=True), _LONGEST_REASON)


def code(text: str) -> str:
    """Return a text in backquotes, which it cannot close."""
    return f"`{one_line(text, LONGEST_HINT).replace('`', chr(39))}`"


def day(moment: float, now: float) -> str:
    """Return a day in UTC, with the year where it is long ago: "7 March"."""
    then = time.gmtime(moment)
    said = f"{then.tm_mday} {_MONTHS[then.tm_mon - 1]}"
    return said if abs(now - moment) < _YEAR else f"{said} {then.tm_year}"


def sessions(number: int) -> str:
    """Return a number of sessions: "1 session"."""
    return counted(number, "session")


def _last(sessions: int) -> str:
    return "the last session" if sessions == 1 else f"the last {sessions} sessions"


def names_in(task: str) -> list[str]:
    """Return the names of files that a text holds without their folders, each once."""
    return list(dict.fromkeys(_NAME.findall(task[:_LONGEST_TASK])))


def named_text(names: list[str], known: "Known") -> str:
    """Return where files were opened, three at most; "" where nothing is known of them.

    Args:
        names: the names, as `names_in` returns them.
        known: what earlier sessions show.
    """
    said = []
    for name in names:
        file = known.file(name)
        # Of fewer, the name may be that of a kind of file.
        if file is not None and file.path != name and file.sessions >= FEWEST_SESSIONS:
            said.append(f"{code(name)} is {code(file.path)} ({sessions(file.sessions)})")
    return f"Opened before: {', '.join(said[:_MOST_NAMES])}." if said else ""
