"""The commits that a command line made, and those that it reverted."""

import re
from collections.abc import Iterable
from typing import Final

from ..agent_run import Call
from .edits import git_command
from .steps import steps_of

# As git says it: "[main 1a2b3c4] Message", "[main (root-commit) 1a2b3c4] Message".
_MADE: Final = re.compile(
    r"^\[[^\]\n]{1,250}? (?:\(root-commit\) )?([0-9a-f]{7,40})\] ", re.MULTILINE
)
_COMMIT: Final = re.compile(r"[0-9a-f]{7,40}\Z")
_MAKE: Final = frozenset({"commit", "revert", "cherry-pick", "merge"})
_LONGEST: Final = 64 * 1024
_MOST: Final = 100


def commits_and_reverts(calls: Iterable[Call]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the commits that calls of a shell made, and those that they reverted.

    A commit is known by what git says when it makes one; `git commit --quiet` says nothing. What is
    reverted is known by its hash, or as HEAD where the calls themselves made the last commit.
    """
    made: list[str] = []
    reverted: list[str] = []
    for call in calls:
        if not call.command or "git" not in call.command:
            continue
        asked = list(_asked(call.command))
        if call.ok is not False:
            reverted += _reverted(asked, made)
        if any(command in _MAKE for command, _ in asked):
            made += _MADE.findall(call.result[:_LONGEST])
    return tuple(dict.fromkeys(made))[:_MOST], tuple(dict.fromkeys(reverted))[:_MOST]


def _asked(line: str) -> Iterable[tuple[str, list[str]]]:
    for step in steps_of(line):
        if step.words[:1] == ("git",):
            yield git_command(list(step.words[1:]))


def _reverted(asked: list[tuple[str, list[str]]], made: list[str]) -> Iterable[str]:
    for command, words in asked:
        if command != "revert":
            continue
        for word in words:
            if word == "HEAD" and made:
                yield made[-1]
            elif _COMMIT.match(word):
                yield word
