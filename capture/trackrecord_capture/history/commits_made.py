"""The commits that a run made, quiet ones too: by what git noted of its working tree's head.

Git writes a line whenever the head of a working tree moves, with the moment and the reason. A
commit within the time of one of the run's calls is the run's own, whatever the call printed. That
file is read directly; git itself is not started.
"""

import os
import re
import stat
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from trackrecord.settings.projects.repositories import git_folders_of

from ..agent_run import AgentRun
from ..shell.git import head_moves_asked

_MOST_BYTES: Final = 512 * 1024
_MOST_FOLDERS: Final = 64
# Git cuts seconds off: a commit may have been made up to one later than it says.
_TICK_S: Final = 1.0
_MOVE: Final = re.compile(
    rb"([0-9a-f]{40,64}) ([0-9a-f]{40,64}) [^\n]*?> (\d{1,12}) [+-]\d{4}\t([^\n]{0,200})"
)
_AMENDS: Final = "commit (amend)"
_MAKE: Final = frozenset({"commit", "cherry-pick", "revert", "merge", "am"})


class HeadMove(NamedTuple):
    """One move of a head.

    Attributes:
        before: the commit before it.
        after: the commit since.
        at: when, seconds since the epoch, cut to a whole number.
        why: git's own words: "commit: Mend it", "reset: moving to HEAD~1".
    """

    before: str
    after: str
    at: float
    why: str

    @property
    def action(self) -> str:
        """A request to git."""
        return self.why.partition(":")[0].partition(" ")[0]

    @property
    def makes(self) -> bool:
        """Return whether somebody made the commit here, and did not only move to it."""
        return self.action in _MAKE and "Fast-forward" not in self.why


class HeadMoves:
    """Reads the moves of heads, and keeps them while that can be no mistake."""

    def __init__(self) -> None:
        self._read: dict[str, tuple[float, tuple[HeadMove, ...]]] = {}

    def with_commits(self, run: AgentRun) -> AgentRun:
        """Return a run with the commits that it made and that were there when it ended."""
        if not run.folder or not any(call.command for call in run.calls):
            return run
        moves = [
            move
            for move in self._moves(run.folder, run.ended_at)
            if run.started_at - _TICK_S < move.at <= run.ended_at
        ]
        if not moves:
            return run
        made = commits_made(run, moves)
        # What the output named was amended or dropped by the run itself, or is spelt out here.
        seen = [move.after for move in moves]
        told = [
            commit
            for commit in run.commits
            if not any(each.startswith(commit.lower()) for each in seen)
        ]
        return msgspec.structs.replace(run, commits=(*told, *made))

    def _moves(self, folder: str, until: float) -> tuple[HeadMove, ...]:
        read_at, moves = self._read.get(folder, (0.0, ()))
        if read_at <= until + _TICK_S:
            read_at, moves = time.time(), tuple(head_moves(folder))
            if len(self._read) >= _MOST_FOLDERS:
                self._read.pop(next(iter(self._read)))
            self._read[folder] = (read_at, moves)
        return moves


def head_moves(folder: str) -> Iterator[HeadMove]:
    """Yield the newest moves of the head of the working tree that a folder is in, in order."""
    found = git_folders_of(folder)
    if found is None:
        return
    for told in _MOVE.finditer(_end_of(found.own / "logs" / "HEAD")):
        before, after, at, why = told.groups()
        yield HeadMove(before.decode(), after.decode(), float(at), why.decode(errors="replace"))


def commits_made(run: AgentRun, moves: Iterable[HeadMove]) -> tuple[str, ...]:
    """Return the commits that a run made and that were there when it ended, in order.

    Made are those that an output names, and those within the time of a call that asks git for one.
    If no call asks git for anything of the kind, a program that a call started may have: then each
    commit within the time of any command is the run's.
    """
    times = list(_times(run))
    if any(each.asked for each in times):
        times = [each for each in times if each.asked]
    made: list[str] = []
    for move in moves:
        is_own = any(each.fits(move) for each in times)
        if move.action == "reset" and is_own:
            _reset(made, move)
        elif move.makes and (is_own or _is_told(move, run)):
            if move.why.startswith(_AMENDS) and made and made[-1] == move.before:
                made.pop()
            made.append(move.after)
    return tuple(dict.fromkeys(made))


class _CallTime(NamedTuple):
    """A command's time, and what it asked git to do with the head."""

    start: float
    end: float
    asked: frozenset[str]

    def fits(self, move: HeadMove) -> bool:
        """Return whether a move may come from the command."""
        is_asked = not self.asked or move.action in self.asked
        return is_asked and self.start - _TICK_S < move.at <= self.end


def _times(run: AgentRun) -> Iterator[_CallTime]:
    starts = sorted(call.started_at for call in run.calls if call.started_at is not None)
    for call in run.calls:
        if not call.command or call.started_at is None:
            continue
        start = call.started_at
        place = bisect_right(starts, start)
        # Not every agent measures how long a command took, and some calls run side by side.
        next_at = starts[place] if place < len(starts) else run.ended_at
        end = max(next_at, start + (call.duration_ms or 0.0) / 1000)
        yield _CallTime(start, end, head_moves_asked(call.command))


def _is_told(move: HeadMove, run: AgentRun) -> bool:
    return any(move.after.startswith(commit.lower()) for commit in run.commits)


def _reset(made: list[str], move: HeadMove) -> None:
    """Take back what a reset within the run took back."""
    if move.after in made:
        del made[made.index(move.after) + 1 :]
    elif move.before in made:
        made.clear()


def _end_of(path: Path) -> bytes:
    """Return the end of a file; nothing of what cannot be read, or of a pipe."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return b""
    with os.fdopen(descriptor, "rb") as file:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            return b""
        file.seek(max(0, facts.st_size - _MOST_BYTES))
        return file.read(_MOST_BYTES)
