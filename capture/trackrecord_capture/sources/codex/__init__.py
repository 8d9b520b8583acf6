"""Codex: the rollouts that its command line writes, one for each thread."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from ..declaration import CodingAgent
from ..log_files import home_of, logs_in
from ..source import Log, ReadRun, RecordedPrompt, Unreadable
from .calls import TOOLS
from .installation import HOME_VARIABLE, CodexHooks
from .rollout import read_rollout

# The recording's clock and the exporter's are the same one, read a moment apart.
_SLACK_S: Final = 2.0
_MOST_TURNS: Final = 10_000


class Codex:
    """The rollouts of Codex, archived ones included; see `Source`."""

    name = "codex"
    # It begins with its time.
    pattern = "rollout-*.jsonl*"

    def homes(self) -> Sequence[Path]:
        """Return the folders of rollouts in $CODEX_HOME, else in ~/.codex."""
        home = home_of(HOME_VARIABLE, ".codex")
        return (home / "sessions", home / "archived_sessions")

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the rollouts in folders, or take files as they are named; the oldest first."""
        found = (log for _, log in logs_in(places, self.pattern))
        # Those of older sessions are compressed.
        logs = (log for log in found if log.path.suffix in (".jsonl", ".zst"))
        yield from sorted(logs, key=lambda log: log.path.name)

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a rollout; see `Source.read`."""
        yield from read_rollout(log, resume_at)


def _turn_at(session: str, at: float) -> RecordedPrompt:
    """Return the turn that went on at a moment.

    What is told of a turn may be stamped a moment before the turn is recorded; but while a turn
    goes on, nothing is of the next one.
    """
    codex = Codex()
    paths = (path for home in codex.homes() for path in home.rglob(f"rollout-*{session}.jsonl*"))
    path = next(paths, None)
    found = RecordedPrompt()
    ended_at = 0.0
    for log in codex.logs([path] if path is not None else []):
        for read in islice(codex.read(log), _MOST_TURNS):
            if not isinstance(read, ReadRun):
                continue
            run = read.run
            is_next = ended_at <= at < run.started_at <= at + _SLACK_S
            if run.started_at <= at or is_next:
                found = RecordedPrompt(run.prompt, run.folder, run.repository)
                ended_at = run.ended_at if run.is_over else float("inf")
    return found


AGENT: Final = CodingAgent(
    label="Codex",
    source=Codex(),
    tools=TOOLS,
    tried="0.171.0",
    hooks=CodexHooks(),
    home_variable=HOME_VARIABLE,
    recorded_prompt=_turn_at,
)
