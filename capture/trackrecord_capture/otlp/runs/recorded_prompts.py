"""Prompts of sessions, looked up in the agents' own recordings on this machine.

Codex's log records and opencode's spans name the session and not the prompt, and no agent's events
name the folder. Where the recording is at hand, its prompt and its folder make them the same run of
the same project as the one that is read from the recording.
"""

import re
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from ...sources.claude_code import ClaudeCode
from ...sources.claude_code.records import decode_record
from ...sources.codex import Codex
from ...sources.json_lines import read_lines
from ...sources.opencode import OpenCode
from ...sources.opencode.database import open_read_only
from ...sources.raw_json import text_of
from ...sources.source import ReadRun
from .event_runs import RecordedPrompt

_SESSION: Final = re.compile(r"[0-9a-zA-Z_-]{1,64}\Z")
# The recording's clock and the exporter's are the same one, read a moment apart.
_SLACK_S: Final = 2.0
_MOST_TURNS: Final = 10_000
_MOST_LINES: Final = 50
_PROMPT: Final = """
    SELECT message.id, session.directory
    FROM message JOIN session ON session.id = message.session_id
    WHERE session_id = ? AND message.time_created <= ? AND json_extract(data, '$.role') = 'user'
    ORDER BY message.time_created DESC, message.id DESC LIMIT 1
"""


def recorded_prompt(agent: str, session: str, at: float) -> RecordedPrompt:
    """Return the prompt that a session was at at a moment, as far as there is a recording of it."""
    ask = _ASKED.get(agent)
    if ask is None or _SESSION.match(session) is None:
        return RecordedPrompt()
    try:
        return ask(session, at + _SLACK_S)
    except (OSError, sqlite3.Error):
        return RecordedPrompt()


def _turn_of_codex(session: str, at: float) -> RecordedPrompt:
    codex = Codex()
    paths = (path for home in codex.homes() for path in home.rglob(f"rollout-*{session}.jsonl"))
    path = next(paths, None)
    found = RecordedPrompt()
    if path is None:
        return found
    for log in codex.logs([path]):
        for read in islice(codex.read(log), _MOST_TURNS):
            if isinstance(read, ReadRun) and read.run.started_at <= at:
                run = read.run
                found = RecordedPrompt(run.prompt, run.folder, run.repository)
    return found


def _prompt_of_opencode(session: str, at: float) -> RecordedPrompt:
    for path in _databases():
        with open_read_only(path) as database:
            found = database.execute(_PROMPT, (session, int(at * 1000))).fetchone()
        if found is not None:
            return RecordedPrompt(str(found[0]), str(found[1] or ""))
    return RecordedPrompt()


def _databases() -> list[Path]:
    return [path for home in OpenCode().homes() for path in home.glob("opencode*.db")]


def _folder_of_claude_code(session: str, _at: float) -> RecordedPrompt:
    """Return the folder alone: the events name the prompt themselves."""
    homes = ClaudeCode().homes()
    path = next((path for home in homes for path in home.glob(f"*/{session}.jsonl")), None)
    for line in islice(read_lines(path), _MOST_LINES) if path is not None else ():
        with suppress(ValueError, RecursionError):
            record = decode_record(line.text or b"")
            if record is not None and (folder := text_of(record.cwd)):
                return RecordedPrompt(folder=folder)
    return RecordedPrompt()


_ASKED: Final[Mapping[str, Callable[[str, float], RecordedPrompt]]] = {
    "claude-code": _folder_of_claude_code,
    "codex": _turn_of_codex,
    "opencode": _prompt_of_opencode,
}
