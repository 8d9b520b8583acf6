"""Codex: the rollouts that its command line writes, one for each thread."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from ..declaration import CodingAgent
from ..log_files import LogFiles, home_of
from ..source import ReadRun, RecordedPrompt
from .calls import TOOLS
from .installation import HOME_VARIABLE, NAME, CodexHooks
from .rollout import read_rollout

# The recording's clock and the exporter's are the same one, read a moment apart.
_SLACK_S: Final = 2.0
_MOST_TURNS: Final = 10_000


def _homes() -> Sequence[Path]:
    home = home_of(HOME_VARIABLE, ".codex")
    return (home / "sessions", home / "archived_sessions")


# Rollouts of older sessions are compressed.
_ROLLOUTS: Final = LogFiles(
    name=NAME,
    pattern="rollout-*.jsonl*",
    folders=_homes,
    read_log=read_rollout,
    is_session=lambda path: path.suffix in (".jsonl", ".zst"),
    begins_with_time=True,
)


def _turn_at(session: str, at: float) -> RecordedPrompt:
    """Return the turn that went on at a moment.

    What is told of a turn may be stamped a moment before the turn is recorded; but while a turn
    goes on, nothing is of the next one.
    """
    paths = (path for home in _homes() for path in home.rglob(f"rollout-*{session}.jsonl*"))
    path = next(paths, None)
    found = RecordedPrompt()
    ended_at = 0.0
    for log in _ROLLOUTS.logs([path] if path is not None else []):
        for read in islice(_ROLLOUTS.read(log), _MOST_TURNS):
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
    source=_ROLLOUTS,
    tools=TOOLS,
    tried="0.171.0",
    hooks=CodexHooks(),
    home_variable=HOME_VARIABLE,
    recorded_prompt=_turn_at,
)
