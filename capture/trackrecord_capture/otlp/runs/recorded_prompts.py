"""Prompts of sessions, looked up in the agents' own recordings on this machine.

Codex's log records and opencode's spans name the session and not the prompt, and no agent's events
name the folder. Where the recording is at hand, its prompt and its folder make them the same run of
the same project as the one that is read from the recording.
"""

import re
import sqlite3
from typing import Final

from ...sources.register import agent_names, agent_of
from ...sources.source import RecordedPrompt

_SESSION: Final = re.compile(r"[0-9a-zA-Z_-]{1,64}\Z")


def recorded_prompt(agent: str, session: str, at: float) -> RecordedPrompt:
    """Return the prompt that a session was at at a moment, as far as there is a recording of it."""
    ask = agent_of(agent).recorded_prompt if agent in agent_names() else None
    if ask is None or _SESSION.match(session) is None:
        return RecordedPrompt()
    try:
        return ask(session, at)
    except (OSError, sqlite3.Error):
        return RecordedPrompt()
