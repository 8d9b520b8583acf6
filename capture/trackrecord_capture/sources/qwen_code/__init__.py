"""Qwen Code: the chats that it keeps for each project, one for each session."""

from pathlib import Path
from typing import Final

from ...agents.settings_hooks import SettingsHooks
from ..declaration import CodingAgent
from ..log_files import home_of
from ..message_logs import SessionFiles
from .chat import TOOLS, QwenChat

_NAME: Final = "qwen-code"
_HOME_VARIABLE: Final = "QWEN_HOME"


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, ".qwen")


AGENT: Final = CodingAgent(
    label="Qwen Code",
    source=SessionFiles(
        name=_NAME,
        pattern=".qwen/projects/*/chats/*.jsonl",
        folders=lambda: (_folder() / "projects",),
        reader=lambda _path: QwenChat(_NAME),
        below="chats/*.jsonl",
    ),
    tools=TOOLS,
    tried="0.24.4",
    hooks=SettingsHooks(
        name=_NAME,
        label="Qwen Code",
        program="qwen",
        folder_of=_folder,
        # Its timeouts are in milliseconds.
        unit=1000,
        # A command with a status other than 0 has not failed in its eyes.
        asking=("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"),
    ),
    home_variable=_HOME_VARIABLE,
)
