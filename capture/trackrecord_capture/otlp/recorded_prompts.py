"""The prompts of Codex's and opencode's sessions, looked up in their recordings on this machine.

Codex's log records and opencode's spans name the session and not the prompt. Where the recording is
at hand, its prompt makes them the same run as the one that is read from the recording.
"""

import re
import sqlite3
from collections.abc import Callable, Mapping
from itertools import islice
from pathlib import Path
from typing import Final

from ..sources.codex import Codex
from ..sources.opencode import OpenCode
from ..sources.opencode.database import open_read_only
from ..sources.source import ReadRun

_SESSION: Final = re.compile(r"[0-9a-zA-Z_-]{1,64}\Z")
# The recording's clock and the exporter's are the same one, read a moment apart.
_SLACK_S: Final = 2.0
_MOST_TURNS: Final = 10_000
_PROMPT: Final = """
    SELECT id FROM message
    WHERE session_id = ? AND time_created <= ? AND json_extract(data, '$.role') = 'user'
    ORDER BY time_created DESC, id DESC LIMIT 1
"""


def recorded_prompt(agent: str, session: str, at: float) -> str:
    """Return the prompt that a session was at at a moment; "" if there is no recording of it."""
    ask = _ASKED.get(agent)
    if ask is None or _SESSION.match(session) is None:
        return ""
    try:
        return ask(session, at + _SLACK_S)
    except (OSError, sqlite3.Error):
        return ""


def _turn_of_codex(session: str, at: float) -> str:
    codex = Codex()
    paths = (path for home in codex.homes() for path in home.rglob(f"rollout-*{session}.jsonl"))
    path = next(paths, None)
    if path is None:
        return ""
    turn = ""
    for log in codex.logs([path]):
        for read in islice(codex.read(log), _MOST_TURNS):
            if isinstance(read, ReadRun) and read.run.started_at <= at:
                turn = read.run.prompt
    return turn


def _prompt_of_opencode(session: str, at: float) -> str:
    for path in _databases():
        with open_read_only(path) as database:
            found = database.execute(_PROMPT, (session, int(at * 1000))).fetchone()
        if found is not None:
            return str(found[0])
    return ""


def _databases() -> list[Path]:
    return [path for home in OpenCode().homes() for path in home.glob("opencode*.db")]


_ASKED: Final[Mapping[str, Callable[[str, float], str]]] = {
    "codex": _turn_of_codex,
    "opencode": _prompt_of_opencode,
}
