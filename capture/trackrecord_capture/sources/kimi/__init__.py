"""Kimi Code, and the older Kimi CLI: the log that each agent of a session keeps."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..declaration import CodingAgent
from ..log_files import by_last_change, home_of, logs_in
from ..message_logs import read_records
from ..source import Log, ReadRun, Unreadable
from .wire import TOOLS, Wire

__all__ = ["AGENT", "Kimi"]

_NAME: Final = "kimi"
_HOME_VARIABLE: Final = "KIMI_CODE_HOME"


class Kimi:
    """The sessions of Kimi; see `Source`."""

    name = _NAME
    pattern = "wire.jsonl"

    def homes(self) -> Sequence[Path]:
        """Return the folders of sessions, of Kimi Code and of the older Kimi CLI."""
        return (
            home_of(_HOME_VARIABLE, ".kimi-code") / "sessions",
            home_of("KIMI_SHARE_DIR", ".kimi") / "sessions",
        )

    def logs(self, places: Sequence[Path]) -> Iterator[Log]:
        """Find the logs in folders, or take files as they are named; the oldest first."""
        yield from by_last_change(logs_in(places, self.pattern))

    def read(self, log: Log, resume_at: int = 0) -> Iterator[ReadRun | Unreadable]:
        """Yield the runs of a log; see `Source.read`."""
        yield from read_records(log, resume_at, Wire(_NAME, log.path))


AGENT: Final = CodingAgent(
    label="Kimi",
    source=Kimi(),
    tools=TOOLS,
    tried="2.1.0 and 1.29.0",
    home_variable=_HOME_VARIABLE,
)
