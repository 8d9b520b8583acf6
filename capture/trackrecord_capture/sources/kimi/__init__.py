"""Kimi Code, and the older Kimi CLI: the log that each agent of a session keeps."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ..declaration import CodingAgent
from ..log_files import home_of
from ..message_logs import SessionFiles
from .wire import TOOLS, Wire

_NAME: Final = "kimi"
_HOME_VARIABLE: Final = "KIMI_CODE_HOME"


def _folders() -> Sequence[Path]:
    return (
        home_of(_HOME_VARIABLE, ".kimi-code") / "sessions",
        home_of("KIMI_SHARE_DIR", ".kimi") / "sessions",
    )


AGENT: Final = CodingAgent(
    label="Kimi",
    source=SessionFiles(
        name=_NAME,
        pattern="wire.jsonl",
        folders=_folders,
        reader=lambda path: Wire(_NAME, path),
    ),
    tools=TOOLS,
    tried="2.1.0 and 1.29.0",
    home_variable=_HOME_VARIABLE,
)
