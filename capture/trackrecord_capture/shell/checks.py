"""Find the checks in a command line, their scope, and the way to read their results.

Verifying are tests, builds, type checks and linters; see `purposes`.
"""

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

import msgspec

from trackrecord.learning.text.words import words_of

from ..tables import Tables
from .edits import step_edits
from .names import CONSOLES, LOOKS, OWN_TESTS, SCRIPT_RUNNERS, TRIVIAL, step_name, told_name
from .programs import CHECKING, Purpose
from .purposes import OwnChecks, purpose_of
from .scopes import TASK_RUNNERS, CheckScope, joined_folder, scope_of
from .steps import ShellStep, script_of, steps_of

_TABLES: Final = Tables(__file__)
_FILTERS: Final = _TABLES.words("filters")
_READ: Final = _FILTERS | {"tail", "tee"}
# What lets these words through shows a failure that is told at the end.
_FAILURES: Final = re.compile(r"fail|FAIL")
_LINES: Final = re.compile(r"(?:-n|-|--lines=)?(\d{1,6})\Z")
_LINES_BY_DEFAULT: Final = 10
_BYTES: Final = re.compile(r"-c|--bytes")
_STATUS: Final = re.compile(r"\$\?|\$\{\?\}")
_PIPE_STATUS: Final = re.compile(r"\$\{(?:PIPESTATUS\[0\]|pipestatus\[1\])\}")


class PrintedStatus(NamedTuple):
    """The exit status of a line that can belong to one step.

    Attributes:
        end: the position of the last step that it is the status of.
        pattern: the expression by which the line prints it, with one group; "" if it ends with it.
        is_of_pipe: whether it is printed for the first command of a pipe alone.
    """

    end: int
    pattern: str = ""
    is_of_pipe: bool = False


def printed_status(steps: tuple[ShellStep, ...], place: int) -> PrintedStatus:
    """Return which status can be a step's own: that of the line, or one that `echo $?` prints."""
    end = _last_joined_by("&&", steps, place)
    if pattern := _echoed(steps, end, _STATUS):
        return PrintedStatus(end, pattern)
    end = _last_joined_by("|", steps, place)
    if end > place and (pattern := _echoed(steps, end, _PIPE_STATUS)):
        return PrintedStatus(place, pattern, is_of_pipe=True)
    return PrintedStatus(len(steps) - 1)


def _last_joined_by(operator: str, steps: tuple[ShellStep, ...], place: int) -> int:
    while place < len(steps) - 1 and steps[place].joined == operator:
        place += 1
    return place


def _echoed(steps: tuple[ShellStep, ...], end: int, variable: re.Pattern[str]) -> str:
    """Return the expression by which what follows a step prints a status; "" if it does not."""
    if steps[end].joined != ";" or end + 1 == len(steps):
        return ""
    echo = steps[end + 1]
    text = " ".join(word for word in echo.words[1:] if not word.startswith("-"))
    found = variable.search(text)
    if echo.words[:1] != ("echo",) or found is None or "$" in text[: found.start()]:
        return ""
    after = text[found.end() :]
    return rf"^{re.escape(text[: found.start()])}(\d{{1,3}}){re.escape(after.partition('$')[0])}"


def shown_lines(steps: tuple[ShellStep, ...], place: int) -> int | None:
    """Return how many lines at the end of a step's output are shown at most.

    None if all are; negative if they are those at its beginning; 0 if others are left out.
    """
    most: int | None = None
    is_read = True
    for before, step in pairwise(steps[place:]):
        is_read = is_read and (before.joined == "|" or (before.joined == "&&" and _reads(step)))
        # A file that the output was written to is read by a command of its own.
        if not step.words or not (is_read or steps[place].writes):
            continue
        name, options = step.words[0], step.words[1:]
        given = next((found[1] for word in options if (found := _LINES.match(word))), "")
        lines = int(given) if given else _LINES_BY_DEFAULT
        if name == "head" and most is None and not any(map(_BYTES.match, options)):
            most = -lines
        elif name == "tail" and (most is None or most > 0):
            most = min(most or lines, lines)
        elif name in _READ and name != "tee":
            if (most or 0) < 0 or not _FAILURES.search(" ".join(options)):
                return 0
            most = 1
    return most


def _reads(step: ShellStep) -> bool:
    """Return whether a step reads its piped input; the operator itself is gone by now."""
    return step.words[:1] != () and step.words[0] in _READ


# What fails for reasons of its own says little of a check behind "&&".
_INSTALLS: Final = frozenset({"install", "i", "ci", "sync", "add", "up", "update", "upgrade"})
_JOINT: Final = frozenset({"all", "check", "ci", "qa", "quality", "presubmit", "precommit"})
_RUNS_OTHERS: Final = _TABLES.by_name("runs_others")
_RUNS_ANY: Final = frozenset({"make", "just", "task", "mise", "poe", "invoke", "moon", "rake"})


_TESTED: Final = re.compile(r"[a-z0-9][-_.]tests?(?:\.exe)?\Z")


class ShellCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A verifying step of a command line.

    Attributes:
        name: what verifies: "pytest", "npm test".
        place: its position among the line's steps.
        scope: what it runs on.
        purpose: what it is for.
        passed_at_zero: whether exit status 0 says that it passed.
        failed_otherwise: whether any other exit status says that it failed.
        status: the expression by which the line prints that status, as `echo "exit: $?"` does; ""
            if the line ends with it.
        tail: how many lines at the end of its output are shown at most; None if all are, negative
            if it is those in front, 0 for any others.
        is_script: whether it is a script of the project, which may print anything.
        is_by_name: whether nothing but its name says that it runs tests: it may be what is tested.
    """

    name: str
    place: int
    scope: CheckScope
    purpose: Purpose
    passed_at_zero: bool
    failed_otherwise: bool
    status: str = ""
    tail: int | None = None
    is_script: bool = False
    is_by_name: bool = False

    @property
    def of_tests(self) -> bool:
        """Return whether it runs tests, and does not only build or look at the text."""
        return self.purpose is Purpose.TEST


# A run is asked for the checks of a line more than once.
@lru_cache(maxsize=1024)
def checks_of(line: str, folder: str = "", own: OwnChecks = ()) -> tuple[ShellCheck, ...]:
    """Return the verifying steps of a command line, in order.

    Args:
        line: the command line.
        folder: where it is run; "" if unknown.
        own: the checks that the project names itself.
    """
    steps = steps_of(line)
    found = []
    for place, step in enumerate(steps):
        if step.words[:1] == ("cd",) and len(step.words) > 1:
            folder = joined_folder(folder, step.words[1])
        purpose = purpose_of(step, own)
        if purpose in CHECKING:
            status = printed_status(steps, place)
            told = steps[: status.end + 1]
            is_own = status.is_of_pipe or _is_followed_by_and(told, place)
            found.append(
                ShellCheck(
                    name=_name(step),
                    place=place,
                    scope=step_scope(step, folder),
                    purpose=purpose,
                    passed_at_zero=is_own,
                    failed_otherwise=is_own and _is_alone_to_fail(told, place),
                    status=status.pattern,
                    tail=shown_lines(steps, place),
                    is_script=script_of(step) not in ("", *CONSOLES),
                    is_by_name=_TESTED.search(step.words[0]) is not None,
                )
            )
    return tuple(found)


def runs_also(check: ShellCheck, other: ShellCheck) -> bool:
    """Return whether a check is a project's own task that may well run the other one, too."""
    runner, name = check.scope.program.partition(" ")[0], other.scope.program.partition(" ")[0]
    if not check.scope.is_whole or (
        check.of_tests is not other.of_tests and not words_of(check.name) & _JOINT
    ):
        return False
    return runner in _RUNS_ANY or name in _RUNS_OTHERS.get(runner, ())


def _name(step: ShellStep) -> str:
    script = script_of(step)
    return script if script and script not in CONSOLES else step_name(step)


def step_scope(step: ShellStep, folder: str) -> CheckScope:
    """Return what a step runs on, if it is a check."""
    program, rest = step.words[0], step.words[1:]
    script = script_of(step)
    if program == "node" and "--run" in rest[:-1]:
        at = rest.index("--run")
        return scope_of("script", rest[at + 2 :], folder, task=rest[at + 1])
    if script in CONSOLES:
        at = next(place for place, word in enumerate(step.words) if word.endswith(script))
        return scope_of(step_name(step), step.words[at + 1 :], folder)
    if script:
        return scope_of(script, tuple(word for word in rest if script not in word), folder)
    name = step_name(step)
    task = name.partition(" ")[2]
    is_own = name in OWN_TESTS and told_name(step) == name
    if program in SCRIPT_RUNNERS and task and not is_own:
        at = next((place for place, word in enumerate(rest) if word == task), len(rest) - 1)
        before, behind = rest[:at], rest[at + 1 :]
        words = tuple(word for word in before if word not in ("run", "run-script", "task"))
        return scope_of("script", (*words, *behind), folder, task=task)
    is_runner = program in TASK_RUNNERS
    return scope_of(program if is_runner else name, rest, folder)


def _is_followed_by_and(steps: tuple[ShellStep, ...], place: int) -> bool:
    """Return whether the line can only end with 0 if this step did."""
    if any(step.is_hidden for step in steps[place:] if step.words):
        return False
    return all(step.joined == "&&" for step in steps[place:-1])


def _is_alone_to_fail(steps: tuple[ShellStep, ...], place: int) -> bool:
    """Return whether this step alone is likely to have failed."""
    first = place
    while first > 0 and steps[first - 1].joined == "&&":
        first -= 1
    return not any(
        _fails_for_itself(step) for at, step in enumerate(steps) if at >= first and at != place
    )


def _fails_for_itself(step: ShellStep) -> bool:
    name = step_name(step)
    if not name or name in TRIVIAL or name in LOOKS or purpose_of(step) in CHECKING:
        return False
    return (
        step.words[0] == "git" or not _INSTALLS.isdisjoint(step.words[1:3]) or not step_edits(step)
    )
