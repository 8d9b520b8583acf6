"""Evidence in a command line on a step: its exit status if printed, and how much output."""

import re
from itertools import pairwise
from typing import Final, NamedTuple

from .steps import ShellStep

# How much of an output they let through is not known.
_FILTERS: Final = frozenset({
    "head", "grep", "egrep", "fgrep", "rg", "ag", "awk", "sed", "cut", "sort", "uniq", "wc", "jq",
    "tr", "perl", "python", "column",
})  # fmt: skip
_READ: Final = _FILTERS | {"tail", "tee"}
# What lets these words through shows a failure that is told at the end.
_FAILURES: Final = re.compile(r"fail|FAIL")
_LINES: Final = re.compile(r"(?:-n|-|--lines=)?(\d{1,6})\Z")
_LINES_BY_DEFAULT: Final = 10
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

    None if all are; 0 if others are left out than those in front.
    """
    most: int | None = None
    is_read = True
    for before, step in pairwise(steps[place:]):
        is_read = is_read and (before.joined == "|" or (before.joined == "&&" and _reads(step)))
        # A file that the output was written to is read by a command of its own.
        if not step.words or not (is_read or steps[place].writes):
            continue
        if step.words[0] == "tail":
            given = next((found[1] for word in step.words[1:] if (found := _LINES.match(word))), "")
            lines = int(given) if given else _LINES_BY_DEFAULT
            most = lines if most is None else min(most, lines)
        elif step.words[0] in _FILTERS:
            if not _FAILURES.search(" ".join(step.words[1:])):
                return 0
            most = 1
    return most


def _reads(step: ShellStep) -> bool:
    """Return whether a step reads its piped input; the operator itself is gone by now."""
    return step.words[:1] != () and step.words[0] in _READ
