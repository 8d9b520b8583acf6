"""Gemini CLI: the chats that it keeps for each project, one for each session."""

from pathlib import Path
from typing import Final

from ...agents.settings_hooks import SettingsHooks
from ..declaration import CodingAgent
from ..log_files import home_of
from ..message_logs import SessionFiles
from .chat import TOOLS, GeminiChat

_NAME: Final = "gemini-cli"
_HOME_VARIABLE: Final = "GEMINI_CLI_HOME"
_EVENTS: Final = {
    "UserPromptSubmit": "BeforeAgent",
    "PostToolUse": "AfterTool",
    "Stop": "AfterAgent",
}


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, "") / ".gemini"


AGENT: Final = CodingAgent(
    label="Gemini CLI",
    # Older versions wrote one document.
    source=SessionFiles(
        name=_NAME,
        pattern="chats/session-*.json*",
        folders=lambda: (_folder() / "tmp",),
        reader=lambda path: GeminiChat(_NAME, path),
    ),
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
