"""The commits that a command line made, by what git said."""

import re
from collections.abc import Iterable
from typing import Final

from ..agent_run import RunCall
from .edits import git_command
from .steps import steps_of

# As git says it: "[main 1a2b3c4] Message", "[main (root-commit) 1a2b3c4] Message".
_MADE: Final = re.compile(
    r"^\[[^\]\n]{1,250}? (?:\(root-commit\) )?([0-9a-f]{7,40})\] ", re.MULTILINE
)
# What `git log -1 --format=%H`, `git rev-parse HEAD` and `git log --oneline` print.
_TOLD: Final = re.compile(r"^(?:commit )?([0-9a-f]{7,40})(?: |$)", re.MULTILINE)
_MAKE: Final = frozenset({"commit", "revert", "cherry-pick", "merge"})
_TELL: Final = frozenset({"log", "rev-parse", "show"})
_LONGEST: Final = 64 * 1024
_MOST: Final = 100


def commits_of(calls: Iterable[RunCall]) -> tuple[str, ...]:
    """Return the commits that calls of a shell made.

    A commit is known by what git says when it makes one, or by what `git log` says in the same line
    behind a `git commit --quiet`.
    """
    made: list[str] = []
    for call in calls:
        asked = _asked(call.command) if call.ok is not False else frozenset()
        if asked & _MAKE:
            output = call.result[:_LONGEST]
            found = _MADE.findall(output)
            if not found and asked & _TELL:
                found = _TOLD.findall(output)[:1]
            made += found
    return tuple(dict.fromkeys(made))[:_MOST]


def _asked(line: str) -> frozenset[str]:
    """Return what a command line asks git to do."""
    steps = steps_of(line) if "git" in line else ()
    words = (list(step.words[1:]) for step in steps if step.words[:1] == ("git",))
    return frozenset(git_command(each)[0] for each in words)
