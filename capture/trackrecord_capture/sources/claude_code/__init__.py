"""Claude Code: the transcripts that it keeps, one for each session and each sub-agent."""

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from ...agents.settings_hooks import SettingsHooks
from ..declaration import CodingAgent
from ..json_lines import read_lines
from ..json_values import as_text, object_from
from ..log_files import LogFiles
from ..source import RecordedPrompt
from .calls import NAME, TOOLS
from .transcript import read_transcript

_HOME_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
_MOST_LINES: Final = 50


def _homes() -> Sequence[Path]:
    """Return the folder of transcripts in $CLAUDE_CONFIG_DIR, else those in the home folder."""
    if configured := os.environ.get(_HOME_VARIABLE):
        return (Path(configured).expanduser() / "projects",)
    home = Path.home()
    return (home / ".claude" / "projects", home / ".config" / "claude" / "projects")


def _folder_of(session: str, _at: float) -> RecordedPrompt:
    """Return the folder alone: the events name the prompt themselves."""
    path = next((path for home in _homes() for path in home.glob(f"*/{session}.jsonl")), None)
    for line in islice(read_lines(path), _MOST_LINES) if path is not None else ():
        with suppress(ValueError, RecursionError):
            record = object_from(line.text or b"")
            if folder := as_text(record.get("cwd")):
                return RecordedPrompt(folder=folder)
    return RecordedPrompt()


def _folder() -> Path:
    own = os.environ.get(_HOME_VARIABLE)
    return Path(own) if own else Path.home() / ".claude"


def _servers() -> Path:
    """Return the file in which it keeps the MCP servers of the user, and much else."""
    own = os.environ.get(_HOME_VARIABLE)
    return (Path(own) if own else Path.home()) / ".claude.json"


AGENT: Final = CodingAgent(
    label="Claude Code",
    source=LogFiles(name=NAME, pattern="*.jsonl", homes=_homes, read_log=read_transcript),
    tools=TOOLS,
    tried="2.1.332",
    # Not a plugin of a marketplace: a plugin is copied into a cache and would go on with an old
    # hook, its SessionEnd hooks are cut off after 1.5 s, and the client rewrites the settings in
    # its own layout to register one. Events that only new versions know are left out, for an old
    # version discards a settings file with one.
    hooks=SettingsHooks(
        name=NAME,
        label="Claude Code",
        program="claude",
        folder_of=_folder,
        servers_of=_servers,
        server_type="stdio",
        in_background=True,
        asking=("SessionStart", "UserPromptSubmit", "PostToolUseFailure"),
        # The tools of which it takes another output: it checks the form of its own ones, and a
        # file that is read is asked for word by word.
        replaced="Bash|mcp__.*",
        goes_on=True,
    ),
    home_variable=_HOME_VARIABLE,
    recorded_prompt=_folder_of,
)
