"""Qwen Code: the chats that it keeps for each project, one for each session."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ...agents.settings_hooks import SettingsHooks
from ..declaration import CodingAgent
from ..log_files import by_last_change, home_of, logs_in
from ..message_logs import read_records
from ..source import Log, ReadRun, Unreadable
from .chat import TOOLS, QwenChat

__all__ = ["AGENT", "QwenCode"]

_NAME: Final = "qwen-code"
_HOME_VARIABLE: Final = "QWEN_HOME"


class QwenCode:
    """The chats of Qwen Code; see `Source`."""

    name = _NAME
    pattern = ".qwen/projects/*/chats/*.jsonl"

    def homes(self) -> Sequence[Path]:
        """Return the folder of projects."""
        return (_folder() / "projects",)

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the chats in folders, or take files as they are named; the oldest first."""
        yield from by_last_change(logs_in(places, "chats/*.jsonl"))

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a chat; see `Source.read`."""
        yield from read_records(log, resume_at, QwenChat(_NAME))


def _folder() -> Path:
    return home_of(_HOME_VARIABLE, ".qwen")


AGENT: Final = CodingAgent(
    label="Qwen Code",
    source=QwenCode(),
    tools=TOOLS,
    tried="0.15.10",
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
