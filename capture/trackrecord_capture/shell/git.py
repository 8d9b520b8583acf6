"""The commits that a command line made, and those that it reverted."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from ..agent_run import RunCall
from .edits import git_command
from .steps import steps_of

# As git says it: "[main 1a2b3c4] Message", "[main (root-commit) 1a2b3c4] Message".
_MADE: Final = re.compile(
    r"^\[[^\]\n]{1,250}? (?:\(root-commit\) )?([0-9a-f]{7,40})\] ([^\n]{0,500})", re.MULTILINE
)
# What `git log -1 --format=%H`, `git rev-parse HEAD` and `git log --oneline` print.
_TOLD: Final = re.compile(r"^(?:commit )?([0-9a-f]{7,40})(?: |$)", re.MULTILINE)
_REVERT: Final = re.compile(r'Revert "(.*)"\Z')
_COMMIT: Final = re.compile(r"[0-9a-f]{7,40}\Z")
_MAKE: Final = frozenset({"commit", "revert", "cherry-pick", "merge"})
_MOVE_HEAD: Final = _MAKE | {"am", "reset"}
_TELL: Final = frozenset({"log", "rev-parse", "show"})
_HEAD: Final = frozenset({"HEAD", "@"})
_LONGEST: Final = 64 * 1024
_MOST: Final = 100


class Commits:
    """The commits of a session, in order, so that a later run's `git revert HEAD` is understood.

    A commit is known by what git says when it makes one, or by what `git log` says in the same line
    behind a `git commit --quiet`. What is reverted is known by its hash; as HEAD it is the last
    commit of the session, unless git's own words name another subject.
    """

    def __init__(self) -> None:
        self._made: list[tuple[str, str]] = []

    def of(self, calls: Iterable[RunCall]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the commits that calls of a shell made, and those that they reverted."""
        made: list[str] = []
        reverted: list[str] = []
        for call in calls:
            if call.command and "git" in call.command and call.ok is not False:
                asked = list(_asked(call.command))
                new = _made(asked, call.result[:_LONGEST])
                reverted += self._reverted(asked, [subject for _, subject in new])
                self._made += new
                made += [commit for commit, _ in new]
        return tuple(dict.fromkeys(made))[:_MOST], tuple(dict.fromkeys(reverted))[:_MOST]

    def precede(self, earlier: "Commits") -> None:
        """Put the commits of an earlier part of the session in front."""
        self._made = earlier._made + self._made

    def _reverted(self, asked: list[tuple[str, list[str]]], subjects: list[str]) -> Iterator[str]:
        for command, words in asked:
            if command == "revert":
                for word in words:
                    if _COMMIT.match(word):
                        yield word
                    elif word in _HEAD:
                        yield from self._head(subjects)

    def _head(self, subjects: list[str]) -> Iterator[str]:
        said = next((found[1] for each in subjects if (found := _REVERT.search(each))), "")
        if self._made:
            commit, subject = self._made[-1]
            if not said or not subject or said == subject:
                yield commit


def _made(asked: list[tuple[str, list[str]]], output: str) -> list[tuple[str, str]]:
    if not any(command in _MAKE for command, _ in asked):
        return []
    found = _MADE.findall(output)
    if not found and any(command in _TELL for command, _ in asked):
        found = [(commit, "") for commit in _TOLD.findall(output)[:1]]
    return found


def commits_and_reverts(calls: Iterable[RunCall]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the commits that calls of a shell made, and those that they reverted."""
    return Commits().of(calls)


def head_moves_asked(line: str) -> frozenset[str]:
    """Return what a command line asks git to do that makes commits or takes them off a branch."""
    if "git" not in line:
        return frozenset()
    return _MOVE_HEAD.intersection(command for command, _ in _asked(line))


def reverts_an_earlier_head(calls: Iterable[RunCall]) -> bool:
    """Return whether calls reverted HEAD before they made a commit themselves."""
    for call in calls:
        if not call.command or "git" not in call.command or call.ok is False:
            continue
        for command, words in _asked(call.command):
            if command in _MAKE:
                return command == "revert" and not _HEAD.isdisjoint(words)
    return False


def _asked(line: str) -> Iterator[tuple[str, list[str]]]:
    for step in steps_of(line):
        if step.words[:1] == ("git",):
            yield git_command(list(step.words[1:]))
