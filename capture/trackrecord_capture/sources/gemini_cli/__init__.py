"""Gemini CLI: the chats that it keeps for each project, one for each session."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ...agents.settings_hooks import SettingsHooks
from ..declaration import CodingAgent
from ..log_files import by_last_change, home_of, logs_in
from ..message_logs import read_document, read_records
from ..source import Log, ReadRun, Unreadable
from .chat import TOOLS, GeminiChat

__all__ = ["AGENT", "GeminiCli"]

_NAME: Final = "gemini-cli"
_HOME_VARIABLE: Final = "GEMINI_CLI_HOME"
_EVENTS: Final = {
    "UserPromptSubmit": "BeforeAgent",
    "PostToolUse": "AfterTool",
    "Stop": "AfterAgent",
}


class GeminiCli:
    """The chats of Gemini CLI; see `Source`."""

    name = _NAME
    pattern = "chats/session-*.json*"

    def homes(self) -> Sequence[Path]:
        """Return the folder of chats."""
        return (_folder() / "tmp",)

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the chats in folders, or take files as they are named; the oldest first."""
        yield from by_last_change(logs_in(places, self.pattern))

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a chat; see `Source.read`. Older versions wrote one document."""
        chat = GeminiChat(_NAME, log.path)
        if log.path.suffix == ".jsonl":
            yield from read_records(log, resume_at, chat)
        else:
            yield from read_document(log, chat.fill)


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, "") / ".gemini"


AGENT: Final = CodingAgent(
    label="Gemini CLI",
    source=GeminiCli(),
    tools=TOOLS,
    tried="0.61.0",
    hooks=SettingsHooks(
        name=_NAME,
        label="Gemini CLI",
        program="gemini",
        folder_of=_folder,
        # Its timeouts are in milliseconds.
        unit=1000,
        asking=("SessionStart", "UserPromptSubmit", "PostToolUse"),
        noting=("Stop",),
        events=_EVENTS,
    ),
    home_variable=_HOME_VARIABLE,
    events=_EVENTS,
)
