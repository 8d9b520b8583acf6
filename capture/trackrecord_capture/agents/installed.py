"""A record of installed entries in trackrecord's home, so that exactly these can be removed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from .draft import Receipt
from .replacing import replace_file
from .runtime import runtime_folder

_NAME: Final = "installed.json"


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of an installation that a person chooses.

    Attributes:
        summarises: whether oversized outputs are replaced.
        mcp: whether the MCP server is registered.
        reminds: whether a session is told, once, that nothing has checked its last edit.
    """

    summarises: bool = False
    mcp: bool = False
    reminds: bool = False


NOTHING_CHOSEN: Final = Chosen()


class Installed(Chosen, frozen=True, kw_only=True):
    """A record of what is installed for one agent.

    Attributes:
        at: when it was installed, seconds since the epoch.
        folder: the agent's own folder, where its sessions are recorded.
        files: what was done to which file.
    """

    at: float = 0.0
    folder: str = ""
    files: tuple[Receipt, ...] = ()

    def receipt(self, path: Path) -> Receipt | None:
        """Return the changes to a file; None if there were none."""
        return next((each for each in self.files if each.path == str(path)), None)

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the folders that were made for its files."""
        return tuple(dict.fromkeys(folder for each in self.files for folder in each.folders))


NOT_INSTALLED: Final = Installed()


def read_installed(home: Path) -> dict[str, Installed]:
    """Return the installed agents by name; a damaged record is an empty one."""
    try:
        data = (runtime_folder(home) / _NAME).read_bytes()
        return msgspec.json.decode(data, type=dict[str, Installed])
    except (OSError, msgspec.DecodeError):
        return {}


def installed_for(home: Path, agent: str) -> Installed:
    """Return what is on record as installed for an agent."""
    return read_installed(home).get(agent, NOT_INSTALLED)


def write_installed(home: Path, installed: Mapping[str, Installed]) -> None:
    """Record what is installed.

    Raises:
        OSError: it cannot be written.
    """
    path = runtime_folder(home) / _NAME
    if installed:
        replace_file(path, msgspec.json.format(msgspec.json.encode(installed)))
    else:
        path.unlink(missing_ok=True)
