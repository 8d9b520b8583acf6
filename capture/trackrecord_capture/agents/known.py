"""The coding agents that can report, and their common interface."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from ..sources.register import known_agents
from .installed import Chosen, Installed
from .plan import Plan


class Agent(Protocol):
    """A coding agent on this machine."""

    @property
    def name(self) -> str:
        """Its name, as in `trackrecord install NAME`."""
        ...

    @property
    def label(self) -> str:
        """Its name for people."""
        ...

    def folder(self) -> Path:
        """Return where its sessions are."""
        ...

    def is_found(self) -> bool:
        """Return whether it is on this machine."""
        ...

    def install(self, home: Path, installed: Installed, chosen: Chosen) -> Plan:
        """Plan the installation; raise `DraftRefused` for a file that is left alone.

        Args:
            home: trackrecord's home.
            installed: what is installed by now.
            chosen: the parts that are wanted, where the agent can have them; of those that are
                installed and not wanted, our MCP server goes.
        """
        ...

    def uninstall(self, home: Path, installed: Installed) -> Plan:
        """Plan the removal; raise `DraftRefused` for a file that is left alone."""
        ...

    def is_installed(self, home: Path) -> bool:
        """Return whether all that is ours is in place."""
        ...

    def has_mcp(self, home: Path) -> bool:
        """Return whether our MCP server is registered."""
        ...

    def is_trusted(self, home: Path) -> bool | None:
        """Return whether the agent runs our hooks; None if it does not ask for trust."""
        ...

    def problems(self, home: Path) -> list[str]:
        """Return the problems that keep the agent from reporting, with their remedies."""
        ...


AGENTS: Mapping[str, Agent] = {
    each.name: each.hooks for each in known_agents() if each.hooks is not None
}
"""The agents that can be made to report by themselves, by name."""
