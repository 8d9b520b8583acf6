"""The turns of Codex's sessions, looked up in its recordings on this machine.

Codex's log records name the session and not the turn. Where the recording is at hand, its turn
makes them the same run as the one that is read from the recording.
"""

import re
from itertools import islice
from pathlib import Path
from typing import Final

from ..sources.codex import Codex
from ..sources.source import ReadRun

_SESSION: Final = re.compile(r"[0-9a-zA-Z-]{1,64}\Z")
# The recording's clock and the exporter's are the same one, read a moment apart.
_SLACK_S: Final = 2.0
_MOST_TURNS: Final = 10_000


def turn_of(session: str, at: float) -> str:
    """Return the turn of a session that went on at a moment; "" if there is no recording of it."""
    path = _recording(session)
    if path is None:
        return ""
    codex = Codex()
    turn = ""
    for log in codex.logs([path]):
        for read in islice(codex.read(log), _MOST_TURNS):
            if isinstance(read, ReadRun) and read.run.started_at <= at + _SLACK_S:
                turn = read.run.prompt
    return turn


def _recording(session: str) -> Path | None:
    if _SESSION.match(session) is None:
        return None
    try:
        for home in Codex().homes():
            for path in home.rglob(f"rollout-*{session}.jsonl"):
                return path
    except OSError:
        return None
    return None
