"""opencode: its database."""

import os
from pathlib import Path
from typing import Final

from ...agents.plugin_file import PluginFile
from ..databases import Databases
from ..declaration import CodingAgent
from ..log_files import data_folder
from ..source import RecordedPrompt
from .database import prompt_at, read_database
from .runs import NAME, TOOLS

# The recording's clock and the exporter's are the same one, read a moment apart.
_SLACK_S: Final = 2.0
# A channel of releases other than the usual one has a database of its own.
_PATTERN: Final = "opencode*.db"


def _prompt_at(session: str, at: float) -> RecordedPrompt:
    paths = list(data_folder("opencode").glob(_PATTERN))
    # A prompt that comes soon after this moment is only meant if there was none before it.
    moments = (at, at + _SLACK_S)
    found = (prompt_at(path, session, moment) for moment in moments for path in paths)
    return next((prompt for prompt in found if prompt is not None), RecordedPrompt())


def _plugins() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "opencode" / "plugins"


AGENT: Final = CodingAgent(
    label="opencode",
    source=Databases(
        name=NAME,
        pattern=_PATTERN,
        homes=lambda: (data_folder("opencode"),),
        paths_in=lambda place: place.glob(_PATTERN),
        read_log=read_database,
    ),
    tools=TOOLS,
    tried="1.18.34",
    hooks=PluginFile(
        name=NAME,
        label="opencode",
        folder_of=lambda: data_folder("opencode"),
        plugins_of=_plugins,
    ),
    recorded_prompt=_prompt_at,
)
