"""Claude Code: the transcripts that it keeps, one for each session and each sub-agent."""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..source import Log, ReadRun, Unreadable
from .transcript import read_transcript

__all__ = ["ClaudeCode"]


class ClaudeCode:
    """The transcripts of Claude Code, those of sub-agents included; see `Source`."""

    name = "claude-code"
    tools: Mapping[str, str] = {
        "Bash": "shell",
        "PowerShell": "shell",
        "Edit": "edit",
        "MultiEdit": "edit",
        "Update": "edit",
        "NotebookEdit": "edit",
        "Write": "write",
        "Read": "read",
        "NotebookRead": "read",
        "Grep": "search",
        "Glob": "search",
        "LS": "search",
        "Task": "delegate",
        "Agent": "delegate",
        "TodoWrite": "plan",
        "TaskCreate": "plan",
        "TaskUpdate": "plan",
        "WebFetch": "fetch",
        "WebSearch": "web_search",
    }

    def homes(self) -> Sequence[Path]:
        """Return the folder of transcripts in $CLAUDE_CONFIG_DIR, else those in the home folder."""
        configured = os.environ.get("CLAUDE_CONFIG_DIR")
        if configured:
            return (Path(configured).expanduser() / "projects",)
        home = Path.home()
        return (home / ".claude" / "projects", home / ".config" / "claude" / "projects")

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the transcripts in folders, or take files as they are named; the oldest first."""
        found = {log.path: (changed, log) for place in places for changed, log in _logs_in(place)}
        for _, log in sorted(found.values(), key=lambda each: (each[0], str(each[1].path))):
            yield log

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a transcript; see `Source.read`."""
        yield from read_transcript(log, resume_at)


def _logs_in(place: Path) -> Iterator[tuple[float, Log]]:
    paths = place.rglob("*.jsonl") if place.is_dir() else (place,)
    for path in paths:
        try:
            facts = path.stat()
        except OSError:
            continue
        if not stat.S_ISREG(facts.st_mode):  # a pipe would never end
            continue
        yield facts.st_mtime, Log(path=path, size=facts.st_size, version=facts.st_size)
