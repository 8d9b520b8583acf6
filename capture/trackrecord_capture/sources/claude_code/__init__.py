"""Claude Code: the transcripts that it keeps, one for each session and each sub-agent."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from ...agents.settings_hooks import SettingsHooks
from ..declaration import CodingAgent, tools_of
from ..json_lines import read_lines
from ..log_files import by_last_change, logs_in
from ..raw_json import text_of
from ..source import Log, ReadRun, RecordedPrompt, Unreadable
from .records import decode_record
from .transcript import read_transcript

_NAME: Final = "claude-code"
_HOME_VARIABLE: Final = "CLAUDE_CONFIG_DIR"
_MOST_LINES: Final = 50


class ClaudeCode:
    """The transcripts of Claude Code, those of sub-agents included; see `Source`."""

    name = _NAME
    pattern = "*.jsonl"

    def homes(self) -> Sequence[Path]:
        """Return the folder of transcripts in $CLAUDE_CONFIG_DIR, else those in the home folder."""
        configured = os.environ.get(_HOME_VARIABLE)
        if configured:
            return (Path(configured).expanduser() / "projects",)
        home = Path.home()
        return (home / ".claude" / "projects", home / ".config" / "claude" / "projects")

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the transcripts in folders, or take files as they are named; the oldest first."""
        yield from by_last_change(logs_in(places, self.pattern))

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a transcript; see `Source.read`."""
        yield from read_transcript(log, resume_at)


def _folder_of(session: str, _at: float) -> RecordedPrompt:
    """Return the folder alone: the events name the prompt themselves."""
    homes = ClaudeCode().homes()
    path = next((path for home in homes for path in home.glob(f"*/{session}.jsonl")), None)
    for line in islice(read_lines(path), _MOST_LINES) if path is not None else ():
        with suppress(ValueError, RecursionError):
            record = decode_record(line.text or b"")
            if folder := text_of(record.cwd):
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
    source=ClaudeCode(),
    tools=tools_of(
        shell="Bash PowerShell",
        edit="Edit MultiEdit Update NotebookEdit",
        write="Write",
        read="Read NotebookRead",
        search="Grep Glob LS",
        delegate="Task Agent",
        plan="TodoWrite TaskCreate TaskUpdate",
        fetch="WebFetch",
        web_search="WebSearch",
    ),
    tried="2.1.332",
    # Not a plugin of a marketplace: a plugin is copied into a cache and would go on with an old
    # hook, its SessionEnd hooks are cut off after 1.5 s, and the client rewrites the settings in
    # its own layout to register one. Events that only new versions know are left out, for an old
    # version discards a settings file with one.
    hooks=SettingsHooks(
        name=_NAME,
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
