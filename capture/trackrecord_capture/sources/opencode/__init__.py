"""opencode: its database, and the files of older versions."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ...agents.plugin_file import PluginFile
from ..databases import database_log
from ..declaration import CodingAgent
from ..log_files import data_folder
from ..source import Log, ReadRun, RecordedPrompt, Unreadable
from .database import prompt_at, read_database
from .files import read_session, session_logs
from .runs import TOOLS

# The recording's clock and the exporter's are the same one, read a moment apart.
_SLACK_S: Final = 2.0


class OpenCode:
    """The sessions of opencode; see `Source`."""

    name = "opencode"
    # A channel of releases other than the usual one has a database of its own.
    pattern = "opencode*.db"

    def homes(self) -> Sequence[Path]:
        """Return opencode's folder in $XDG_DATA_HOME, else in ~/.local/share."""
        return (data_folder("opencode"),)

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find databases and sessions in folders, or take files as they are named."""
        found = {log.path: log for place in places for log in _logs_in(place)}
        yield from sorted(found.values(), key=lambda log: log.version)

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a log; see `Source.read`."""
        is_file = log.path.suffix == ".json"
        yield from (read_session if is_file else read_database)(log, resume_at)


def _logs_in(place: Path) -> Iterator[Log]:
    if not place.is_dir():
        yield from database_log(place)
        return
    for path in place.glob(OpenCode.pattern):
        yield from database_log(path)
    yield from session_logs(place / "storage")


def _prompt_at(session: str, at: float) -> RecordedPrompt:
    paths = [path for home in OpenCode().homes() for path in home.glob(OpenCode.pattern)]
    # A prompt that comes soon after this moment is only meant if there was none before it.
    moments = (at, at + _SLACK_S)
    found = (prompt_at(path, session, moment) for moment in moments for path in paths)
    return next((prompt for prompt in found if prompt is not None), RecordedPrompt())


def _plugins() -> Path:
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "opencode" / "plugins"


AGENT: Final = CodingAgent(
    label="opencode",
    source=OpenCode(),
    tools=TOOLS,
    tried="1.18.34",
    hooks=PluginFile(
        name=OpenCode.name,
        label="opencode",
        folder_of=lambda: data_folder("opencode"),
        plugins_of=_plugins,
    ),
    recorded_prompt=_prompt_at,
)
