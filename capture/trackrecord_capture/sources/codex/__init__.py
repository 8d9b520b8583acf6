"""Codex: the rollouts that its command line writes, one for each thread."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..source import Log, ReadRun, Unreadable
from .rollout import read_rollout

__all__ = ["Codex"]


class Codex:
    """The rollouts of Codex, archived ones included; see `Source`."""

    name = "codex"
    tools: Mapping[str, str] = {
        "exec_command": "shell",
        "shell": "shell",
        "shell_command": "shell",
        "local_shell": "shell",
        "container.exec": "shell",
        "user_shell": "shell",
        "apply_patch": "edit",
        "read_file": "read",
        "view_image": "read",
        "grep_files": "search",
        "list_dir": "search",
        "spawn_agent": "delegate",
        "update_plan": "plan",
        "web_search": "web_search",
    }

    def homes(self) -> Sequence[Path]:
        """Return the folders of rollouts in $CODEX_HOME, else in ~/.codex."""
        home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex")
        return (home / "sessions", home / "archived_sessions")

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the rollouts in folders, or take files as they are named; the oldest first."""
        found = {log.path: log for place in places for log in _logs_in(place)}
        yield from sorted(found.values(), key=lambda log: log.path.name)

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a rollout; see `Source.read`."""
        yield from read_rollout(log, resume_at)


def _logs_in(place: Path) -> Iterator[Log]:
    # The name of a rollout begins with its time.
    paths = place.rglob("rollout-*.jsonl") if place.is_dir() else (place,)
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue
        if not stat.S_ISREG(facts.st_mode):  # a pipe would never end
            continue
        yield Log(path=path, size=facts.st_size, version=facts.st_size)
